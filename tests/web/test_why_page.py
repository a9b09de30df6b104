"""The Why page: the headline first, verdicts with their evidence, gates beside each other, the fit; its JSON."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries, Settings

from sessions import selectors
from sessions.engine.reading import jsonio
from sessions.engine.why.aftermath import aftermaths
from sessions.engine.why.document import session_why
from sessions.engine.why.headline import headline
from sessions.engine.why.overcount import triggers
from sessions.engine.why.verdicts import verdicts_of
from sessions.models import Session
from sessions.pages.ui.figures import first_clause
from sessions.pages.why import view
from sessions.pages.why.aftermath import end_of
from sessions.pages.why.context import why_view
from sessions.runs.overview import overview
from sessions.runs.replay_state import parse
from tests.engine.claude_lines import Lines, claude_session
from tests.engine.test_broken import session as broken_session
from tests.web.stored import SHOT, demo_file, store


@pytest.fixture
def compacted(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A stored session with one recorded compaction."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(claude_session(30, compact_after=20).encode(), "slow-build.jsonl")


def test_the_page_asks_for_no_figures_of_every_message_that_it_does_not_show(
    client: Client, compacted: Session
) -> None:
    page(client, compacted)
    made = vars(overview(compacted.pk))
    assert "verdicts" in made
    assert not {"kinds", "pairs", "shares"} & made.keys(), sorted(made)


def page(client: Client, session: Session, tail: str = "why/", status: int = 200) -> str:
    response = client.get(f"/s/{session.pk}/{tail}")
    html = response.content.decode()
    assert response.status_code == status, html[:500]
    assert " style=" not in html
    return html


def figure(html: str, name: str) -> Any:
    found = re.search(rf'<template id="{name}-figure">(.*?)</template>', html, re.DOTALL)
    assert found, name
    return jsonio.loads(found[1].encode())


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<template.*?</template>|<[^>]+>", "", html, flags=re.DOTALL)))


def test_the_first_thing_the_session_page_says_is_why(client: Client, compacted: Session) -> None:
    weighed = selectors.load_weighed(compacted.pk)
    said = headline(weighed, verdicts_of(weighed))
    assert "compacted before request" in said
    html = page(client, compacted, "")
    main = html.split("<main")[1]
    first, rest = first_clause(said)
    assert f"{first} {rest}".strip() in words(main)
    assert f'href="/s/{compacted.pk}/why/"' in main
    assert said in words(page(client, compacted))


def test_every_verdict_is_a_card_that_leads_to_its_request(client: Client, compacted: Session) -> None:
    found = overview(compacted.pk).verdicts
    assert found
    html = page(client, compacted)
    assert html.count('<li class="card"') == len(found)
    text = words(html)
    for verdict in found:
        reply = selectors.load_weighed(compacted.pk).transcript.requests[verdict.request].message
        assert f'href="/s/{compacted.pk}/?m={reply}#m-{reply}"' in html
        assert verdict.certainty in text
        for row in verdict.evidence:
            assert row.text in text


def test_nothing_compacted_is_said_not_left_empty(client: Client, session: Session) -> None:
    html = page(client, session)
    assert "No compaction, none missing" in html
    assert '<li class="card"' not in html


def test_every_gate_is_a_lane_and_a_row(client: Client, session: Session) -> None:
    html = page(client, session)
    assert html.count('<tr id="g-') == len(triggers())
    drawn = figure(html, "gates")
    results = {result.gate.name: result for result in overview(session.pk).gates.results}
    n_false = sum(result.count("false") for result in results.values())
    assert n_false
    marks = next(trace for trace in drawn["data"] if trace.get("name") == "false")
    assert len(marks["x"]) == n_false
    assert drawn["layout"]["template"] == "none"
    wire = re.search(r'<tr id="g-buzz_wire">.*?</tr>', html, re.DOTALL)
    assert wire
    first = results["buzz_wire"].firings[0]
    assert f"{first.measure:,}" in wire[0]
    assert f"{first.reference:,}" in wire[0]
    assert ">false</span>" in wire[0]


def test_the_demo_names_its_own_trigger_and_all_that_its_screenshot_fires(client: Client, session: Session) -> None:
    """Its agent counted every byte; without the screenshot three more triggers fire later, not never."""
    html = page(client, store(demo_file(), "demo.jsonl"))
    wire = re.search(r'<tr id="g-buzz_wire">.*?</tr>', html, re.DOTALL)
    assert wire
    assert "wrote this session" in wire[0]
    assert html.count("wrote this session") == 1
    assert f"4 of {len(triggers())} triggers would not fire at request 18" in html


def test_the_screenshot_is_the_culprit_by_deletion(client: Client, session: Session) -> None:
    """Without the message the wire-byte gate would never fire; its picture and its factor stand beside it."""
    html = page(client, session)
    blamed = html.split('<ol class="blamed">')[1].split("</ol>")[0]
    first = blamed.split("</li>")[0]
    assert f"Message {SHOT}" in first
    assert "/media/" in first
    assert "over-much" in first
    assert "Without it, never:" in first
    opening = words(html.split("why-say")[1].split("</p>")[0])
    assert re.search(
        rf"Without message {SHOT} ?, [0-9]+ of [0-9]+ triggers would not fire at request {SHOT // 2}", opening
    )
    assert "buzz-agent, bytes" in first
    culprit = overview(session.pk).gates.results[[g.name for g in triggers()].index("buzz_wire")].firings[0].culprits[0]
    assert (culprit.message, culprit.tested, culprit.without) == (SHOT, True, None)


def test_the_fit_shows_every_growth_and_the_worst_five(client: Client, session: Session) -> None:
    html = page(client, session)
    weighed = selectors.load_weighed(session.pk)
    points = session_why(weighed)["fit"]["growths"]
    drawn = figure(html, "fit")["data"][0]
    assert drawn["x"] == [point["measured"] for point in points]
    assert drawn["y"] == [point["estimated"] for point in points]
    rest = figure(html, "rest")["data"][1]
    assert rest["y"] == [point["estimated"] - point["measured"] for point in points]
    assert html.split("Missed most")[1].count('<th scope="row"><a href=') == min(5, len(points))
    assert f"{weighed.overhead:,}" in words(html)


def test_a_session_without_usage_says_that_nothing_was_fitted(client: Client, session: Session) -> None:
    bare = store(claude_session(3).replace('"usage"', '"unused"').encode(), "bare.jsonl")
    html = page(client, bare)
    assert "every figure is an estimate" in html
    assert 'id="fit"' not in html


def test_json_is_the_engines_document(client: Client, compacted: Session) -> None:
    document = client.get(f"/s/{compacted.pk}/why.json").json()
    assert document["schema"] == "ctxweb.why/1"
    expected = session_why(selectors.load_weighed(compacted.pk))
    assert document["sessions"] == jsonio.loads(jsonio.dumps([expected]).encode())


def test_an_unknown_session_is_404(client: Client, db: None) -> None:
    assert client.get("/s/s_nothing/why/").status_code == 404
    assert client.get("/s/s_nothing/why.json").status_code == 404


def test_queries_stay_the_same_for_longer_sessions(
    client: Client, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    page(client, session)
    with django_assert_max_num_queries(5):
        page(client, session)


def test_answers_are_worked_out_once(session: Session) -> None:
    held = overview(session.pk)
    assert overview(session.pk) is held
    assert why_view(session.pk, held) is why_view(session.pk, held)


def test_every_screen_of_the_session_leads_to_the_page(client: Client, session: Session) -> None:
    assert f'href="/s/{session.pk}/why/"' in page(client, session, "")
    for tail in ("why/", "replay/", "diff/"):
        assert f'<a href="/s/{session.pk}/"' in page(client, session, tail)
    assert client.get(f"/s/{session.pk}/share/?view=session").status_code == 200
    assert "share/?view=session" in page(client, session)


def test_the_library_says_which_sessions_compacted_on_a_wrong_count(
    client: Client, db: None, tmp_path: Path, settings: Settings
) -> None:
    """The provider's usage doubles at one request, falls back, and the harness compacts in between."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    lines = Lines()
    lines.prompt("Find out why the build is slow and make it fast. " * 10)
    for turn in range(24):
        doubled = turn == 20
        context = lines.context
        lines.context = 2 * context if doubled else context
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Read", "input": {"file_path": f"/a/{turn}.py"}}
        lines.reply(turn, call)
        lines.result(f"t{turn}", "value = compute(1, 2)  # some words\n" * 330)
        if doubled:
            lines.compact("The build is slow because every module is compiled twice. " * 20)
    found = store(lines.text().encode(), "double.jsonl")
    assert found.wrong_cause == "usage counted more than once"
    assert found.headline == overview(found.pk).headline
    html = client.get("/").content.decode()
    assert f'href="/s/{found.pk}/" title="{escape(found.headline)}">usage counted more than once</a>' in html


