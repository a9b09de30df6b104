"""The parametric policy and its presets: golden thresholdsand what stays."""

from __future__ import annotations

import pytest

from sessions.engine.base import registry
from sessions.engine.costs.cost import totals
from sessions.engine.policies import aider, copilot, crush
from sessions.engine.policies.parametric import preset
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image, long_session, text

STUB = {"summarizer": "stub:500"}


def threshold(policy, window, **params):
    """What the gate compares with on this window."""
    weighed = weigh(long_session(3))
    return replay(weighed, policy, window=window, params=params).gates[-1].threshold


@pytest.mark.golden("kimi")
@pytest.mark.parametrize(
    ("window", "expected"), [(128_000, 78_000), (200_000, 150_000), (262_144, 212_144), (1_000_000, 850_000)]
)
def test_kimi_fires_at_the_first_of_its_two_thresholds(window, expected):
    build = Build(overhead=0)
    build.prompt(expected - 101 - 1)
    build.reply(1)
    build.prompt(100)
    build.reply(1)
    build.prompt(1)
    build.reply(1)
    made = replay(weigh(build.done()), "kimi", window=window, **STUB)
    at = [gate.measure for gate in made.gates]
    assert [gate.fires for gate in made.gates] == [measure >= expected for measure in at]
    assert {g.threshold for g in made.gates if g.fires} == {expected}


def test_kimi_keeps_the_last_two_messages():
    """Two from the end are a call and its result."""
    event = replay(weigh(long_session(200)), "kimi", window=200_000, **STUB).events[0]
    assert event.n_after in {3, 4}
    assert event.inserted == 1


@pytest.mark.golden("crush")
@pytest.mark.parametrize(("window", "expected"), [(200_000, 160_000), (200_001, 180_001), (1_000_000, 980_000)])
def test_crush_by_what_remains(window, expected):
    assert crush.threshold(crush.Params(), window) == expected
    assert threshold("crush", window) == expected


def test_crush_restarts_at_the_summary():
    assert replay(weigh(long_session(200)), "crush", window=200_000, **STUB).events[0].n_after == 1


@pytest.mark.golden("aider")
@pytest.mark.parametrize(
    ("window", "expected"), [(128_000, 8_000), (200_000, 8_192), (131_072, 8_192), (16_000, 1_024), (32_000, 2_000)]
)
def test_aider_budget(window, expected):
    assert aider.budget(aider.Params(), window) == expected


def test_aider_summarises_finished_turns_only():
    build = Build(overhead=0)
    for _ in range(12):
        build.prompt(1_000)
        build.reply(1_000)
    made = replay(weigh(build.done()), "aider", window=128_000, summarizer="stub:100")
    event = made.events[0]
    assert event.gate.measure > 8_000
    assert event.after[-1].message.typed, "the new prompt stays"
    assert [item.message.role.value for item in event.after[:2]] == ["user", "assistant"]
    assert event.after[1].message.preview == "Ok."
    tail = event.after[2:-1]
    assert sum(item.size for item in tail) < 8_000
    assert not tail or tail[0].message.role == "user"


@pytest.mark.golden("copilot_chat")
@pytest.mark.parametrize(
    ("setting", "window", "tools", "expected"),
    [(None, 128_000, 8_000, 102_000), (64_000, 128_000, 8_000, 47_600), (None, 1_001, 0, 850), (None, 10, 20, 0)],
)
def test_copilot_budget(setting, window, tools, expected):
    assert copilot.budget(copilot.ChatParams(setting=setting), window, tools) == expected


def test_copilot_leaves_the_newest_tool_round_alone():
    event = replay(weigh(long_session(150)), "copilot_chat", window=100_000, **STUB).events[0]
    assert event.gate.operator == ">"
    assert event.n_after == 3
    assert event.after[1].message.call_ids() == event.after[2].message.result_ids()


def test_letta_evicts_from_two_fifths_on():
    """Messages of equal weight at 90% of the window: 40% of them leave 54%, under 70%."""
    build = Build(overhead=0)
    for _ in range(60):
        build.prompt(1_000)
        build.reply(1_000)
    made = replay(weigh(build.done()), "letta", window=100_000, summarizer="stub:100")
    event = made.events[0]
    assert event.gate.threshold == 90_000
    assert event.gate.measure > 90_000
    share = event.dropped / event.n_before
    assert 0.35 <= share <= 0.45
    assert event.after[1].message.role == "assistant"


