"""Compaction that the provider makes: on demand, in the background, and at the Responses API's threshold."""

from __future__ import annotations

import pytest

from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import conversation, fires_at, ids, session_of
from tests.engine.sessions import Build


def turn_after(total):
    """Two turns; input and output of the first reply are exactly ``total`` tokens."""
    session = Build(overhead=10_000)
    session.prompt(total - 10_100)
    session.reply(100)
    session.prompt(10)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.golden("anthropic_on_demand")
@pytest.mark.parametrize(("total", "fires"), [(149_999, False), (150_000, False), (150_001, True)])
def test_on_demand_is_asked_for_when_the_limit_is_exceeded(total, fires):
    """> as in the documented loop; input and output of the last response, asked before a turn."""
    assert fires_at(turn_after(total), "anthropic_on_demand") == (fires, total, 150_000, ">")


def test_on_demand_puts_one_block_before_the_new_prompt():
    event = replay(turn_after(150_001), "anthropic_on_demand", summarizer="stub:300").events[0]
    assert ids(event.after) == ["e0.0", "m2"]
    assert event.after[0].message.role.value == "assistant"
    assert event.summary_calls == 1


def test_on_demand_is_asked_between_turns_alone():
    """Within a turn an unanswered call stands at the end of what would be summarised."""
    result = replay(session_of(400_000), "anthropic_on_demand", summarizer="stub:300", params={"compact_at": 1_000})
    assert [gate.fires for gate in result.gates] == [False, False]
    assert "asked between turns" in result.gates[1].reason


@pytest.mark.parametrize(("keep", "after"), [(0, 2), (1, 8), (2, 14)])
def test_on_demand_keeps_the_newest_turns_word_for_word(keep, after):
    """Three turns of six messages, then a prompt: the block, the turns kept, the prompt."""
    weighed = conversation(3, tokens=20_000)
    given = {"compact_at": 100_000, "keep_turns": keep}
    (event,) = replay(weighed, "anthropic_on_demand", summarizer="stub:300", params=given).events
    assert len(event.before) == 19
    assert ids(event.after)[1:] == ids(event.before)[19 - after + 1 :]


def test_on_demand_with_no_more_turns_than_are_kept_asks_for_nothing():
    result = replay(
        conversation(2, tokens=20_000), "anthropic_on_demand", summarizer="stub:300",
        params={"compact_at": 1_000, "keep_turns": 2},
    )  # fmt: skip
    assert result.events == ()


def rounds(n, size):
    """One prompt and ``n`` tool rounds whose results have ``size`` tokens."""
    session = Build(overhead=10_000)
    session.prompt(1_000)
    for call in range(n):
        session.reply(100, f"c{call}")
        session.result(f"c{call}", size)
    session.reply(100)
    return weigh(session.done())


@pytest.mark.golden("anthropic_background")
@pytest.mark.parametrize(("start_at", "asked"), [(11_099, True), (11_100, False), (11_101, False)])
def test_background_asks_when_the_limit_is_exceeded(start_at, asked):
    """>: overhead 10,000, prompt 1,000, output 100 of the first response."""
    result = replay(rounds(4, 10), "anthropic_background", summarizer="stub:50", params={"start_at": start_at})
    gate = result.gates[1]
    assert (gate.measure, gate.threshold, gate.operator, gate.fires) == (11_100, start_at, ">", False)
    assert ("a summary is asked for" in gate.reason) is asked


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_background_replaces_exactly_what_its_request_held(delay):
    """Asked for at request 1, whose list was prompt, call and result; all since stays behind the block."""
    given = {"start_at": 11_000, "arrives_after": delay}
    event = replay(rounds(5, 500), "anthropic_background", summarizer="stub:50", params=given).events[0]
    assert event.request == 1 + delay
    assert ids(event.before)[:3] == ["m0", "m1", "m2"]
    assert ids(event.after) == ["e0.0", *ids(event.before)[3:]]
    assert event.gate.fires
    assert event.gate.measure == 11_100


def test_background_has_one_summary_under_way():
    """While it is written the context grows on, and the next is asked for only afterwards."""
    given = {"start_at": 11_000, "arrives_after": 3}
    result = replay(rounds(8, 500), "anthropic_background", summarizer="stub:50", params=given)
    assert [event.request for event in result.events] == [4, 8]
    assert ["under way" in gate.reason for gate in result.gates[1:4]] == [False, True, True]


@pytest.mark.golden("openai_compact_threshold")
@pytest.mark.parametrize(
    ("crosses", "operator", "fires"), [("reached", ">=", (False, True, True)), ("exceeded", ">", (False, False, True))]
)
def test_compact_threshold_below_at_and_above(crosses, operator, fires):
    for size, expected in zip((199_999, 200_000, 200_001), fires, strict=True):
        found = fires_at(session_of(size), "openai_compact_threshold", params={"crosses": crosses})
        assert found == (expected, size, 200_000, operator)


def test_compact_threshold_leaves_one_item():
    event = replay(session_of(200_000), "openai_compact_threshold", summarizer="stub:300").events[0]
    assert ids(event.after) == ["e0.0"]
    assert event.after[0].message.role.value == "assistant"