def test_an_honest_compaction_has_no_badge_in_the_library(client: Client, compacted: Session) -> None:
    assert compacted.headline
    assert compacted.wrong_cause == ""
    assert "badge-danger" not in client.get("/").content.decode()


def test_recorded_compactions_stand_beside_the_clients_own_policy(client: Client, compacted: Session) -> None:
    """One compaction is recorded: its outcome under Claude Code's policy is that of the engine's comparison."""
    from sessions.engine.why.recorded import compare

    parity = compare(selectors.load_weighed(compacted.pk), calibrate=True)
    html = page(client, compacted)
    section = html[html.index('id="h-recorded"') : html.index('id="h-fit"')]
    assert "Claude Code" in section
    one = parity.compared[0]
    assert f">{one.outcome}</span>" in section
    assert all(reason.capitalize()[:20].lower() in unescape(section).lower() for reason in one.reasons)
    assert "base=recorded" in section


def test_without_recorded_compactions_there_is_nothing_to_compare(client: Client, session: Session) -> None:
    assert 'id="h-recorded"' not in page(client, session)
    for name in ("recorded", "aftermath"):
        assert "No compaction is recorded." in page(client, session, f"why/{name}/")


def test_equal_events_are_one_row_with_its_replay(client: Client, compacted: Session) -> None:
    found = overview(compacted.pk).verdicts
    html = page(client, compacted)
    table = html[html.index('id="h-events"') : html.index('id="h-aftermath"')]
    assert table.count("Replay this") == table.count("<tr>") - 1 >= 1
    shown = words(table)
    for verdict in found:
        assert f"{verdict.request:,}" in shown
    link = re.search(r'href="([^"]+)">Replay this', table)
    assert link
    assert "base=recorded" in link[1]
    assert client.get(unescape(link[1])).status_code == 200


