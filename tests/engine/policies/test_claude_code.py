"""Golden values of Claude Code's ladder, what each layer does, and what a compaction keeps."""

from __future__ import annotations

from dataclasses import replace as changed_copy

import pytest
from hypothesis import given as given_
from hypothesis import strategies as st

from sessions.engine.policies._claude_ladder import percent_left
from sessions.engine.policies.claude_code import Params, ladder
from sessions.engine.policies.params import build
from sessions.engine.replays.diff import diff_event
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session, text
from tests.engine.test_policy_laws import transcripts
from tests.every import examples

VARIANTS = [
    ("claude_code", {"session_memory": "on", "keep_tokens": 2_000, "notes_first": 1_000}),
    ("claude_code", {"result_chars": 3_000, "message_chars": 9_000, "preview_chars": 500}),
    ("claude_code", {"micro": "hint", "hint_at": 12_000, "micro_saved": 500, "micro_keep": 1}),
    ("claude_code", {"reactive": "on", "auto": "off"}),
    ("claude_code_partial", {"at": 3, "turns": 1}),
    ("claude_code_partial", {"at": 3, "turns": 1, "direction": "up_to"}),
    ("anthropic_clear_tool_uses", {"trigger": 5_000, "keep": 1, "clear_tool_inputs": "on", "exclude_tools": "Bash"}),
    ("anthropic_compact", {"trigger": 50_000, "pause_after_compaction": "on"}),
    ("codex_local", {"mode": "token_budget"}),
    ("codex_remote", {"version": "v1"}),
    ("opencode_compaction", {"preserve_recent_tokens": 4_000, "max_output": 1_000}),
    ("opencode_prune", {"protect": 2_000, "minimum": 100}),
    ("goose_tool_pairs", {"cutoff": 0, "batch": 2}),
    ("cline_basic", {"when": "overflow"}),
    ("cline_classic", {"enough": 100}),
    ("roo_code", {"auto_condense": "off"}),
]


@pytest.mark.golden("claude_code")
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


@pytest.mark.golden("claude_code")
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
    assert sum("the trigger fired, but compacting would free nothing" in warning for warning in result.warnings) == 3
    assert any("breaker" in warning for warning in result.warnings)


def test_the_thrash_guard_stops_a_policy_that_leaves_its_gate_on():
    """A summary that by itself keeps the gate on: three events, then the policy stops."""
    result = replay(
        weigh(long_session(60, tokens=5_000)), "claude_code", window=60_000,
        params={"max_output": 20_000, "max_files": 0}, summarizer="stub:17500",
    )  # fmt: skip
    assert len(result.events) == 3
    assert any("thrash guard" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("window", "max_output", "given", "expected"),
    [
        (200_000, 32_000, {}, 144_000),
        (200_000, 8_192, {}, 153_446),
        (1_000_000, 64_000, {}, 784_000),
        (200_000, 32_000, {"pct_override": 50}, 90_000),
    ],
)
def test_precompute(window, max_output, given, expected):
    """Policies 4.1, golden table."""
    assert ladder(build(Params, given), window, max_output).precompute == expected


@pytest.mark.parametrize(
    ("given", "cap", "effective", "blocked"),
    [
        (500_000, 1_000_000, 480_000, 977_000),
        (50_000, 200_000, 80_000, 177_000),
        (5_000_000, 2_000_000, 980_000, 1_977_000),
        (500_000, 200_000, 180_000, 177_000),
    ],
)
def test_a_window_set_by_hand_is_clamped(given, cap, effective, blocked):
    """100,000 to 1,000,000, never above the model's; the level that refuses stays with the model's."""
    steps = ladder(build(Params, {"auto_compact_window": given}), cap, 32_000)
    assert (steps.effective, steps.blocked) == (effective, blocked)


@pytest.mark.parametrize(
    ("size", "level"),
    [(146_999, "ok"), (147_000, "warn"), (166_999, "warn"), (167_000, "compact"), (176_999, "compact"),
     (177_000, "blocked")],
)  # fmt: skip
def test_levels(size, level):
    """All ≥, in the order blocked, compact, warn."""
    result = replay(session_of(size), "claude_code", params={"max_output": 32_000}, window=200_000)
    assert result.gates[1].level == level


def test_auto_compaction_off_warns_under_the_effective_window():
    given = {"max_output": 32_000, "auto": "off"}
    levels = [
        replay(session_of(size), "claude_code", params=given, window=200_000).gates[1].level
        for size in (159_999, 160_000, 176_999, 177_000)
    ]
    assert levels == ["ok", "warn", "warn", "blocked"]
    assert replay(session_of(190_000), "claude_code", params=given, window=200_000).events == ()


