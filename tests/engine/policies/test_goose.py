"""Golden values of goose's threshold and cutoffs."""

from __future__ import annotations

import pytest

from sessions.engine.policies.goose import PairsParams as Params
from sessions.engine.policies.goose import cutoff
from sessions.engine.replays.replay import replay
from tests.engine.policies.asked import conversation, fires_at, ids, reply_of


@pytest.mark.parametrize(
    ("window", "expected"), [(32_000, 10), (128_000, 15), (200_000, 24), (1_000_000, 120), (4_000_000, 480),
                             (8_000_000, 500)],
)  # fmt: skip
def test_cutoff(window, expected):
    """Policies 11.8."""
    assert cutoff(Params(), window) == expected


@pytest.mark.golden("goose")
@pytest.mark.parametrize(("total", "fires"), [(159_999, False), (160_000, False), (160_001, True)])
def test_fires_above_the_threshold(total, fires):
    """>."""
    assert fires_at(reply_of(total), "goose", window=200_000) == (fires, total, 160_000, ">")


@pytest.mark.parametrize("threshold", [0, 1])
def test_switched_off(threshold):
    assert not fires_at(reply_of(199_000), "goose", window=200_000, params={"threshold": threshold})[0]


def test_summary_word_and_the_last_text():
    result = replay(conversation(3, tokens=4_000), "goose", window=30_000, summarizer="stub:500")
    event = result.events[0]
    last = max((i for i in event.before if i.message.typed), key=lambda i: i.message.index)
    assert ids(event.after) == ["e0.0", "e0.1", last.id]
    assert [i.message.role for i in event.after] == ["user", "assistant", "user"]


@pytest.mark.golden("goose_tool_pairs")
@pytest.mark.parametrize(("n_turns", "fires"), [(19, False), (20, False), (21, True)])
def test_pairs_above_cutoff_and_batch(n_turns, fires):
    """A window of 32,000: more than 10 + 10 pairs before the current turn; then the oldest ten go."""
    result = replay(conversation(n_turns, rounds=1), "goose_tool_pairs", window=32_000)
    assert bool(result.events) is fires
    if fires:
        (event,) = result.events
        assert event.gate.measure == 21
        assert event.dropped == 20
        assert event.inserted == 10
        assert ids(event.after)[:5] == ["m0", "e0.0", "m3", "m4", "e0.1"]
