"""The session page, its list, its inspector and its data."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions import selectors
from sessions.engine.reading import jsonio
from sessions.engine.reports import report
from sessions.engine.transcript.types import Parsed
from sessions.models import Session
from tests.engine.claude_lines import claude_session
from tests.web.stored import SHOT, pressed, store

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

HTMX = {"HX-Request": "true"}
FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"


def page(client: Client, session: Session, tail: str = "", **headers: str) -> str:
    response = client.get(f"/s/{session.pk}/{tail}", headers=headers)
    assert response.status_code == 200, response.content[:500]
    assert " style=" not in response.content.decode()
    return response.content.decode()


def test_page_opens_with_the_worst_message(client: Client, session: Session) -> None:
    html = page(client, session)
    assert "A byte counter charges this" in html
    assert f"Message {SHOT}</h2>" in html, "the inspector shows it"


def test_chart_is_inert_json_with_roles(client: Client, session: Session) -> None:
    html = page(client, session)
    found = re.search(r'<template id="pressure-figure">(.*?)</template>', html, re.DOTALL)
    assert found
    figure = jsonio.loads(found[1].encode())
    red = next(trace for trace in figure["data"] if trace["name"] == "over-counted")
    assert red["x"] == [SHOT]
    assert red["marker"]["color"] == "@chart-over"


def test_every_message_is_a_row_with_the_engines_figures(client: Client, session: Session) -> None:
    html = page(client, session)
    weighed = selectors.load_weighed(session.pk)
    assert html.count("<tr id=") == len(weighed.transcript.messages) == 41
    row = re.search(rf'<tr id="m-{SHOT}".*?</tr>', html, re.DOTALL)
    assert row
    assert f"{weighed.tokens[SHOT]:,}" in row[0]
    assert "over-much" in row[0]


@pytest.mark.parametrize(("query", "n"), [("only=overcount", 1), ("only=large", 0), ("only=nonsense", 41)])
def test_filters(client: Client, session: Session, query: str, n: int) -> None:
    html = page(client, session, f"?{query}")
    assert html.count("<tr id=") == n
    assert ("Clear the filter" in html) == (n == 0)


def test_deep_link_opens_the_page_that_holds_the_message(
    client: Client,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sessions.pages.session.messages.PAGE", 10)
    html = page(client, session, "?m=30")
    assert '<tr id="m-30" aria-selected="true">' in html
    assert '<tr id="m-5"' not in html
    assert "Load the" in html


def test_pages_of_rows_follow_each_other_without_gap(
    client: Client,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sessions.pages.session.messages.PAGE", 10)
    seen: list[int] = []
    tail: str | None = "messages/"
    while tail is not None:
        html = page(client, session, tail, **HTMX)
        assert "<html" not in html
        seen += [int(n) for n in re.findall(r'<tr id="m-(\d+)"', html)]
        follow = re.search(r'href="/s/[^/]+/(messages/\?start=\d+)" hx-get="[^"]+" hx-target="closest tr" '
                           r'hx-swap="outerHTML" hx-trigger', html)  # fmt: skip
        tail = follow[1] if follow else None
    assert seen == list(range(41))


def test_earlier_rows_end_where_the_shown_ones_begin(
    client: Client,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sessions.pages.session.messages.PAGE", 10)
    html = page(client, session, "messages/?start=3&until=7", **HTMX)
    assert re.findall(r'<tr id="m-(\d+)"', html) == ["3", "4", "5", "6"]


def test_a_fragment_address_answers_a_plain_get_with_a_page(client: Client, session: Session) -> None:
    for tail in ("messages/", f"m/{SHOT}/"):
        assert "<html" in page(client, session, tail)
        assert "<html" not in page(client, session, tail, **HTMX)


def test_inspector_says_what_every_estimator_charges(client: Client, session: Session) -> None:
    html = page(client, session, f"m/{SHOT}/?tab=sizes", **HTMX)
    for words in (">Bytes", "Adjusted bytes", "tiktoken", "1254 × 1254", "over-hero", "/media/"):
        assert words in html


def test_inspector_says_whose_image_rule_it_is(client: Client, session: Session) -> None:
    html = page(client, session, f"m/{SHOT}/?tab=sizes", **HTMX)
    assert "<dt>Image rule</dt><dd>Claude&#x27;s: patches of 28 pixels</dd>" in html
    assert "no image rule" not in page(client, session)


@pytest.mark.parametrize(
    ("model", "words", "warns"),
    [
        ("grok-4.5", ("xAI&#x27;s of 2025: tiles", "1,792"), False),
        ("minimax-m3", ("none known for this model", "1,521"), True),
    ],
)
def test_a_model_without_an_image_rule_says_so(
    client: Client, session: Session, model: str, words: tuple[str, str], warns: bool
) -> None:
    """Nine tiles of 448 px are six and one more; without a rule, Claude's 39 x 39 patches (estimators 9.2, 18.4)."""
    other = store(pressed().replace(b"claude-sonnet-4-5-20250929", model.encode()), "other.jsonl")
    html = page(client, other, f"m/{SHOT}/?tab=sizes", **HTMX)
    assert f"<dt>Image rule</dt><dd>{words[0]}" in html
    assert re.search(rf"<dt>Tokens</dt><dd>[^/]*{words[1]}", html)
    assert (f"no image rule of {model}&#x27;s provider is known" in page(client, other)) == warns


