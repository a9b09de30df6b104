"""One fact has one figure, whichever page tells it."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from sessions.engine.costs.cost_report import span
from sessions.models import Session
from sessions.runs import replays
from sessions.runs.replay_state import ReplayState
from tests.engine.claude_lines import claude_session
from tests.engine.test_codex_turns import thoughtful, turn
from tests.engine.verdict_files import Codex
from tests.web.stored import demo_file, store

SETTINGS = (20, 25)


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def told(client: Client, path: str) -> str:
    """The words of a page."""
    html = re.sub(r"(?s)<(script|style|template).*?</\1>", " ", client.get(path).content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def numbers(pattern: str, text: str) -> list[int]:
    """What the pattern's groups hold."""
    found = re.search(pattern, text)
    assert found, text
    return [int(one.replace(",", "")) for one in found.groups()]


def test_what_is_used_later_and_lost_is_one_count(client: Client, demo: Session) -> None:
    """Replay's totals, the title of Losses and the sum of its rows; a thing that two compactions lose counts twice."""
    several = False
    for at in SETTINGS:
        query = f"policy=claude_code&summarizer=extractive&p.pct_override={at}"
        losses = told(client, f"/s/{demo.pk}/quality/?{query}")
        rows = [int(n) for n in re.findall(r"compaction \d+ [\d,]+ \d+ of \d+ \d+ \d+ (\d+)", losses)]
        if not sum(rows):
            continue
        (title,) = numbers(r"Used later and lost: ([\d,]+) things?, after", losses)
        replay = told(client, f"/s/{demo.pk}/replay/?{query}")
        _, totals = numbers(r"this replay .*?tokens, \w+ ([\d,]+) ([\d,]+) [\d,]+ tokens", replay)
        assert title == sum(rows) == totals
        several |= len(rows) > 1
    assert several


def test_a_setting_has_one_cost(client: Client, demo: Session) -> None:
    """In the totals of its replay, in Compare's table and beside another in A/B: as replayed, up to fetched again."""
    state = ReplayState(policy="claude_code", params=(("pct_override", "60"),))
    cost = replays.run(demo.pk, state).totals.cost
    assert cost is not None
    shown = span(cost.low, cost.high)
    query = "policy=claude_code&p.pct_override=60"
    assert f"this replay calibrated {shown} estimated" in told(client, f"/s/{demo.pk}/replay/?{query}")
    compared = told(client, f"/s/{demo.pk}/compare/?policy=claude_code&over=pct_override&from=60&to=80&n=2")
    assert re.search(rf"60%? .{{0,80}}{re.escape(shown)}", compared)
    assert f"Cost {shown} estimated" in told(client, f"/s/{demo.pk}/compare/ab/?{query}&b.policy=claude_code")


def test_the_two_costs_as_recorded_stand_beside_each_other_on_compare(client: Client, demo: Session) -> None:
    """What was sent by the rule of every setting, and the Overview's sum of the usage: told where they differ."""
    overview = re.search(r"Cost, recorded (\$[\d.,]+)", told(client, f"/s/{demo.pk}/"))
    assert overview
    compared = told(client, f"/s/{demo.pk}/compare/?policy=claude_code&over=pct_override&from=60&to=80&n=2")
    both = re.search(
        r"are priced by the rule of every setting, (\$[\d.,]+); the usage in the file comes to (\$[\d.]+)\. ", compared
    )
    assert both
    assert both[2] == overview[1] != both[1]
    assert re.search(rf"as recorded {re.escape(both[1])}", compared)


def test_the_slider_and_compare_recommend_one_threshold(client: Client, demo: Session) -> None:
    query = "policy=claude_code&summarizer=extractive"
    mark = client.get(f"/s/{demo.pk}/replay/recommended/?{query}", headers={"HX-Request": "true"})
    (at,) = numbers(r"Recommended: ([\d,]+)", mark.content.decode())
    for way_in in (query, f"{query}&p.pct_override=80"):
        compared = told(client, f"/s/{demo.pk}/compare/?{way_in}")
        assert f"Compact at {at:,} tokens: " in compared