@pytest.mark.parametrize(("used", "left"), [(0, 100), (83_500, 50), (166_165, 1), (166_164, 1), (167_001, 0)])
def test_percent_left(used, left):
    """max(0, round((T − used)/T·100)), T = 167,000."""
    assert percent_left(ladder(Params(), 200_000, 32_000), used) == left


def micro_session(idle, names=("Read",) * 9, tokens=1_000):
    """A tool round for each name, then a prompt after ``idle`` seconds."""
    session = Build()
    session.prompt()
    for n, name in enumerate(names):
        session.reply(100, f"c{n}", name=name)
        session.result(f"c{n}", tokens)
    reply = session.reply(100)
    session.messages[-1] = changed_copy(reply, timestamp=1_000.0)
    prompt = session.prompt()
    session.messages[-1] = changed_copy(prompt, timestamp=1_000.0 + idle)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.parametrize(("idle", "n"), [(3_599, 0), (3_600, 4), (3_601, 4)])
def test_micro_by_time(idle, n):
    """Idle ≥ 60 minutes: all but the results of the last five calls; off by default."""
    weighed = micro_session(idle)
    result = replay(weighed, "claude_code", params={"micro": "time"})
    assert [event.edited for event in result.events] == ([n] if n else [])
    assert replay(weighed, "claude_code").events == ()


def test_micro_clears_compactable_tools_alone():
    names = ("Task", "Read", "TodoWrite", "Bash", "mcp__x__y", "Grep", "Read", "Edit", "Write", "Glob")
    result = replay(micro_session(4_000, names), "claude_code", params={"micro": "time"})
    after = [item.id for item in result.events[0].after if item.edited]
    assert after == ["m4", "m8"], "seven compactable calls, the newest five stay"


def test_micro_keeps_at_least_one():
    result = replay(micro_session(4_000), "claude_code", params={"micro": "time", "micro_keep": 0})
    assert result.events[0].edited == 8


@pytest.mark.parametrize(("saved", "fires"), [(4_000, True), (4_001, False)])
def test_micro_by_hint_needs_enough(saved, fires):
    """Four results of 1,000 tokens: ≥."""
    given = {"micro": "hint", "hint_at": 1, "micro_saved": saved, "micro_keep": 5}
    result = replay(micro_session(0), "claude_code", params=given)
    assert any(event.edited >= 4 for event in result.events) is (fires and bool(result.events))
    assert bool(result.events) is fires


@pytest.mark.parametrize(("chars", "n"), [(4_000, 0), (3_999, 9)])
def test_the_budget_of_a_result(chars, n):
    """Larger than the cap: >; a preview and a note stay."""
    result = replay(micro_session(0), "claude_code", params={"result_chars": chars, "preview_chars": 400})
    assert sum(event.edited for event in result.events) == n
    if n:
        block = next(i for i in result.events[0].after if i.edited).message.blocks[0]
        assert 400 < block.n_chars < 520


def test_the_budget_of_a_message():
    """Three parallel results of 24,000 characters in all, under a cap of 16,000: the largest goes."""
    session = Build()
    session.prompt()
    session.reply(100, "a", "b", "c")
    for call, tokens in (("a", 1_000), ("b", 2_000), ("c", 3_000)):
        session.result(call, tokens)
    session.reply(100)
    result = replay(weigh(session.done()), "claude_code", params={"message_chars": 16_000})
    assert [item.id for item in result.events[0].after if item.edited] == ["m4"]