def test_letta_takes_more_where_two_fifths_are_not_enough():
    """All weight is in the newest half: 40% of the messages free next to nothing."""
    build = Build(overhead=0)
    for n in range(40):
        build.prompt(10 if n < 20 else 2_500)
        build.reply(10 if n < 20 else 2_500)
    event = replay(weigh(build.done()), "letta", window=100_000, summarizer="stub:100").events[0]
    assert event.dropped / event.n_before > 0.5


def test_browser_use_needs_both():
    """25 steps and 40,000 characters: with 24 steps nothing, with little text nothing."""
    small = replay(weigh(long_session(80, tokens=10)), "browser_use", params={"chars": 1_000_000})
    assert not small.events
    made = replay(weigh(long_session(80, tokens=900)), "browser_use", **STUB)
    assert made.events[0].request == 24, "the 25th request"
    event = made.events[0]
    assert event.after[0].id == "m0"
    assert sum(item.message.role == "assistant" for item in event.after) == 6
    assert [later.request - event.request for later in made.events[1:2]] == [25]


@pytest.mark.golden("claw_code")
@pytest.mark.parametrize(("n_messages", "fires"), [(4, False), (5, True)])
def test_claw_code_needs_more_than_four_messages(n_messages, fires):
    build = Build(usage=False)
    for n in range(n_messages):
        build.add("user" if n % 2 == 0 else "assistant", text(4_000), typed=n % 2 == 0)
    build.reply()
    weighed = weigh(build.done())
    assert bool(replay(weighed, "claw_code", **STUB).events) is fires


@pytest.mark.golden("claw_code")
@pytest.mark.parametrize(("limit", "fires"), [(0, True), (1, False)])
def test_claw_code_at_its_estimate(limit, fires):
    """Six blocks of 8,000 bytes: 8,000 / 4 + 1 each, 12,006 together."""
    build = Build(usage=False)
    for _ in range(6):
        build.prompt(2_000)
    build.reply()
    made = replay(weigh(build.done()), "claw_code", params={"tokens": 12_006 + limit}, **STUB)
    assert made.gates[0].measure == 12_006
    assert bool(made.events) is fires
    assert totals(made).summary_calls == 0


def test_mini_swe_agent_keeps_the_task_and_two_replies():
    event = replay(weigh(long_session(60)), "mini_swe_agent_summary", **STUB).events[0]
    assert event.gate.threshold == 28_000
    assert [event.after[0].id, event.after[1].inserted] == ["m0", True]
    assert sum(item.message.role == "assistant" for item in event.after) == 2


@pytest.mark.golden("smolagents_screenshots")
def test_screenshots_older_than_two_steps_go():
    build = Build(usage=False)
    build.prompt()
    for n in range(6):
        build.reply(50, f"c{n}", name="screenshot")
        build.result(f"c{n}", 10, image(100_000, 800))
    build.reply()
    made = replay(weigh(build.done()), "smolagents_screenshots")
    left = [i.id for i in made.events[-1].after if any(leaf.kind is Kind.IMAGE for leaf in i.message.leaves())]
    assert left == ["m10", "m12"]
    assert [event.edited for event in made.events] == [1] * 4
    assert not made.attempts


def test_batched_masking_frees_a_fifth_each_time():
    made = replay(weigh(long_session(300)), "batched_masking", window=200_000)
    assert made.events
    for event in made.events:
        assert event.before_tokens - event.after_tokens >= event.before_tokens * 20 // 100


