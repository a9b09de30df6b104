"""Golden values of Cline's limits, agentic, basic and classic."""

from __future__ import annotations

import pytest

from sessions.engine.policies.cline import ClassicParams as Params
from sessions.engine.policies.cline import allowed, max_input, truncated
from sessions.engine.policies.cline import least_trigger as trigger
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import conversation, fires_at, ids, reply_of
from tests.engine.sessions import Build, long_session


@pytest.mark.parametrize(
    ("given", "window", "budget", "fires"),
    [(None, 128_000, 115_200, 103_680), (100_000, 128_000, 100_000, 90_000), (300_000, 200_000, 200_000, 180_000)],
)
def test_budget_and_trigger(given, window, budget, fires):
    """min(given, window), else 0.9·window; nine tenths of it."""
    assert max_input(given, window) == budget
    assert trigger(budget, 90) == fires


@pytest.mark.golden("cline_agentic", "cline_basic")
@pytest.mark.parametrize("policy", ["cline_agentic", "cline_basic"])
@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_fires_at_the_trigger(policy, excess):
    """≥ on the estimate of the request; the budget is set so that the trigger lies at, below and above it."""
    weighed = conversation(3, tokens=3_000)
    measure = fires_at(weighed, policy, -1, window=200_000)[1]
    found = fires_at(weighed, policy, -1, window=200_000, params={"max_input_tokens": measure - excess, "trigger": 100})
    assert found == (excess >= 0, measure, measure - excess, ">=")


def test_agentic_cuts_at_a_reply_or_prompt():
    """The newest 1,500 tokens by its estimate (characters / 3), from a reply on; the newest prompt stays."""
    weighed = conversation(3, tokens=3_000)
    result = replay(
        weighed, "cline_agentic", window=40_000, summarizer="stub:9000", params={"preserve_recent_tokens": 5_000}
    )
    event = result.events[0]
    kept = [item for item in event.after if not item.inserted]
    assert kept[0].message.typed or kept[0].message.role == "assistant"
    assert event.after[0].tokens == 4_096, "at most 4,096 tokens of summary"
    typed = [item.id for item in event.before if item.message.typed]
    assert typed[-1] in ids(kept)


def test_agentic_needs_something_before_the_newest_prompt():
    """One prompt: nothing may be cut, whatever it weighs."""
    assert replay(weigh(long_session(100)), "cline_agentic", window=50_000).events == ()


def test_basic_keeps_prompts_and_answers():
    """All prompts; of older turns the last answer without tools; a notice before the newest turn's messages."""
    result = replay(conversation(4, tokens=3_000), "cline_basic", window=40_000)
    event = result.events[0]
    kept = ids(event.after)
    assert [item.id for item in event.before if item.message.typed] == [
        item.id for item in event.after if item.message.typed
    ]
    assert "m5" in kept
    assert not {"m1", "m2", "m3", "m4"} & set(kept)
    assert event.summary_calls == 0


def test_basic_may_wait_for_a_refusal():
    weighed = weigh(long_session(100))
    early = replay(weighed, "cline_basic", window=50_000)
    late = replay(weighed, "cline_basic", window=50_000, params={"when": "overflow"})
    assert late.events[0].request > early.events[0].request
    assert late.events[0].before_tokens > 50_000


@pytest.mark.parametrize(
    ("window", "expected"),
    [(64_000, 37_000), (128_000, 98_000), (200_000, 160_000), (100_000, 80_000), (1_000_000, 960_000)],
)
def test_classic_allowed(window, expected):
    """Policies 11.3."""
    assert allowed(Params(), window) == expected


@pytest.mark.golden("cline_classic")
@pytest.mark.parametrize(("total", "fires"), [(159_999, False), (160_000, True), (160_001, True)])
def test_classic_fires_at_what_is_allowed(total, fires):
    """≥."""
    assert fires_at(reply_of(total), "cline_classic", window=200_000) == (fires, total, 160_000, ">=")


@pytest.mark.parametrize(
    ("n", "three_quarters", "left"),
    [(22, False, 12), (21, False, 13), (22, True, 8), (42, False, 22), (42, True, 12), (5, False, 5)],
)
def test_classic_removes_an_even_number(n, three_quarters, left):
    """floor((n − 2)/4)·2, or floor((n − 2)·3/4/2)·2, after the first pair; user and assistant in turns."""
    session = Build()
    for _ in range(n // 2 + 1):
        session.prompt(10)
        session.reply(10)
    from sessions.engine.base import registry
    from sessions.engine.replays.context import message_items

    items = message_items(weigh(session.done()), registry.get("estimators", "cline"))[:n]
    after = truncated(items, three_quarters=three_quarters)
    assert len(after) == left
    assert ids(after[:2]) == ["m0", "m1"]
    if left < n:
        assert after[2].message.typed


def test_classic_drops_repeated_reads_first():
    """Seven files read again and again: notes for all but the newest read save far more than 30%."""
    result = replay(weigh(long_session(100)), "cline_classic", window=50_000)
    event = result.events[0]
    assert event.dropped == 0
    open_reads = [item for item in event.after if item.message.result_ids() and not item.edited]
    assert len(open_reads) == 7


def test_classic_truncates_where_nothing_repeats():
    result = replay(weigh(long_session(100)), "cline_classic", window=50_000, params={"read_tools": "none"})
    event = result.events[0]
    assert event.edited == 0
    assert event.after[0].id == "m0"
    assert event.dropped >= (len(event.before) - 2) // 4 * 2 - 1
