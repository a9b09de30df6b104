"""The replay lab and the diff: state in the address, the engine's figures, errors in place."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from sessions import selectors
from sessions.engine.base import registry
from sessions.engine.reading import jsonio
from sessions.engine.replays.replay import replay
from sessions.engine.reports import report
from sessions.pages.diff.bodies import word_diff
from sessions.pages.diff.context import DiffView, build_diff, build_run
from sessions.pages.replay import view as replay_page
from sessions.pages.replay.context import build_replay
from sessions.pages.ui import compact_at as compact_at_module
from sessions.pages.ui.addresses import Urls
from sessions.pages.ui.chart import thousands
from sessions.pages.ui.compact_at import compact_at
from sessions.pages.ui.controls import Controls
from sessions.runs import replay_state as urlstate
from sessions.runs import replays
from tests.every import examples
from tests.web.stored import SHOT

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from sessions.models import Session

HTMX = {"HX-Request": "true"}
FIRES = "policy=sliding_window&window=20000&p.trigger=80&p.target=70"


def get(client: Client, session: Session, tail: str, status: int = 200, **headers: str) -> str:
    response = client.get(f"/s/{session.pk}/{tail}", headers=headers)
    html = response.content.decode()
    assert response.status_code == status, html[:500]
    assert " style=" not in html
    return html


@pytest.mark.parametrize("policy", ["claude_code", "anthropic_clear_tool_uses", "buzz_handoff", "none"])
def test_every_policy_has_a_page_with_its_parameters(client: Client, session: Session, policy: str) -> None:
    html = get(client, session, f"replay/?policy={policy}")
    state = urlstate.parse({"policy": policy})
    for name in state.plugin.params.__dataclass_fields__:
        assert f'name="p.{name}"' in html
    assert "Assumes the agent sends the same messages" in html


def test_names_of_tools_are_typed(client: Client, session: Session) -> None:
    """A field of words: commas or spaces, kept in the address with spaces; too long a name is said at the field."""
    html = get(client, session, "replay/?policy=anthropic_clear_tool_uses&p.exclude_tools=Read,Bash+Grep")
    assert 'name="p.exclude_tools" value="Read Bash Grep"' in html
    assert "p.exclude_tools=Read+Bash+Grep" in html
    wrong = get(client, session, f"replay/?policy=anthropic_clear_tool_uses&p.exclude_tools={'x' * 200}", status=400)
    assert "at most 100 names" in wrong


def test_what_the_recording_cost_is_worked_out_once(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same wherever a slider stands."""
    made: list[object] = []
    counted = replays.cost_document
    monkeypatch.setattr(replays, "cost_document", lambda *a, **k: made.append(1) or counted(*a, **k))
    replays.RECORDING.forget()
    for window in (20_000, 30_000):
        get(client, session, f"replay/?policy=none&window={window}", **HTMX)
    assert len(made) == 1


def test_results_alone_for_htmx_with_the_command_beside(client: Client, session: Session) -> None:
    html = get(client, session, f"replay/?{FIRES}&was=sliding_window", **HTMX)
    assert "<html" not in html
    assert 'id="cli-line" hx-swap-oob' in html
    assert "--window 20000 --set trigger=80 --set target=70" in html
    assert '<form class="controls stays"' not in html, "the form stays while it is used"


def test_another_policy_brings_its_form_and_forgets_the_old_parameters(client: Client, session: Session) -> None:
    html = get(client, session, "replay/?policy=claude_code&was=sliding_window&p.trigger=70", **HTMX)
    assert '<form class="controls stays"' in html
    assert "no parameter" not in html


