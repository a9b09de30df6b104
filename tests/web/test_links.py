"""Replay links: Alice shares, a stranger sees the same view and nothing else, a revoked link is gone."""

from __future__ import annotations

import html
import io
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.test.utils import override_script_prefix
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.logs import HideTokens
from sessions.engine.redact import BY_KEY, EVERYTHING, NOT_LOOKED_FOR
from sessions.models import ReplayLink, Session
from sessions.pages.diff.bodies import TextSpan, word_diff
from sessions.pages.diff.context import Body
from sessions.pages.links import redaction, shared_views
from sessions.pages.links.opened import Opened
from sessions.runs import replay_state, replays
from sessions.runs.removal import removal as removal_of
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png

HTMX = {"HX-Request": "true"}
KEY = "sk-ant-api03-" + "Zq7" * 20
MAIL = "mara@storefront.example"
STATE = "policy=sliding_window&window=30000"


@pytest.fixture
def session(db: None, tmp_path: Path, settings: Any) -> Session:
    """A stored session of 40 turns with secrets in its prompts, its results and its title."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    lines = Lines().prompt(f"Deploy with {KEY} and tell {MAIL}")
    for n in range(40):
        lines.turn(png(800, 600) if n == 5 else f"result {n} in /home/mara/shop: API_KEY={KEY} " + "word " * 200)
        if n % 6 == 5:
            lines.prompt(f"Again, {n}, with {KEY}")
    upload = receive(file=io.BytesIO(b"\n".join(lines.lines)), filename="alice-private-name.jsonl").upload
    ingest(upload_id=upload.pk)
    return Session.objects.get()


def share(session: Session, view: str = "replay", state: str = STATE, **form: str | list[str]) -> str:
    """Alice creates a link; the path that she sends."""
    response = Client().post(f"/s/{session.pk}/share/?view={view}&{state}", form)
    assert response.status_code == 201
    return re.search(r'value="http://testserver(/l/[^"]+)"', response.content.decode())[1]  # type: ignore[index]


def opened(path: str, **headers: str) -> str:
    response = Client().get(path, headers=headers)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_a_link_hides_the_users_name_and_explains_its_words(db: None, tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    lines = Lines().prompt("Deploy it").turn("drwxr-xr-x 3 mara staff 96 shop " + "word " * 2_000).prompt("Again")
    data = b"\n".join(lines.lines).replace(b"/home/u/proj", b"/home/mara/proj")
    ingest(upload_id=receive(file=io.BytesIO(data), filename="a.jsonl").upload.pk)
    session = Session.objects.get()
    dialog = opened(f"/s/{session.pk}/share/?view=replay&{STATE}")
    (words,) = re.findall(r'name="words"[^>]*>([^<]*)<', dialog)
    path = share(session, chosen="1", hide=sorted(BY_KEY), words=words)
    assert "drwxr-xr-x 3 [hidden] staff" in opened(f"{path}m/2/")
    page = opened(path)
    assert "<dt>compaction</dt><dd>the agent shortens its context" in page
    assert f"Counted in all {session.n_messages} messages." in opened(f"{path}removed/")


def test_the_dialog_says_what_it_shows_before_it_makes_a_link(session: Session) -> None:
    url = f"/s/{session.pk}/share/?view=replay&{STATE}"
    dialog = Client().get(url, headers=HTMX).content.decode()
    assert "<dialog" in dialog
    assert "<html" not in dialog
    assert "Nobody can reach the rest of your library" in dialog
    page = opened(url)
    assert "<html" in page
    assert 'method="post"' in page
    assert "Sliding window at 21,000 tokens: " in page
    assert not ReplayLink.objects.exists()


def test_the_preview_counts_what_is_removed_and_shows_no_secret(session: Session) -> None:
    part = opened(f"/s/{session.pk}/share/removed/", **HTMX)
    assert KEY not in part
    assert MAIL not in part
    assert "[key]" in part
    for words in ("API keys", "1</span> e-mail address <", "home folders", "1 image: size"):
        assert words in part
    assert all(kind in part for kind in NOT_LOOKED_FOR)
    removal = removal_of(session, EVERYTHING)
    found = {one.kind.name: one.n for one in removal.kinds}
    assert found == {"API keys": 46, "e-mail addresses": 1, "home folders": 39}
    assert removal.total == 46 + 1 + 39 + 1


@pytest.mark.parametrize("view", ["session", "replay", "diff"])
def test_a_stranger_sees_the_frozen_view_and_no_way_out_of_it(session: Session, view: str) -> None:
    path = share(
        session, view, STATE if view != "session" else "", title="Too early?", note="See event 0.\nIs it fine?"
    )
    page = opened(path)
    assert "<h1>Too early?</h1>" in page
    assert "See event 0." in page
    assert session.pk not in page
    assert "/s/" not in page
    assert "alice-private-name" not in page
    assert 'href="/"' not in page
    assert "/links/" not in page
    assert {"session": "pressure-figure", "replay": "saw-figure", "diff": "diff-pair"}[view] in page


@pytest.mark.parametrize("view", ["session", "replay", "diff"])
def test_no_secret_reaches_a_stranger(session: Session, view: str) -> None:
    path = share(session, view, STATE if view != "session" else "", chosen="1", hide=[*BY_KEY], allow=["move", "reply"])
    asked = ["", "view.json", "removed/"]
    if view != "session":
        asked += ["diff/", "diff/?rows=0-30", "diff/?event=1&layout=unified", "m/0/", "m/3/", "compaction/1/"]
    if view == "replay":
        asked += ["replay/", "replay/?event=1", "replay/?compact_at=20000", "compaction/2/", "chart/", "reply/"]
    for part in asked:
        for headers in ({}, HTMX):
            text = opened(path + part, **headers)
            for secret in (KEY, KEY[:30], MAIL, "/home/mara"):
                assert secret not in text, part


def test_the_same_chart_and_the_same_diff(session: Session) -> None:
    path = share(session)
    for part in ("replay", "diff"):
        mine = opened(f"/s/{session.pk}/{part}/?{STATE}")
        theirs = opened(f"{path}{part}/")
        for mark in ("diff-side", "ev-n", 'class="diff-pair', 'class="ba-row'):
            assert mine.count(mark) == theirs.count(mark)
    own = re.search(r'<template id="saw-figure">(.*?)</template>', opened(f"/s/{session.pk}/replay/?{STATE}"), re.S)
    shown = re.search(r'<template id="saw-figure">(.*?)</template>', opened(path), re.S)
    assert own
    assert shown
    numbers = re.compile(r"-?\d+\.?\d*")
    assert numbers.findall(own[1]) == numbers.findall(shown[1])


def test_another_event_is_reached_through_the_link_and_the_state_is_not(session: Session) -> None:
    path = share(session)
    first, second = opened(f"{path}replay/?event=0", **HTMX), opened(f"{path}replay/?event=1", **HTMX)
    assert "Compaction 2, before and after" in second
    assert first != second
    assert "<html" not in second
    assert re.search(rf'href="{path}diff/\?(view=[a-z]+&amp;)?event=1', second)
    steered = opened(f"{path}replay/?event=0&policy=none&window=900000", **HTMX)
    assert re.sub(r"in \d+ ms", "", steered) == re.sub(r"in \d+ ms", "", first)


def test_views_are_counted_once_a_page(session: Session) -> None:
    path = share(session)
    opened(path)
    opened(f"{path}replay/?event=1", **HTMX)
    opened(f"{path}removed/", **HTMX)
    opened(f"{path}view.json")
    Client().head(path)
    opened(path)
    assert ReplayLink.objects.get().n_views == 2


def test_headers_keep_the_address_private(session: Session) -> None:
    path = share(session)
    for asked in (path, f"{path}diff/", f"{path}view.json", "/l/never-existed/"):
        response: HttpResponse = Client().get(asked)
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["Cache-Control"] == "private, no-store"
        assert "noindex" in response["X-Robots-Tag"]
        assert "sessionid" not in response.cookies


def test_revoked_and_unknown_links_look_the_same(session: Session) -> None:
    path = share(session)
    link = ReplayLink.objects.get()
    assert Client().get(f"/links/{link.pk}/revoke/").status_code == 405
    listed = Client().post(f"/links/{link.pk}/revoke/", headers=HTMX).content.decode()
    assert "revoked" in listed
    answers = [re.sub(r"nonce[-=][^\s]+", "", Client().get(p).content.decode()) for p in (path, "/l/never-existed/")]
    assert answers[0] == answers[1]
    assert "This link was revoked, has expired or never existed" in answers[0]
    for asked in (path, f"{path}replay/", f"{path}diff/", f"{path}removed/", f"{path}view.json"):
        assert Client().get(asked).status_code == 404


def test_a_token_is_shown_once_and_not_stored(session: Session) -> None:
    path = share(session)
    token = path.split("/")[2]
    assert len(token) >= 22
    assert token not in str(list(ReplayLink.objects.values()))
    assert token not in opened(f"/s/{session.pk}/share/?view=replay")


def test_a_link_of_one_view_opens_no_other(session: Session) -> None:
    path = share(session, "session", "")
    assert Client().get(f"{path}replay/").status_code == 404
    assert Client().get(f"{path}diff/").status_code == 404


def test_only_known_views_and_short_notes(session: Session) -> None:
    assert Client().get(f"/s/{session.pk}/share/?view=admin").status_code == 404
    assert Client().get("/s/s_none/share/").status_code == 404
    response = Client().post(f"/s/{session.pk}/share/?view=replay", {"note": "x" * 2001})
    assert response.status_code == 422
    assert b"2000" in response.content
    assert not ReplayLink.objects.exists()


@pytest.mark.parametrize(
    ("address", "form", "says"),
    [
        ("policy=nonsense", {}, "nonsense"),
        (f"{STATE}&p.keep_last=-5", {}, "keep_last"),
        (STATE, {"remarks": "9999: look here"}, "There is no message 9,999"),
        (STATE, {"send": "everything"}, "everything"),
    ],
)
def test_what_is_not_there_is_not_shared(session: Session, address: str, form: dict[str, str], says: str) -> None:
    """A wrong address has a default in its place on the page; a link or a file would send that for what was meant."""
    for send in ("link", "file", "chart"):
        answer = Client().post(f"/s/{session.pk}/share/?view=replay&{address}", {"send": send} | form)
        assert answer.status_code == 422
        assert says in html.unescape(answer.content.decode())
    if not form:
        assert "The default is shared." in opened(f"/s/{session.pk}/share/?view=replay&{address}")
    body = {"view": "replay", "state": address}
    if not form:
        answer = Client().post(f"/api/sessions/{session.pk}/links", body, content_type="application/json")
        assert answer.status_code == 422
        assert says in str(answer.json()["errors"])
    assert not ReplayLink.objects.exists()


def test_making_and_revoking_need_the_form_token(session: Session) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(f"/s/{session.pk}/share/?view=replay").status_code == 403
    share(session)
    assert strict.post(f"/links/{ReplayLink.objects.get().pk}/revoke/").status_code == 403


def test_a_note_is_text(session: Session) -> None:
    response = Client().get(share(session, note="<script>alert(1)</script>"))
    assert b"<script>alert(1)" not in response.content


@given(st.integers(1, 40), st.text(alphabet="abc \n", max_size=30))
def test_a_secret_across_two_spans_of_a_word_diff_is_found(cut: int, words: str) -> None:
    spans = (TextSpan("same", f"{words} {KEY[:cut]}"), TextSpan("del", KEY[cut:]))
    body = redaction.cleaned(Body(spans, (TextSpan("ins", "short"),)))
    assert KEY not in "".join(span.text for span in body.before)
    assert "[key]" in "".join(span.text for span in body.before)


def test_a_cut_text_loses_its_last_word() -> None:
    before, after = word_diff(f"one two {KEY[:15]}", "one")
    body = redaction.cleaned(Body(before, after, left=10))
    assert "".join(span.text for span in body.before) == "one two "
    preview = "word " * 38 + KEY[:10]
    assert len(preview) == 200
    assert KEY[:10] not in redaction.cleaned(preview)


def test_what_may_hold_text_and_is_not_known_is_not_shown() -> None:
    class Row:
        text = KEY

    with pytest.raises(TypeError, match="Row may hold text"):
        redaction.cleaned({"rows": (Row(),)})


def test_a_cut_title_loses_its_last_word_in_a_link(session: Session) -> None:
    session.title = ("word " * 51)[: 255 - 11] + " " + KEY[:10]
    assert len(session.title) == 255
    assert KEY[:10] not in shared_views.about(Opened(ReplayLink(session=session, view="session"), "", {}))


def test_a_link_with_a_password_shows_nothing_without_it(session: Session) -> None:
    path = share(session, secret="correct-horse")
    stranger = Client()
    for part in ("", "replay/", "diff/", "view.json", "removed/"):
        answer = stranger.get(path + part)
        assert answer.status_code == 401, part
        # Without a referrer a browser names no origin, and the form would be refused.
        assert answer["Referrer-Policy"] == "same-origin"
        assert 'name="referrer" content="same-origin"' in answer.content.decode()
        assert "Sliding window" not in answer.content.decode()
    assert stranger.post(path, {"password": "wrong-horse"}).status_code == 403
    assert ReplayLink.objects.get().n_views == 0
    let_in = stranger.post(path, {"password": "correct-horse"})
    assert (let_in.status_code, let_in["Location"]) == (302, path)
    assert "Sliding window" in stranger.get(path).content.decode()
    assert stranger.get(f"{path}view.json").status_code == 200
    assert Client().get(path).status_code == 401


def test_five_wrong_passwords_close_it_for_that_address_alone(session: Session) -> None:
    path = share(session, secret="correct-horse")
    tries = [Client(REMOTE_ADDR="192.0.2.7").post(path, {"password": "no"}).status_code for _ in range(6)]
    assert tries == [403] * 5 + [429]
    assert Client(REMOTE_ADDR="192.0.2.7").post(path, {"password": "correct-horse"}).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.8").post(path, {"password": "correct-horse"}).status_code == 302


def test_a_new_address_lets_nobody_in_who_typed_the_password_before(session: Session) -> None:
    path = share(session, secret="correct-horse")
    stranger = Client()
    stranger.post(path, {"password": "correct-horse"})
    answer = Client().post(f"/links/{ReplayLink.objects.get().pk}/renew/", headers=HTMX)
    fresh = re.search(r'value="http://testserver(/l/[^"]+)"', answer.content.decode())
    assert fresh is not None
    assert stranger.get(path).status_code == 404
    assert stranger.get(fresh[1]).status_code == 401


def test_the_sender_chooses_what_to_hide(session: Session) -> None:
    form = {"chosen": "1", "hide": ["keys"], "words": "shop"}
    url = f"/s/{session.pk}/share/"
    preview = Client().get(f"{url}removed/", form, headers=HTMX).content.decode()
    assert "[hidden]" in preview
    assert "[home]" not in preview
    path = share(session, "diff", **form)  # type: ignore[arg-type]
    shown = opened(path)
    assert "/home/mara" in shown
    assert "/home/mara/shop" not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("127.0.0.1:8400", "Only this machine"),
        ("10.1.2.3", "your network"),
        ("ctxweb.example.org", "this server&#x27;s address"),
    ],
)
def test_the_dialog_says_who_can_open_the_link(session: Session, settings: Any, host: str, says: str) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    page = Client().get(f"/s/{session.pk}/share/?view=replay", headers={"Host": host}).content.decode()
    assert says in page.replace("server's", "server&#x27;s")
    assert ('disabled aria-describedby="share-reach"' in page) == (says == "Only this machine")
    assert ("A link for this machine alone" in page) == (says == "Only this machine")


@pytest.mark.parametrize("public", ["http://127.0.0.1:8400/", "http://localhost:8400/", "http://[::1]:8400/"])
def test_a_shared_server_without_a_network_is_not_told_to_share(session: Session, settings: Any, public: str) -> None:
    """``serve --share`` sets the address of links, which is this machine's own where it finds no network."""
    settings.PUBLIC_URL = public
    page = Client().get(f"/s/{session.pk}/share/?view=replay").content.decode()
    assert "Only this machine can open the link" in page
    assert "serve --share" not in page
    assert "set <code>CTXWEB_PUBLIC_URL</code> to that" in page