def test_a_cold_cache_is_waited_for():
    """The gate needs five idle minutes and 40%: replies ten seconds apart never give them, one long pause does."""
    build = Build()
    for n in range(60):
        build.prompt(1_000)
        build.reply(1_000)
        build.messages[-1] = _stamped(build.messages[-1], n * 60.0 + (1_000 if n > 55 else 0))
    done = build.done()
    stamped = [m if m.timestamp else _stamped(m, (m.index // 2) * 60.0 - 30 + (1_000 if m.index // 2 > 55 else 0))
               for m in done.messages]  # fmt: skip
    import dataclasses

    made = replay(weigh(dataclasses.replace(done, messages=tuple(stamped))), "cold_cache", window=200_000, **STUB)
    assert [event.request for event in made.events] == [56]
    assert {gate.fires for gate in made.gates[:56]} == {False}


def _stamped(message, seconds):
    import dataclasses

    return dataclasses.replace(message, timestamp=seconds)


def test_turns_end_before_a_summary():
    build = Build()
    for turn in range(25):
        build.prompt(200)
        build.turns(2, start=turn * 2)
        build.reply()
    made = replay(weigh(build.done()), "turn_summaries", **STUB)
    assert made.events
    assert all(event.before[-1].message.typed for event in made.events)
    assert made.events[0].before[-1].id == made.events[0].after[-1].id
    assert sum(item.message.typed for item in made.events[0].after) == 2


def test_head_and_tail():
    event = replay(weigh(long_session(150)), "head_and_tail", window=100_000).events[0]
    assert [item.id for item in event.after[:3]] == ["m0", "m1", "m2"]
    assert len(event.after) in {23, 24}


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"share": 50}, 50_000),
        ({"share": 50.5}, 50_500),
        ({"share": "none", "tokens": 12_345}, 12_345),
        ({"share": "none", "reserve": 30_000}, 70_000),
        ({"share": "none", "messages": 33}, 33),
        ({"share": "none", "turns": 4}, 4),
        ({"share": "none", "kilobytes": 5}, 5_000),
    ],
)
def test_thresholds_of_the_parametric_policy(params, expected):
    assert threshold("parametric", 100_000, **params) == expected


def test_half_of_the_effective_window():
    weighed = weigh(long_session(3))
    made = replay(weighed, "parametric", params={"share": 50, "capacity": "effective"}, window=100_000)
    assert made.gates[-1].threshold == (100_000 - weighed.overhead) // 2 < 50_000
    assert made.gates[-1].measure == made.context_tokens[-1] - weighed.overhead


@pytest.mark.golden("parametric")
@pytest.mark.parametrize(("operator", "fires"), [(">=", True), (">", False)])
def test_the_operator_decides_at_the_threshold(operator, fires):
    weighed = weigh(long_session(30))
    last = replay(weighed, "none").context_tokens[-1]
    params = {"share": "none", "tokens": last, "operator": operator}
    made = replay(weighed, "parametric", params=params, **STUB)
    assert made.gates[-1].fires is fires


def test_any_and_all():
    weighed = weigh(long_session(100))
    both = {"share": 20, "messages": 150}
    fired = {
        how: replay(weighed, "parametric", params=both | {"combine": how}, window=100_000, **STUB).events[0]
        for how in ("any", "all")
    }
    assert fired["any"].before_tokens < 25_000
    assert fired["all"].n_before >= 150


def test_guards_hold_it_back():
    weighed = weigh(long_session(100))
    plain = {"share": 30}
    assert len(replay(weighed, "parametric", params=plain, window=100_000, **STUB).events) > 1
    late = replay(weighed, "parametric", params=plain | {"remaining_calls": 60}, window=100_000, **STUB)
    assert late.events[0].request == 60
    never = replay(weighed, "parametric", params=plain | {"keep_last": 1_000, "reclaim": 10}, window=100_000, **STUB)
    assert not never.events
    assert not never.attempts
    rare = replay(weighed, "parametric", params=plain | {"min_messages": 120}, window=100_000, **STUB)
    assert all(b.request - a.request >= 60 for a, b in zip(rare.events, rare.events[1:], strict=False))


@pytest.mark.parametrize("edit", ["mask results", "clear thinking", "drop images"])
def test_edits_in_place_are_done_once(edit):
    build = Build(usage=False)
    build.prompt()
    for n in range(40):
        build.reply(50, f"c{n}", name="shot")
        build.messages[-1] = _thinking(build.messages[-1])
        build.result(f"c{n}", 400, image(30_000, 400))
    build.reply()
    weighed = weigh(build.done())
    params = {"share": 5, "edit": edit, "keep_last": 4}
    made = replay(weighed, "parametric", params=params, window=100_000)
    edited = [item.id for event in made.events for _, _, item in event.history.changes_at(event.index, event.before)]
    assert len(edited) == len(set(edited)) > 20
    assert not made.attempts


def _thinking(message):
    import dataclasses

    return dataclasses.replace(message, blocks=(text(60, Kind.THINKING), *message.blocks))


def test_an_unknown_parameter_of_a_preset_is_an_error():
    with pytest.raises(TypeError, match="no such parameters: shares"):
        preset("x", "X", "s", "h", shares=1)


def test_there_are_at_least_ten_presets():
    presets = [p for p in registry.plugins("policies").values() if p.tier == "preset" and p.name != "parametric"]
    assert len(presets) >= 10
