"""Golden values of Claude Code's ladder, and what a full compaction keeps."""

from __future__ import annotations

import pytest

from sessions.engine.calibrate import weigh
from sessions.engine.params import build
from sessions.engine.policies.claude_code import Params, ladder
from sessions.engine.replay import replay
from tests.engine.sessions import Build, long_session


@pytest.mark.parametrize(
    ("window", "max_output", "given", "expected"),
    [
        (200_000, 32_000, {}, (180_000, 147_000, 167_000, 177_000)),
        (200_000, 8_192, {}, (191_808, 158_808, 178_808, 188_808)),
        (1_000_000, 64_000, {}, (980_000, 947_000, 967_000, 977_000)),
        (200_000, 32_000, {"pct_override": 50}, (180_000, 70_000, 90_000, 177_000)),
        (200_000, 32_000, {"pct_override": 99}, (180_000, 147_000, 167_000, 177_000)),
        (200_000, 32_000, {"output_reserve_cap": "none"}, (168_000, 135_000, 155_000, 165_000)),
    ],
)
def test_ladder(window, max_output, given, expected):
    """Policies 4.1, golden table."""
    assert tuple(ladder(build(Params, given), window, max_output)) == expected


def session_of(context_at_last_request: int):
    """Two requests; the second is sent with exactly this context, reply of the first (100) included."""
    session = Build(overhead=10_000)
    session.prompt(1_000)
    session.reply(100, "c0")
    session.result("c0", context_at_last_request - 10_000 - 1_000 - 100)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.parametrize(("size", "fires"), [(166_999, False), (167_000, True), (167_001, True)])
def test_fires_at_the_threshold(size, fires):
    """≥: last usage 11,000 + its reply 100 + the result by characters ÷ 4."""
    result = replay(session_of(size), "claude_code", params={"max_output": 32_000}, window=200_000)
    assert [e.request for e in result.events] == ([1] if fires else [])
    assert result.gates[1].measure == size
    assert result.gates[1].level == ("compact" if fires else "warn")


def test_compaction_leaves_a_summary_and_recent_files():
    """One summary and five files of at most 5,000 tokens each; nothing else."""
    result = replay(weigh(long_session(200)), "claude_code", window=200_000, summarizer="stub:3000")
    event = result.events[0]
    assert [item.tokens for item in event.after] == [3_000, 900, 900, 900, 900, 900]
    assert event.kept == 0
    assert event.inserted == 6
    assert event.dropped == len(event.before)
    assert event.first_changed_message == 0
    assert result.context_tokens[event.request] == event.after_tokens == 10_000 + 3_000 + 5 * 900


def test_a_file_is_cut_to_its_share():
    """5,000 tokens a file."""
    result = replay(weigh(long_session(40, tokens=9_000)), "claude_code", window=200_000, summarizer="stub:3000")
    assert [item.tokens for item in result.events[0].after] == [3_000, 5_000, 5_000, 5_000, 5_000, 5_000]
    small = replay(
        weigh(long_session(40, tokens=9_000)),
        "claude_code",
        window=200_000,
        summarizer="stub:3000",
        params={"files_budget": 12_000},
    )
    assert [item.tokens for item in small.events[0].after] == [3_000, 5_000, 5_000, 2_000]


def test_the_breaker_stops_after_three_failures():
    """A stub larger than the context frees nothing: three attempts, then none."""
    result = replay(
        weigh(long_session(300)), "claude_code", window=200_000, summarizer="stub:200000", params={"max_files": 0}
    )
    assert result.events == ()
    assert sum("free nothing" in warning for warning in result.warnings) == 3
    assert any("breaker" in warning for warning in result.warnings)


def test_the_thrash_guard_stops_a_policy_that_leaves_its_gate_on():
    """A summary that by itself keeps the gate on: three events, then the policy stops."""
    result = replay(
        weigh(long_session(60, tokens=5_000)), "claude_code", window=60_000,
        params={"max_output": 20_000, "max_files": 0}, summarizer="stub:17500",
    )  # fmt: skip
    assert len(result.events) == 3
    assert any("thrash guard" in warning for warning in result.warnings)