def test_page_shows_the_engines_replay(client: Client, session: Session) -> None:
    weighed = selectors.load_weighed(session.pk)
    expected = replay(weighed, "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    assert expected.events
    html = get(client, session, f"replay/?{FIRES}")
    assert html.count("data-event=") == len(expected.events)
    assert f"{expected.events[0].before_tokens:,}" in html
    found = re.search(r'<template id="saw-figure">(.*?)</template>', html, re.DOTALL)
    assert found
    figure = jsonio.loads(found[1].encode())
    mine = next(trace for trace in figure["data"] if trace["name"] == "this replay")
    assert mine["y"][-1] == expected.context_tokens[-1]


def test_json_is_the_engines_replay(client: Client, session: Session) -> None:
    weighed = selectors.load_weighed(session.pk)
    expected = replay(weighed, "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    document = client.get(f"/s/{session.pk}/replay.json?{FIRES}").json()
    assert document == jsonio.loads(jsonio.dumps(report.replay_document(expected)).encode())


def test_json_is_the_engines_diff(client: Client, session: Session) -> None:
    weighed = selectors.load_weighed(session.pk)
    expected = replay(weighed, "sliding_window", params={"trigger": "80", "target": "70"}, window=20_000)
    document = client.get(f"/s/{session.pk}/diff.json?{FIRES}&event=0").json()
    assert document == jsonio.loads(jsonio.dumps(report.diff_document(expected, 0)).encode())


@pytest.mark.parametrize("query", [
    "policy=nobody", "base=x", "estimator=x", "summarizer=x", "summarizer=stub:x", "window=abc", "window=1",
    "policy=sliding_window&p.trigger=999", "policy=sliding_window&p.nothing=1", "policy=sliding_window&p.trigger=x",
    "event=-1", "request=x", "rows=9-1", "gate=maybe", "policy=sliding_window&p.trigger=nan",
])  # fmt: skip
@pytest.mark.parametrize("page", ["replay", "diff"])
def test_a_wrong_address_says_so_in_place(client: Client, session: Session, page: str, query: str) -> None:
    html = get(client, session, f"{page}/?{query}", status=400)
    assert "The default is used." in html
    if not query.startswith("rows"):
        assert client.get(f"/s/{session.pk}/{page}.json?{query}").status_code == 400


def test_wrong_parameter_stands_at_its_field(client: Client, session: Session) -> None:
    html = get(client, session, "replay/?policy=sliding_window&p.trigger=999", status=400)
    assert re.search(r'name="p\.trigger"[^>]*aria-invalid="true"', html)


def test_event_that_does_not_exist(client: Client, session: Session) -> None:
    assert "There is no compaction 1,000" in get(client, session, f"diff/?{FIRES}&event=999")
    assert client.get(f"/s/{session.pk}/diff.json?{FIRES}&event=999").status_code == 400


def test_no_event_says_how_far_the_gate_was(client: Client, session: Session) -> None:
    assert "The trigger never fires: at most" in get(client, session, "replay/?policy=claude_code")
    assert "The trigger never fires: at most" in get(client, session, "diff/?policy=claude_code")


def test_a_gate_that_fires_in_vain_is_not_called_quiet(client: Client, session: Session) -> None:
    html = get(client, session, "replay/?policy=sliding_window&window=20000&p.trigger=50&p.target=100")
    assert "but nothing can be dropped" in html


def test_byte_gate_fires_because_of_the_screenshot_and_pressure_bytes_do_not(
    client: Client,
    session: Session,
) -> None:
    false = get(client, session, "replay/?policy=buzz_handoff&p.measure=wire_bytes&summarizer=stub:10")
    assert "data-event=" in false
    assert "What the trigger counts with Bytes" in false.replace("\\u0027", "'"), "its lane shows itself"
    assert "data-event=" not in get(client, session, "replay/?policy=buzz_handoff&summarizer=stub:10")


def test_diff_folds_runs_and_shows_the_screenshot_by_itself(session: Session) -> None:
    state = urlstate.parse({"policy": "claude_code", "p.pct_override": "8", "summarizer": "extractive"})
    view = build_diff(session, state)
    assert isinstance(view, DiffView)
    rows = sum(shown.line.count for shown in view.lines)
    assert rows == view.n_before + next(n for op, _, n in view.counts if op == "inserted")
    assert any(shown.line.folded for shown in view.lines)
    if view.n_before > SHOT:
        shot = next(shown for shown in view.lines if shown.line.message == SHOT)
        assert not shot.line.folded
    summary = next(shown for shown in view.lines if shown.line.op == "inserted")
    assert summary.body
    assert "## Primary Request and Intent" in summary.body.after[0].text


def test_folded_run_opens_with_its_rows(client: Client, session: Session) -> None:
    state = urlstate.parse(dict(pair.split("=") for pair in FIRES.split("&")))
    view = build_diff(session, state)
    assert isinstance(view, DiffView)
    run = next(shown for shown in view.lines if shown.line.folded)
    html = get(client, session, f"diff/?{urlsplit(run.open_href).query}", **HTMX)
    assert "<html" not in html
    assert html.count('class="diff-pair"') == run.line.count
    assert "<html" in get(client, session, f"diff/?{urlsplit(run.open_href).query}")


def test_sums_of_a_run_are_those_of_its_rows(session: Session) -> None:
    state = urlstate.parse(dict(pair.split("=") for pair in FIRES.split("&")))
    view = build_diff(session, state)
    assert isinstance(view, DiffView)
    for shown in view.lines:
        if shown.line.folded:
            opened = urlstate.parse({k: v[0] for k, v in parse_qs(urlsplit(shown.open_href).query).items()})
            rows = build_run(session, opened)
            assert sum(row.line.tokens_before for row in rows) == shown.line.tokens_before
            assert sum(row.line.wire_after for row in rows) == shown.line.wire_after


def test_a_link_leads_nowhere_else(session: Session) -> None:
    state = urlstate.parse(dict(pair.split("=") for pair in FIRES.split("&")))
    urls = Urls("/l/token/replay/", "/l/token/diff/", frozen=True)
    view = build_replay(session, state, urls)
    diff = build_diff(session, state, urls)
    assert isinstance(diff, DiffView)
    assert view.chosen is not None
    hrefs = [event.href for event in view.events] + [view.chosen.diff_href]
    hrefs += [shown.open_href for shown in diff.lines if shown.open_href] + [tab.href for tab in diff.events]
    assert all(href.startswith("/l/token/") and "policy" not in href for href in hrefs)
    assert all(not shown.message_href for shown in diff.lines)
    shown = render_to_string("sessions/replay/_view.html", {"replay": view})
    assert 'id="saw-data"' in shown
    assert 'id="threshold-box"' not in shown, "nothing to drag"


def test_a_choice_of_estimators_is_in_peoples_words(client: Client, session: Session) -> None:
    html = get(client, session, "replay/?policy=buzz_handoff&p.measure=wire_bytes")
    words = re.findall(r'name="p\.measure" value="(\w+)"[^>]*>([^<]*)</label>', html)
    assert words == [("pressure_bytes", "Adjusted bytes"), ("wire_bytes", "Bytes")]
    assert "default: Adjusted bytes" in html


def test_queries_are_few(
    client: Client,
    session: Session,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(6):
        get(client, session, f"replay/?{FIRES}")
    with django_assert_max_num_queries(4):
        get(client, session, f"diff/?{FIRES}")


@given(
    st.sampled_from(["claude_code", "sliding_window", "buzz_handoff"]),
    st.sampled_from(["full", "recorded"]),
    st.one_of(st.none(), st.integers(1_000, 1_000_000)),
    st.sampled_from(["recorded", "stub:500", "extractive"]),
    st.one_of(st.none(), st.integers(0, 99)),
)
@examples(60)
def test_address_and_state_agree(
    policy: str, base: str, window: int | None, summarizer: str, event: int | None
) -> None:
    state = urlstate.ReplayState(policy=policy, base=base, window=window, summarizer=summarizer, event=event)
    read = urlstate.parse({key: values[0] for key, values in parse_qs(urlstate.query(state)).items()})
    assert read == state
    assert not read.errors


def test_shortest_address(session: Session) -> None:
    """It names its policy always: an address without one is the session's own agent's."""
    assert urlstate.query(urlstate.parse({})) == "policy=claude_code"
    own = selectors.load_weighed(session.pk)
    assert urlstate.query(urlstate.parse({"window": "200,000"}, own)) == "policy=claude_code"
    assert urlstate.query(urlstate.parse({"policy": "sliding_window", "p.trigger": "70%"})) == "policy=sliding_window"


@given(st.text(max_size=300), st.text(max_size=300))
@examples(80)
def test_words_of_a_diff_are_the_texts(before: str, after: str) -> None:
    left, right = word_diff(before, after)
    assert "".join(span.text for span in left) == before
    assert "".join(span.text for span in right) == after
    assert "".join(s.text for s in left if s.op == "same") == "".join(s.text for s in right if s.op == "same")


def test_word_diff_marks_what_changed() -> None:
    left, right = word_diff("rounds half up (388 ms)", "rounds half down (388 ms)")
    assert [span.text for span in left if span.op == "del"] == ["up"]
    assert [span.text for span in right if span.op == "ins"] == ["down"]


def test_very_long_texts_are_compared_by_lines() -> None:
    left, _ = word_diff("a b c\n" * 5_000, "a b d\n" * 5_000)
    assert left


def test_settings_wait_behind_a_fold_unless_they_differ(client: Client, session: Session) -> None:
    """Claude Code's pipeline has some forty parameters: a few are in sight, and none that was changed is hidden."""
    plain = get(client, session, "replay/?policy=claude_code")
    fold = plain.index("more-settings")
    assert plain.index('name="p.skill_tokens"') > fold
    assert plain.index('id="compact-now"') < plain.index('name="policy"') < plain.index('name="window"') < fold
    said = re.search(r"All settings \((\d+)\)", plain)
    assert said is not None
    waiting = plain[fold : plain.index("</form>", fold)]
    assert int(said[1]) == len(set(re.findall(r'name="(p\.\w+|estimator|summarizer|base|fail)"', waiting)))
    assert waiting.count('<p class="field-hint">') == int(said[1]), "a sentence for each"
    in_sight = plain[plain.index("<form") : fold]
    visible = re.findall(r'name="(p\.\w+|policy|window)"', in_sight)
    assert visible == ["p.pct_override", "policy", "p.max_files", "window"], "four questions"
    changed = get(client, session, "replay/?policy=claude_code&p.skill_tokens=100")
    assert changed.index("Changed settings") < changed.index('name="p.skill_tokens"') < changed.index("more-settings")
    assert changed.count('name="p.skill_tokens"') == 1


def test_policies_are_listed_by_use_and_by_whose_they_are(client: Client, session: Session) -> None:
    """First those of the session's agent, then six common ones; each stands once and says in a line what it does."""
    page = get(client, session, "replay/")
    chosen = page[page.index('id="f-policy"') :].partition("</select>")[0]
    groups = re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', chosen, re.DOTALL)
    assert [name for name, _ in groups[:2]] == ["Used by this session", "Common"]
    assert 'value="claude_code"' in groups[0][1]
    assert groups[1][1].count("<option") == 6
    values = re.findall(r'<option value="(\w+)" title="[^"]{10,}"', chosen)
    assert sorted(values) == sorted(registry.plugins("policies"))


@pytest.mark.parametrize(
    ("query", "threshold", "unit"),
    [
        ("", 167_000, "tokens"), ("p.pct_override=50", 90_000, "tokens"), ("policy=none", None, ""),
        ("policy=parametric&p.share=40", 80_000, "tokens"), ("policy=openhands_recent", 100, "events"),
        ("window=1000000", 967_000, "tokens"),
    ],
)  # fmt: skip
def test_compact_at_is_the_threshold(session: Session, query: str, threshold: int | None, unit: str) -> None:
    weighed = selectors.load_weighed(session.pk)
    slider = compact_at(weighed, urlstate.parse(QueryDict(query).dict(), weighed))
    assert (slider.threshold, slider.unit) == (threshold, unit)
    if slider.param:
        assert slider.low <= (slider.threshold or 0) <= slider.high
        assert slider.step >= 1


@pytest.mark.parametrize(
    ("asked", "param", "threshold", "unit"),
    [
        ({"reserve": "20000"}, "reserve", 44_000, "tokens"), ({"tokens": "50000"}, "tokens", 50_000, "tokens"),
        ({"tokens": "90000"}, "tokens", 90_000, "tokens"), ({"messages": "6"}, "messages", 6, "messages"),
        ({}, "share", 51_200, "tokens"),
    ],
)  # fmt: skip
def test_the_slider_moves_the_trigger_that_is_set(
    session: Session, asked: dict[str, str], param: str, threshold: int, unit: str
) -> None:
    """Where the share is off, in steps that the window or the session has: not in hundredths of 10,000,000."""
    weighed = selectors.load_weighed(session.pk)
    query = {f"p.{name}": value for name, value in asked.items()} | ({"p.share": "none"} if asked else {})
    at = compact_at(weighed, urlstate.parse({"policy": "parametric", "window": "64000", **query}))
    assert (at.param, at.threshold, at.unit) == (param, threshold, unit)
    inside = {value for _, value in json.loads(at.table) if at.low <= value <= at.high}
    assert len(inside) >= min(50, at.high - at.low)
    assert at.low <= threshold <= at.high


def test_how_much_is_kept_goes_as_far_as_the_session(session: Session) -> None:
    weighed = selectors.load_weighed(session.pk)

    def track(**asked: str) -> float:
        query = {f"p.{name}": value for name, value in asked.items()}
        keep = Controls(weighed, urlstate.parse({"policy": "parametric", "window": "64000", **query})).keep
        assert keep is not None
        return keep.high

    n = len(weighed.transcript.messages)
    assert track() == max(n, 10)
    assert track(keep_last=str(n + 50)) == n + 50
    assert track(keep_unit="tokens") == 64_000


def test_the_ends_of_the_slider_move_with_the_window(client: Client, session: Session) -> None:
    """Range, mark and the window that is the session's own: a move of the form brings them, as a page does."""
    weighed = selectors.load_weighed(session.pk)
    for window in (weighed.window, 128_000, 60_000):
        at = compact_at(weighed, urlstate.parse({"policy": "parametric", "window": str(window)}))
        assert (at.high, at.mark) == (window, round(0.8 * window))
        moved = get(client, session, f"replay/?policy=parametric&window={window}&was=parametric&along=x", **HTMX)
        page = get(client, session, f"replay/?policy=parametric&window={window}")
        assert '<div class="compact-range" id="compact-range" hx-swap-oob="true"' in moved
        for html in (moved, page):
            assert f'data-low="{at.low}" data-high="{at.high}" data-step="{at.step}"' in html
            assert f"<span>{window:,}</span></p>" in html
            assert f"Default: {at.mark:,}" in html
            assert f'd="M{at.mark_place} 0v5"' in html


def test_a_move_of_the_slider_builds_what_it_shows(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the form nor the slider's range, both of which stay; another setting brings the range."""
    page = get(client, session, "replay/?policy=claude_code&p.skill_tokens=100")
    along = re.search(r'name="along" value="([^"]*)"', page)
    assert along is not None
    assert along[1] == "policy=claude_code&amp;p.skill_tokens=100"
    here = {"policy": "claude_code", "was": "claude_code", "along": unescape(along[1]), "p.skill_tokens": "100"}
    asked: list[object] = []
    table = compact_at_module.threshold_table
    monkeypatch.setattr(compact_at_module, "threshold_table", lambda *given: asked.append(given) or table(*given))
    monkeypatch.setattr(replay_page, "Controls", lambda *given: pytest.fail("a form that nobody sees"))
    moved = get(client, session, f"replay/?{urlencode(here | {'p.pct_override': '50'})}", **HTMX)
    assert not asked
    assert 'data-threshold="90000"' in moved
    assert "compact-range" not in moved
    other = get(client, session, f"replay/?{urlencode(here | {'p.skill_tokens': '200'})}", **HTMX)
    assert len(asked) == 1
    assert 'name="along" value="policy=claude_code&amp;p.skill_tokens=200"' in other


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (500, "500"), (5_000, "5K"), (12_500, "12.5K"), (128_000, "128K"), (838_060, "838K"), (999_700, "1M"),
     (1_047_576, "1.05M"), (1_250_000, "1.25M"), (3_118_884, "3.12M")],
)  # fmt: skip
def test_a_short_figure_has_at_most_three_digits(value: int, words: str) -> None:
    assert thousands(value) == words