def test_links_begin_with_the_public_address(session: Session, settings: Any) -> None:
    settings.PUBLIC_URL = "https://ctxweb.example.org/"
    page = Client().post(f"/s/{session.pk}/share/?view=replay").content.decode()
    assert 'value="https://ctxweb.example.org/l/' in page


@override_script_prefix("/ctx/")
def test_a_link_opens_below_a_path_behind_the_sign_in(session: Session, settings: Any) -> None:
    settings.PUBLIC_URL, settings.FORCE_SCRIPT_NAME = "https://ctxweb.example.org/ctx/", "/ctx"
    page = Client().post(f"/s/{session.pk}/share/?view=replay", {"secret": "correct-horse"}).content.decode()
    found = re.search(r'value="https://ctxweb.example.org/ctx(/l/[^"]+)"', page)
    assert found is not None
    settings.REQUIRE_LOGIN = True
    assert Client().get("/").headers["Location"].startswith("/ctx/login/")
    assert Client().get("/login/").status_code == 200
    stranger = Client()
    assert stranger.get(found[1]).status_code == 401
    let_in = stranger.post(found[1], {"password": "correct-horse"})
    assert let_in["Location"] == f"/ctx{found[1]}"
    assert [cookie["path"] for name, cookie in let_in.cookies.items() if name.startswith("link-")] == ["/ctx/l/"]