def test_a_session_of_no_known_agent_is_held_against_what_was_sent(client: Client, db: None) -> None:
    """A threshold that was never in force is no baseline."""
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"word {n} " * 400} for n in range(12)]
    chat = store(json.dumps({"messages": turns}).encode(), "chat.json")
    compared = told(client, f"/s/{chat.pk}/compare/?policy=claude_code").split("Compared")[0]
    assert "167,000" not in compared
    assert "No need to compact" in compared


def test_a_compaction_held_what_was_recorded(client: Client, db: None) -> None:
    """The client's count stands in the sentence, on the chart, on the card and in the transcript, not our estimate."""
    text = claude_session(60, compact_after=40)
    (said,) = re.findall(r'"preTokens": (\d+)', text)
    count = int(said) + 720
    session = store(text.replace(f'"preTokens": {said}', f'"preTokens": {count}').encode())
    overview = client.get(f"/s/{session.pk}/").content.decode()
    assert f"Auto-compacted before request 41: {count:,} tokens" in overview
    assert len(re.findall(rf"{count:,} (?:→|\\u2192) ", overview)) == 2
    assert re.search(rf"Compaction 1 {count:,} ", told(client, f"/s/{session.pk}/transcript/?m=83"))


@pytest.mark.parametrize("more", [-5_000, 720, 40_000])
def test_the_peak_of_what_was_sent_names_a_larger_recorded_size(client: Client, db: None, more: int) -> None:
    """Where a compaction came at more than any request was sent, the two figures are told apart.

    What the agent counted is no size of the context where it miscounted.
    """
    text = claude_session(60, compact_after=40)
    (said,) = re.findall(r'"preTokens": (\d+)', text)
    count = int(said) + more
    session = store(text.replace(f'"preTokens": {said}', f'"preTokens": {count}').encode())
    overview = told(client, f"/s/{session.pk}/")
    assert re.search(rf"Auto-compacted before request 41: .{{0,200}}\b{count:,} ", overview)
    (peak,) = numbers(r"Peak context ([\d,]+) tokens", overview)
    apart = f"as sent; up to {count:,} before a compaction"
    assert (peak < count) is (more > 0)
    assert (apart in overview) is (more == 720)


def test_a_session_has_one_peak_though_its_last_usage_cannot_be_right(client: Client, db: None) -> None:
    """The first line leaves that usage out, and so do the facts of the page and the library's row."""
    rollout = Codex().until(60_000)
    rollout.context += 300_000
    rollout.turn(10)
    session = store("\n".join(rollout.lines).encode(), "rollout.jsonl")
    (peak,) = numbers(r"Peak ([\d,]+) tokens", session.headline)
    assert peak == session.peak_context < 60_000
    assert not session.is_over_window
    assert re.search(rf"Peak context {peak:,}", told(client, f"/s/{session.pk}/"))
    assert "Over its window" not in told(client, "/")


def test_a_share_of_the_window_is_of_the_one_the_agent_records(client: Client, db: None) -> None:
    """Codex uses 258,400 of 272,000: first line, page and library take the smaller one."""
    rollout = turn(155_040).starts().compacted().ends()
    session = store("\n".join(rollout.lines).encode(), "rollout.jsonl")
    assert "at 60% of the window" in session.headline
    assert "60% of 258,400" in told(client, f"/s/{session.pk}/")
    assert re.search(r"Compacted once .{0,40}60%", told(client, "/"))


def test_the_command_beside_a_snippet_is_of_the_session_that_it_is_made_for(client: Client, demo: Session) -> None:
    assert "ctxweb apply path/to/demo.jsonl --policy" in told(client, f"/s/{demo.pk}/compare/?policy=claude_code")


def test_the_sizes_of_a_codex_compaction_add_up(client: Client, db: None) -> None:
    """Codex records none: the card has what the list held, and the sentence what Codex counts beside it, by name."""
    session = store("\n".join(thoughtful(None, summary="").lines).encode(), "rollout.jsonl")
    overview = told(client, f"/s/{session.pk}/")
    passed = r"about ([\d,]+) tokens, ([\d,]+) of them reasoning that the file lacks, passed"
    counted, beside = numbers(passed, overview)
    (before,) = numbers(r"([\d,]+) → 25,000", overview)
    assert before == counted - beside > 216_400
    replay = told(client, f"/s/{session.pk}/replay/?policy=codex_local&base=recorded&event=0")
    assert f" {before:,} tokens" in replay
    assert f"up to {before:,} before a compaction" in overview