def test_session_memory_costs_no_call_and_keeps_recent_messages():
    """Notes of at most 12,000 tokens; at least 10,000 tokens (padded by 4/3) and five messages with text stay."""
    given = {"session_memory": "on", "max_files": 0}
    result = replay(weigh(long_session(300)), "claude_code", window=200_000, params=given, summarizer="stub:20000")
    event = result.events[0]
    assert event.summary_calls == 0
    assert event.after[0].tokens == 12_000
    kept = [item for item in event.after if not item.inserted]
    padded = sum(-(-4 * item.size // 3) for item in kept)
    assert 10_000 <= padded <= 12_000
    assert sum(item.message.role == "assistant" for item in kept) >= 5


def test_session_memory_falls_back_on_a_full_compaction():
    """Notes that are never written, or that leave too much: one call."""
    weighed = weigh(long_session(300))
    for given in ({"notes_first": 1_000_000}, {"keep_tokens": 1_000_000, "keep_most": 1_000_000}):
        params = {"session_memory": "on", **given}
        event = replay(weighed, "claude_code", window=200_000, params=params, summarizer="stub:2000").events[0]
        assert event.summary_calls == 1
        assert event.kept == 0


def test_rapid_refill_stops_with_an_error():
    """Full again within three requests, three times in a row: the fourth compaction is not made.

    Results of 40,000 tokens refill 100,000 on every second request.
    """
    given = {"max_files": 0, "max_output": 20_000}
    result = replay(
        weigh(long_session(40, tokens=40_000)), "claude_code", window=120_000, params=given, summarizer="stub:1000"
    )
    assert len(result.events) == 3
    assert "rapid refill" in result.attempts[-1].reason
    free = replay(
        weigh(long_session(40, tokens=40_000)), "claude_code", window=120_000, summarizer="stub:1000",
        params={**given, "rapid_refills": "none"},
    )  # fmt: skip
    assert len(free.events) > 10


def test_a_refused_request_is_compacted_where_asked():
    """The estimate (characters / 4) misses what the window does not hold: only the refusal is left."""
    session = Build(ratio=2.0)
    session.prompt()
    session.turns(60, tokens=1_500)
    session.reply()
    weighed = weigh(session.done())
    given = {"auto": "off"}
    assert replay(weighed, "claude_code", window=100_000, params=given).events == ()
    result = replay(weighed, "claude_code", window=100_000, params={**given, "reactive": "on"}, summarizer="stub:900")
    assert [layer.name for layer in result.events[0].layers] == ["reactive"]
    assert result.events[0].before_tokens > 100_000


def test_memory_files_are_not_put_back_and_skills_are():
    session = Build()
    session.prompt()
    session.reply(100, "c0", target="/p/CLAUDE.md")
    session.result("c0", 900)
    session.reply(100, "c1", target="/p/a.py")
    session.result("c1", 900)
    session.reply(100, "c2", name="Skill", target="pdf")
    session.result("c2", 10)
    session.add("user", text(9_000), meta=True)
    session.reply(170_000)
    session.prompt()
    session.reply()
    event = replay(weigh(session.done()), "claude_code", window=200_000, summarizer="stub:2000").events[0]
    assert [item.message.preview[:40] for item in event.after[1:]] == [
        "[file read before the compaction: /p/a.p", "[skill invoked before the compaction: pd",
    ]  # fmt: skip
    assert event.after[-1].tokens == 5_000


@pytest.mark.golden("claude_code_partial")
@pytest.mark.parametrize(("direction", "first_changed"), [("from", 9), ("up_to", 0)])
def test_partial_compaction(direction, first_changed):
    """From the second newest turn on, the prefix is untouched; up to it, the tail is."""
    session = Build()
    for turn in range(4):
        session.prompt()
        session.turns(1, tokens=2_000, start=turn)
        session.reply()
    session.prompt()
    session.reply()
    given = {"direction": direction, "at": 5, "turns": 2, "max_files": 0}
    (event,) = replay(
        weigh(session.done()), "claude_code_partial", params=given, summarizer="stub:300"
    ).events  # fmt: skip
    assert event.request == 6
    assert event.first_changed_message == (4 if direction == "from" else first_changed)
    kept = [item.id for item in event.after if not item.inserted]
    body = ["m0", "m1", "m2", "m3"] if direction == "from" else [f"m{n}" for n in range(4, 12)]
    assert kept == [*body, "m12"]


@examples(150)
@given_(transcript=transcripts(), window=st.integers(20_000, 120_000), variant=st.sampled_from(VARIANTS))
def test_laws_of_the_variants(transcript, window, variant):
    """The policy's laws hold with every layer on."""
    policy, given = variant
    result = replay(weigh(transcript), policy, window=window, params=given, summarizer="stub:500")
    for event in result.events:
        assert event.after_tokens < event.before_tokens
        assert all(row.pair_ok is not False for row in diff_event(event, result.weighed))


@pytest.mark.parametrize(("size", "said"), [(143_999, False), (144_000, True), (146_999, True), (147_000, False)])
def test_background_work_is_said(size, said):
    """From the precompute level up to the warning."""
    result = replay(session_of(size), "claude_code", params={"max_output": 32_000}, window=200_000)
    assert ("in the background" in result.gates[1].reason) is said
