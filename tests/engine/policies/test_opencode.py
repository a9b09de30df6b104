"""Golden values of opencode's limits, its prune and both compactions."""

from __future__ import annotations

import pytest

from sessions.engine.policies.opencode import V1Params as Params
from sessions.engine.policies.opencode import V2Params as ParamsV2
from sessions.engine.policies.opencode import recent_budget, threshold
from sessions.engine.policies.opencode import usable_of as usable
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import conversation, fires_at, ids, reply_of
from tests.engine.sessions import Build, text


@pytest.mark.parametrize(
    ("window", "output", "limit", "reserved", "expected"),
    [
        (200_000, 32_000, None, None, 168_000),
        (400_000, 32_000, 272_000, None, 252_000),
        (400_000, 8_000, 272_000, None, 264_000),
        (400_000, 32_000, 272_000, 50_000, 222_000),
    ],
)
def test_usable(window, output, limit, reserved, expected):
    """Policies 8.1: 200k/64k → 168,000 (output counts 32,000 at most); 400k with input 272k → 252,000."""
    assert usable(window, output, limit, reserved) == expected


@pytest.mark.golden("opencode_compaction")
@pytest.mark.parametrize(("total", "fires"), [(167_999, False), (168_000, True), (168_001, True)])
def test_v1_fires_at_the_usable(total, fires):
    """≥, on the last reply's tokens; the model's 64,000 of output count as 32,000."""
    assert fires_at(reply_of(total), "opencode_compaction", window=200_000) == (fires, total, 168_000, ">=")


@pytest.mark.parametrize(("total", "fires"), [(251_999, False), (252_000, True)])
def test_v1_under_an_input_limit(total, fires):
    given = {"window": 400_000, "params": {"input_limit": "272000"}}
    assert fires_at(reply_of(total), "opencode_compaction", **given) == (fires, total, 252_000, ">=")
    assert fires_at(reply_of(total, model="gpt-5"), "opencode_compaction")[2] == 252_000


@pytest.mark.parametrize(("limit", "expected"), [(168_000, 15_000), (20_000, 5_000), (4_000, 2_000)])
def test_the_tails_budget(limit, expected):
    """min(15,000, max(2,000, a quarter))."""
    assert recent_budget(Params(), limit) == expected


def compacted(weighed, policy="opencode_compaction", window=60_000, **params):
    """The event at a small window."""
    result = replay(weighed, policy, window=window, summarizer="stub:900", params={"max_output": 32_000, **params})
    return result.events[0]


def test_v1_keeps_two_turns_that_fit():
    """Three turns and a prompt: the tail is the last whole turn and the new prompt; then the word to go on."""
    event = compacted(conversation(3, tokens=2_900))
    assert [event.before[n].id for n in (0, -1)] == ["m0", "m18"]
    assert ids(event.after) == ["e0.0", *[f"m{n}" for n in range(12, 19)], "e0.1"]
    assert event.after[0].message.role == "assistant"
    assert event.after[-1].tokens == 20


def test_v1_splits_a_turn_that_does_not_fit():
    """One turn of tool rounds of 2,900 tokens: within 7,000 the newest two stay, from a reply on."""
    session = Build()
    session.prompt(50)
    session.turns(10, tokens=2_800)
    session.reply()
    event = compacted(weigh(session.done()), preserve_recent_tokens=7_000)
    kept = [item for item in event.after if not item.inserted]
    assert kept[0].message.role == "assistant"
    assert sum(item.size for item in kept) <= 7_000
    assert len(kept) == 4


def test_v1_without_a_tail():
    """Earlier releases."""
    event = compacted(conversation(3, tokens=2_900), tail_turns=0)
    assert ids(event.after) == ["e0.0", "e0.1"]


def test_v1_sends_the_last_prompt_again_when_refused():
    """A prompt that takes the request over the window: it is not summarised but sent again."""
    session = Build()
    session.prompt(15_000)
    session.reply(100)
    session.prompt(40_000)
    session.reply(100)
    event = compacted(weigh(session.done()))
    assert ids(event.after) == ["e0.0", "m2"]


@pytest.mark.parametrize(
    ("window", "output", "limit", "expected"),
    [(200_000, 32_000, None, 168_000), (400_000, 32_000, 272_000, 252_000), (200_000, 8_000, None, 180_000)],
)
def test_v2_threshold(window, output, limit, expected):
    """min(input − 20,000, context − max(min(output, 32,000), 20,000))."""
    assert threshold(ParamsV2(), window, output, limit) == expected