def test_inspector_shows_text_without_running_it(client: Client, session: Session) -> None:
    html = page(client, session, "m/1/?tab=parsed", **HTMX)
    assert "<strong>Step</strong> 0" in html
    assert "<img" not in html
    assert "&lt;img src=x" in html


def test_raw_json_cuts_base64_and_the_download_does_not(client: Client, session: Session) -> None:
    html = page(client, session, f"m/{SHOT}/?tab=raw", **HTMX)
    assert "more characters" in html
    assert len(html) < 60_000
    whole = client.get(f"/s/{session.pk}/m/{SHOT}/raw.json")
    data = jsonio.loads(whole.content)["message"]["content"][0]["content"][0]["source"]["data"]
    assert len(data) > 400_000


def test_missing_upload_is_said_in_place(client: Client, session: Session, settings: Any, tmp_path: Any) -> None:
    page(client, session)
    settings.MEDIA_ROOT = tmp_path / "elsewhere"
    assert "its stored bytes are missing" in page(client, session, "m/1/?tab=parsed", **HTMX)


def test_json_is_the_engines_document(client: Client, session: Session) -> None:
    document = client.get(f"/s/{session.pk}.json").json()
    transcript = selectors.load_weighed(session.pk).transcript
    expected = report.inspect_document(Parsed(format="claude_code", transcripts=(transcript,)))
    assert document["schema"] == "ctxweb.inspect/1"
    assert document["sessions"] == jsonio.loads(jsonio.dumps(expected["sessions"]).encode())


def test_csv_has_every_message(client: Client, session: Session) -> None:
    text = b"".join(client.get(f"/s/{session.pk}/messages.csv").streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["index"]) for row in rows] == list(range(41))
    assert int(rows[SHOT]["tokens"]) == selectors.load_weighed(session.pk).tokens[SHOT]


@pytest.mark.parametrize("tail", ["?m=99999", "?m=-1", "?m=x", "?start=99999", "?tab=nothing", "?measure=nothing"])
def test_nonsense_in_the_address_is_left_out(client: Client, session: Session, tail: str) -> None:
    assert "<h1>" in page(client, session, tail)


@pytest.mark.parametrize("tail", ["/s/nobody/", "/s/nobody/m/0/", "/s/nobody.json", "/s/nobody/messages.csv"])
def test_unknown_session_is_404(client: Client, db: None, tail: str) -> None:
    assert client.get(tail).status_code == 404


def test_unknown_message_is_404(client: Client, session: Session) -> None:
    assert client.get(f"/s/{session.pk}/m/41/").status_code == 404
    assert client.get(f"/s/{session.pk}/m/41/raw.json").status_code == 404


def test_queries_do_not_grow_with_the_messages(
    client: Client,
    session: Session,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(6):
        page(client, session)
    with django_assert_max_num_queries(2):
        page(client, session, "messages/?start=10", **HTMX)


def test_what_ended_the_session_is_the_first_card_and_each_compaction_has_one(client: Client, db: None) -> None:
    """The failed compaction at its end leads; the two before it follow in their order."""
    own = store((FIXTURES / "agent_zero" / "harbour.json").read_bytes(), "harbour.json")
    html = page(client, own)
    cards = re.findall(r'<article class="cause".*?</article>', html, re.DOTALL)
    assert [re.findall(r"Compaction </span>(\d+)", card) for card in cards] == [[], ["1"], ["2"]]
    assert "request 3" in cards[0]


def test_answers_vary_by_who_asks(client: Client, session: Session) -> None:
    assert "HX-Request" in client.get(f"/s/{session.pk}/").headers["Vary"]


@pytest.mark.parametrize(
    ("name", "policy"), [("codex/rollout.jsonl", "codex_local"), ("pi/version_3_tree.jsonl", "pi")]
)
def test_replay_and_compare_open_under_the_agents_own_policy(client: Client, db: None, name: str, policy: str) -> None:
    """Another agent's threshold says nothing of what this one would have cost."""
    own = store((FIXTURES / name).read_bytes(), name.rpartition("/")[2])
    html = page(client, own)
    for tail in ("replay", "compare"):
        assert f'href="/s/{own.pk}/{tail}/?policy={policy}" data-carry-tab="?policy={policy}"' in html
    assert f'href="/s/{own.pk}/replay/?policy=none"' in page(client, own, "?policy=none"), "what was chosen goes first"


def test_settings_are_compared_over_all_subagents_at_once(client: Client, db: None) -> None:
    parent, one, two = (store(claude_session(n).encode(), f"s{n}.jsonl") for n in (5, 6, 7))
    Session.objects.filter(pk=one.pk).update(parent=parent)
    assert "over all of them" not in client.get(f"/s/{parent.pk}/").content.decode()
    Session.objects.filter(pk=two.pk).update(parent=parent)
    found = re.search(
        r'<a href="(/sweep/\?[^"]+)">Compare settings over all of them', client.get(f"/s/{parent.pk}/").content.decode()
    )
    assert found
    address = unescape(found[1])
    assert {one.pk, two.pk} == set(re.findall(r"s=(\w+)", address))
    assert client.get(address).status_code == 200