def test_log_lines_hold_no_token() -> None:
    record = logging.LogRecord(
        "django.request", logging.WARNING, "", 0, "%s: %s", ("Not Found", "/l/abc-123/diff/"), None
    )
    assert HideTokens().filter(record)
    assert record.getMessage() == "Not Found: /l/…/diff/"


def test_a_file_holds_every_position_of_the_threshold_and_no_secret(session: Session) -> None:
    answer = Client().get(f"/s/{session.pk}/share/file/?{STATE}&title=Too+early&note=See+{KEY}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="{session.pk}-replay.html"'
    page = answer.content.decode()
    assert not re.search(r'(?:src|href)="', page.split("<script>")[0])
    for secret in (KEY, KEY[:30], MAIL, "/home/mara"):
        assert secret not in page
    data = json.loads(re.search(r'<script id="handout" type="application/json">(.*?)</script>', page)[1])  # type: ignore[index]
    values = [position["value"] for position in data["positions"]]
    assert values == sorted(set(values))
    assert 20 <= len(values) <= 64
    own = data["positions"][data["chosen"]]
    ran = replays.run(session.pk, replay_state.parse({"policy": "sliding_window", "window": "30000"}))
    assert own["compactions"] == len(ran.replay.events) == len(own["events"])
    assert own["peak"] == max(tokens or 0 for tokens in ran.replay.context_tokens)
    assert len({position["compactions"] for position in data["positions"]}) > 1


def test_a_sender_who_sets_nothing_has_a_position_in_the_file(session: Session) -> None:
    page = Client().get(f"/s/{session.pk}/share/file/?policy=claude_code").content.decode()
    data = json.loads(re.search(r'<script id="handout" type="application/json">(.*?)</script>', page)[1])  # type: ignore[index]
    own = data["positions"][data["chosen"]]
    ran = replays.run(session.pk, replay_state.parse({"policy": "claude_code"}))
    assert own["value"] is None
    assert own["threshold"] == next(gate.threshold for gate in ran.replay.gates if gate)
    thresholds = [position["threshold"] for position in data["positions"]]
    assert thresholds == sorted(thresholds)
    assert len(thresholds) > 1


def test_a_file_that_cannot_be_made_says_why(session: Session) -> None:
    answer = Client().get(f"/s/{session.pk}/share/file/?policy=nothing")
    assert answer.status_code == 400
    assert "policy" in answer.json()["errors"]
    assert Client().get("/s/s_none/share/file/").status_code == 404


def test_the_dialog_makes_the_file_instead_of_a_link(session: Session) -> None:
    form = {"send": "file", "chosen": "1", "hide": ["keys"], "title": "Look"}
    answer = Client().post(f"/s/{session.pk}/share/?view=replay&{STATE}", form, headers=HTMX)
    url = answer["HX-Redirect"]
    assert url.startswith(f"/s/{session.pk}/share/file/?")
    assert not ReplayLink.objects.exists()
    page = Client().get(url).content.decode()
    assert "<h1>Look</h1>" in page
    assert "/home/mara" in page
    assert KEY not in page
