"""The sliding window: trigger, target, what is always kept, tool pairs."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest

from sessions.engine.policies.policy import Item, pair_safe_cut
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session, text


def test_drops_the_oldest_to_the_target():
    """At ≥ 70% of 100,000 down to at most 50%, and no further than needed."""
    result = replay(weigh(long_session(200)), "sliding_window", window=100_000)
    event = result.events[0]
    assert event.gate.threshold == 70_000
    assert event.gate.measure >= 70_000 > result.gates[event.request - 1].measure
    assert 50_000 - 1_000 < event.after_tokens <= 50_000
    assert event.inserted == event.edited == 0
    assert [i.id for i in event.after] == [i.id for i in event.before[-len(event.after) :]]
    assert event.first_changed_message == 0


@pytest.mark.golden("sliding_window")
@pytest.mark.parametrize(("size", "fires"), [(69_999, False), (70_000, True)])
def test_fires_at_the_trigger(size, fires):
    """≥ 70%."""
    session = Build(overhead=10_000)
    session.prompt(100)
    session.turns(6, tokens=100)
    session.reply(100, "last")
    session.result("last", size - 10_000 - session.context)
    session.reply()
    result = replay(weigh(session.done()), "sliding_window", window=100_000)
    assert result.gates[-1].measure == size
    assert bool(result.events) is fires


@pytest.mark.parametrize(("n_messages", "fires"), [(9, False), (10, True)])
def test_waits_for_ten_new_messages(n_messages, fires):
    """At least 10 messages since the last compaction, or the start."""
    session = Build(overhead=10_000, usage=False)
    for number in range(n_messages):
        session.prompt(20_000 if number == 0 else 10_000)
    session.reply()
    assert bool(replay(weigh(session.done()), "sliding_window", window=100_000).events) is fires


def test_the_last_five_stay_whatever_they_weigh():
    """The target is missed rather than the last five dropped."""
    session = Build(overhead=1_000)
    session.prompt()
    session.turns(10, tokens=30_000)
    session.reply()
    event = replay(weigh(session.done()), "sliding_window", window=200_000).events[0]
    assert len(event.after) >= 5
    assert event.after_tokens > 60_000 or len(event.after) > 5


def test_effective_window_takes_the_overhead_off_both_sides():
    """70% of (window − overhead), of the messages alone."""
    static = replay(weigh(long_session(200)), "sliding_window", window=100_000)
    effective = replay(weigh(long_session(200)), "sliding_window", window=100_000, params={"capacity": "effective"})
    assert static.gates[0].threshold == 70_000
    assert effective.gates[0].threshold == 63_000
    assert effective.gates[9].measure == static.gates[9].measure - 10_000


def test_max_messages_keeps_just_the_last():
    """The skill's optional cap: the last 20, moved by a split pair at most."""
    event = replay(weigh(long_session(200)), "sliding_window", window=100_000, params={"max_messages": 20}).events[0]
    assert 18 <= len(event.after) <= 20


def test_a_cut_never_splits_a_pair():
    """Forward over the result, back to the call when the kept tail would be eaten."""
    session = Build()
    session.prompt()
    session.reply(10, "a", "b")
    session.result("a")
    session.result("b")
    session.prompt()
    items = [Item(m.id, m, 1, 1, 0) for m in session.messages]
    assert pair_safe_cut(items, 2, 5) == 4
    assert pair_safe_cut(items, 3, 3) == 1
    assert pair_safe_cut(items, 1, 5) == 1
    assert pair_safe_cut(items, 4, 5) == 4


def thought(n_turns, thinking, **options):
    """Turns that think; at the next prompt the thinking before it is no longer sent (a growth below its prompt)."""
    session = Build(overhead=10_000, model="claude-sonnet-4-5", **options)
    number = 0
    for _ in range(n_turns):
        session.prompt(200)
        sent = 0
        for _ in range(3):
            reply = session.reply(300 + thinking, f"c{number}")
            words = changed(reply.blocks[0], n_tokens=300, n_chars=1_200, n_bytes=1_200)
            thoughts = text(thinking, Kind.THINKING)
            session.messages[-1] = changed(reply, blocks=(thoughts, words, *reply.blocks[1:]))
            session.result(f"c{number}", 300)
            number += 1
            sent += thinking
        session.reply(300)
        session.context -= sent
    session.prompt(200)
    session.reply()
    return weigh(session.done())


@pytest.mark.golden("sliding_window")
@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize(
    ("policy", "params"),
    [
        ("sliding_window", {}),
        ("sliding_window", {"capacity": "effective"}),
        ("parametric", {"edit": "truncate", "share": 70, "target": 50, "keep_last": 5}),
        ("parametric", {"edit": "truncate", "share": 70, "target": 50, "keep_last": 5, "capacity": "effective"}),
    ],
)
def test_the_target_is_reached_when_thinking_no_longer_weighs(policy, params, usage):
    """What goes frees what it weighs in the context, not what it was when it was written."""
    weighed = thought(20, 1_000, usage=usage)
    event = replay(weighed, policy, window=60_000, params=params).events[0]
    overhead = weighed.overhead if params.get("capacity") == "effective" else 0
    target = (60_000 - overhead) // 2 + overhead
    assert event.after_tokens <= target
    assert event.after_tokens > target - 4_000, "and no more goes than has to"


@pytest.mark.golden("sliding_window")
@pytest.mark.parametrize(("over", "dropped"), [(-1, 1), (0, 1), (1, 2)])
def test_stops_at_the_target_and_not_only_under_it(over, dropped):
    """Prompts of 5,000 alone: after one of them went the list is one under, at or one over half of the window."""
    session = Build(usage=False, model="gpt-4.1")
    for n in range(15):
        session.prompt(5_000 if n < 2 else 4_000)
    session.reply()
    weighed = weigh(session.done())
    whole = replay(weighed, "none").context_tokens[0]
    first = weighed.tokens[0]
    window = 2 * (whole - first - over)
    event = replay(weighed, "sliding_window", window=window, params={"trigger": 50}).events[0]
    assert event.dropped == dropped
    assert event.before_tokens - first - window // 2 == over