def test_v2_takes_the_window_of_a_model_with_an_input_limit_for_that_limit():
    """400,000 with an input limit of 272,000, as version 1: the output has room beside it."""
    assert fires_at(reply_of(100, model="gpt-5"), "opencode_compaction_v2")[2] == 252_000
    assert fires_at(reply_of(100, model="gpt-5.6"), "opencode_compaction_v2")[2] == 902_000


@pytest.mark.golden("opencode_compaction_v2")
@pytest.mark.parametrize(("total", "fires"), [(167_999, False), (168_000, True), (168_001, True)])
def test_v2_fires_at_the_threshold(total, fires):
    """≥; last usage and the estimate of what came after, a result of 10 tokens."""
    found = fires_at(reply_of(total - 10), "opencode_compaction_v2", window=200_000)
    assert found == (fires, total, 168_000, ">=")


@pytest.mark.parametrize(("keep", "n"), [(15_000, 1), (1_300, 7), (0, 1)])
def test_v2_is_one_record(keep, n):
    """Summary, and the tail as text from a prompt on; a result weighs 503 tokens there.

    15,000: everything fits, so the latest exchange alone.  1,300: a prompt, an answer, two results and a call fit
    (1,257), snapped back to the third prompt.  0: the newest message stays whatever it weighs.
    """
    event = compacted(conversation(3, tokens=2_900), "opencode_compaction_v2", window=60_400, keep_tokens=keep)
    assert len(event.before) == 19
    assert ids(event.after) == ["e0.0", "e0.1"]
    assert event.after[1].message.preview == f"[{n} recent messages, as text]"
    assert event.before[-n].message.typed


def pruned(n_turns, tokens, **params):
    result = replay(conversation(n_turns, rounds=1, tokens=tokens), "opencode_prune", params=params)
    return result, [[item.id for item in event.after if item.edited] for event in result.events]


def test_prune_marks_the_crossing_part():
    """Outputs of 10,000: two turns are skipped, the fifth before them crosses 40,000; three marked exceed 20,000.

    So nine turns are needed for three marked.
    """
    result, changed = pruned(9, 10_000)
    assert changed[0] == ["m2", "m6", "m10"]
    assert result.events[0].request == 2 * 9
    assert result.gates[result.events[0].request].measure == 30_000
    assert len(result.events) == 1


@pytest.mark.golden("opencode_prune")
@pytest.mark.parametrize(("minimum", "fires"), [(29_999, True), (30_000, False)])
def test_prune_needs_more_than_the_minimum(minimum, fires):
    """>."""
    result, _ = pruned(9, 10_000, minimum=minimum)
    assert bool(result.events) is fires


def test_prune_counts_from_more_than_what_is_protected():
    """At exactly 40,000 nothing is marked yet (>): the output that makes it 50,000 is."""
    result, _ = pruned(7, 10_000, minimum=9_999)
    assert [g.measure for g in result.gates if g and g.measure] == [10_000]
    assert result.events[0].request == 14


def test_prune_stops_at_what_it_pruned():
    """A second prune counts only what came since."""
    result, changed = pruned(13, 10_000)
    assert changed[1][:3] == changed[0]
    assert result.events[1].edited == 3


def test_prune_never_touches_skills():
    weighed = conversation(9, rounds=1, tokens=10_000, name="skill")
    assert replay(weighed, "opencode_prune").events == ()


def test_prune_tells_two_results_of_one_message_apart():
    """One of two is over what is protected: the other is not taken for pruned already, and goes at the next prune."""
    session = Build()
    session.prompt()
    session.reply(100, "a", "b")
    both = (text(30_000, Kind.TOOL_RESULT, call_id="a"), text(30_000, Kind.TOOL_RESULT, call_id="b"))
    session.add("user", *both)
    session.reply(100)
    for turn in range(3):
        session.prompt()
        session.reply(100, f"c{turn}")
        session.result(f"c{turn}", 20_000)
        session.reply(100)
    session.prompt()
    session.reply(100)
    result = replay(weigh(session.done()), "opencode_prune", window=1_000_000)
    assert [event.gate.measure for event in result.events] == [30_000, 30_000]
    assert [event.edited for event in result.events] == [1, 1]
    assert all(block.n_chars == 33 for block in result.events[-1].after[2].message.blocks)
