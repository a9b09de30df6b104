"""The terms of texts and queries: what finds what, whatever is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.search.terms import MOST_BYTES, read_query, snippet, terms_of, without_secrets
from tests.redaction.corpus import planted

PERSONAL = {"e-mail", "ip", "phone", "home", "host", "prompt"}

TEXT = (
    "Look at /work/app/sessions/api/routes.py:12 and get_user_name, then call getHTTPResponse(sha256sum) with "
    "--dry-run on C:\\Users\\new\\table.csv. Permission denied. 東京都の天気 Ärger"
)


@pytest.mark.parametrize(
    "query",
    [
        "routes.py", "api/routes", "sessions/api/routes.py", "/work/app/sessions/api/routes.py", "routes", "py",
        "get_user_name", "user_name", "user", "getHTTPResponse", "gethttpresponse", "httpresponse", "HTTP", "sha256",
        "dry-run", "--dry-run", "table.csv", "new\\table.csv", "Users/new", "東京", "天気", "京", "ärger", "ÄRGER",
        '"permission denied"', '"Permission denied"', "perm*", "getH*", "api/rou*", "permission routes.py", "look LOOK",
    ],
)  # fmt: skip
def test_found(query: str) -> None:
    assert read_query(query).holds(TEXT)


@pytest.mark.parametrize(
    "query", ["outes", "routes.p", "api/sessions", "name_user", '"denied permission"', "perm", "京東", "nobody look"]
)
def test_not_found(query: str) -> None:
    assert not read_query(query).holds(TEXT)


@pytest.mark.parametrize("query", ["", " ", '"', '""', "***", "- -", "()", "\0", "💥", "'", "\\"])
def test_nothing_is_asked_for(query: str) -> None:
    assert not read_query(query)


def test_line_breaks_of_quoted_strings_are_no_letters() -> None:
    assert read_query("table").holds('{"command": "cat it\\ntable"}')


def test_all_terms_of_one_message_fit_into_a_megabyte() -> None:
    assert sum(len(term.encode()) for term in terms_of(" ".join(f"w{n:x}é" for n in range(200_000)))) <= MOST_BYTES


def test_what_opens_something_is_no_term() -> None:
    """Personal details are: people look for an address, a host, a folder."""
    open_doors = [one for one in planted() if one.kind not in PERSONAL]
    assert len(open_doors) > 900
    for one in open_doors:
        assert one.secret not in without_secrets(one.text), one


def test_a_snippet_marks_the_words_and_hides_secrets() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    pieces = snippet(f"{'before ' * 50}the  needle\nstands by {token} {'after ' * 90}", read_query("needle"))
    assert [piece.text for piece in pieces if piece.is_match] == ["needle"]
    whole = "".join(piece.text for piece in pieces)
    assert "the needle stands by [token]" in whole
    assert len(whole) < 260
    assert whole.startswith("…")
    assert whole.endswith("…")


@given(st.text(max_size=200), st.text(max_size=300))
def test_any_question_has_an_answer(query: str, text: str) -> None:
    asked = read_query(query)
    asked.holds(text)
    assert isinstance(snippet(text, asked), tuple)


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,9}(?:[-_./:@][A-Za-z0-9]{1,9}){0,5}", fullmatch=True))
def test_a_name_finds_itself_and_every_run_of_its_parts(name: str) -> None:
    assert read_query(name).holds(f"see {name}, please")
    assert read_query(name.upper() if name.islower() else name).holds(f"({name})")