def test_every_trigger_leads_to_its_replay(client: Client, session: Session) -> None:
    html = page(client, session)
    table = html[html.index('aria-label="Table of triggers"') :]
    rows = re.findall(r'<tr id="g-(\w+)">.*?</tr>', table, re.DOTALL)
    links = re.findall(r'href="([^"]+)">Replay this', table)
    assert len(rows) == len(links) == len(triggers())
    for link in links:
        answer = client.get(unescape(link))
        assert answer.status_code == 200
        assert parse(dict(parse_qsl(urlsplit(unescape(link)).query))).errors == {}


def test_triggers_that_fire_stand_before_those_that_never_do(client: Client, session: Session) -> None:
    html = page(client, session)
    results = {result.gate.name: result for result in overview(session.pk).gates.results}
    names = re.findall(r'<tr id="g-(\w+)">', html)
    fires = [bool(results[name].firings or results[name].missed) for name in names]
    assert fires == sorted(fires, reverse=True)
    wire = results["buzz_wire"]
    row = re.search(r'<tr id="g-buzz_wire">.*?</tr>', html, re.DOTALL)
    assert row
    assert f"{wire.threshold - wire.firings[0].reference:,}" in row[0]


def test_what_came_after_a_compaction_stands_below_the_events(
    client: Client, compacted: Session, session: Session
) -> None:
    html = page(client, compacted)
    (one, *_) = aftermaths(selectors.load_weighed(compacted.pk))
    table = html[html.index('id="h-aftermath"') : html.index('id="h-gates"')]
    assert one.after is not None
    assert f"{one.after:,}" in table
    source, tokens = one.refilled[0]
    assert f"{source} {tokens:,}" in words(table)
    assert 'id="h-aftermath"' not in page(client, session)


@pytest.mark.parametrize("name", ["aftermath", "recorded"])
def test_a_table_of_many_compactions_shows_twenty_and_the_rest_when_asked(
    client: Client, db: None, tmp_path: Path, settings: Settings, name: str
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    lines = Lines()
    for number in range(23):
        lines.prompt(f"Go on {number}")
        lines.reply(number, {"type": "text", "text": f"Done {number}"})
        lines.compact(f"Summary {number}")
    found = store(lines.text().encode(), "often.jsonl")
    pane = re.compile(rf'<section class="pane" id="why-{name}".*?</section>', re.DOTALL)
    first, link = pane.search(page(client, found)), f"/s/{found.pk}/why/{name}/"
    assert first
    assert first[0].count('<th scope="row"') == 20
    assert "Show 3 other compactions</a>" in first[0]
    assert f'hx-get="{link}"' in first[0]
    part = client.get(link, headers={"HX-Request": "true"}).content.decode()
    whole = page(client, found, f"why/{name}/")
    for html in (part, whole):
        every = pane.search(html)
        assert every
        assert every[0].count('<th scope="row"') == 23
        assert "other compaction" not in every[0]
    assert ("<html" in part, "<html" in whole) == (False, True)


def test_rules_of_a_long_session_are_read_when_they_are_asked_for(
    client: Client, compacted: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'id="why-rules" hx-get' in page(client, compacted)
    monkeypatch.setattr(view, "BY_ITSELF", 1)
    html = page(client, compacted)
    assert 'id="why-rules"><p class="more"><a href' in html
    assert f'hx-get="/s/{compacted.pk}/why/rules/" hx-target="#why-rules"' in html


@pytest.mark.django_db
def test_rules_are_read_when_the_page_asks_for_them(client: Client, tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    found = store("\n".join(broken_session().lines).encode())
    assert f'hx-get="/s/{found.pk}/why/rules/"' in page(client, found)
    part = client.get(f"/s/{found.pk}/why/rules/", headers={"HX-Request": "true"}).content.decode()
    whole = page(client, found, "why/rules/")
    for html in (part, whole):
        assert "Never run `npm install` in this repository." in html
        assert "<code>npm install left-pad</code>" in html
        assert 'id="why-rules"' in html
    assert ("<html" in part, "<html" in whole) == (False, True)
    assert len(re.findall(r'href="/s/[^"]*">message \d+', part)) == 2


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("src/" + "a" * 44, "src/" + "a" * 44),
        ("/home/mira/code/lantern-shop/src/checkout/GiftNote.tsx", "…/code/lantern-shop/src/checkout/GiftNote.tsx"),
        ("x" * 60, "…" + "x" * 47),
        ("x" * 60 + "/", "…" + "x" * 46 + "/"),
    ],
)
def test_a_long_target_shows_its_end_from_a_folder_on(target, shown):
    assert end_of(target) == shown
