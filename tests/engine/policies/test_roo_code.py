"""Golden values of Roo Code's limits, and its sliding window."""

from __future__ import annotations

import pytest

from sessions.engine.policies.roo_code import Params, allowed
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import fires_at, ids, reply_of
from tests.engine.sessions import long_session


def test_allowed():
    """Policies 11.4: 200k → 171,808."""
    assert allowed(Params(), 200_000) == 171_808
    assert allowed(Params(max_tokens=20_000), 200_000) == 160_000


@pytest.mark.golden("roo_code")
@pytest.mark.parametrize(("excess", "fires"), [(-1, False), (0, False), (1, True)])
def test_fires_above_what_is_allowed(excess, fires):
    """>; usage and the estimate of the result (× 1.5)."""
    _, measure, _, _ = fires_at(reply_of(150_000), "roo_code", window=200_000)
    tail = measure - 150_000
    assert tail > 0
    total = 171_808 + excess - tail
    found = fires_at(reply_of(total), "roo_code", window=200_000)
    assert found == (fires, 171_808 + excess, 171_808, ">")


@pytest.mark.golden("roo_code")
@pytest.mark.parametrize(("excess", "fires"), [(-1, False), (0, True), (1, True)])
def test_fires_at_the_percent(excess, fires):
    """≥ where the threshold is the lower one."""
    tail = fires_at(reply_of(90_000), "roo_code", window=200_000)[1] - 90_000
    found = fires_at(reply_of(100_000 + excess - tail), "roo_code", window=200_000, params={"condense_percent": 50})
    assert found == (fires, 100_000 + excess, 100_000, ">=")


def test_condensing_is_a_fresh_start():
    result = replay(weigh(long_session(100)), "roo_code", window=60_000, summarizer="stub:500")
    assert all(ids(event.after) == [f"e{event.index}.0"] for event in result.events)
    assert result.events


def test_slides_where_condensing_fails():
    """floor((n − 1)·0.5), rounded down to even, after the first; the failed call is billed."""
    result = replay(weigh(long_session(100)), "roo_code", window=60_000, fail="always")
    event = result.events[0]
    assert len(event.before) == 73
    assert event.dropped == 36
    assert ids(event.after)[:3] == ["m0", "e0.0", "m37"]
    assert "36 messages hidden" in event.after[1].message.preview
    assert event.summary_calls == 1


def test_without_condensing_it_slides():
    result = replay(weigh(long_session(100)), "roo_code", window=60_000, params={"auto_condense": "off"})
    assert result.events
    assert all(event.summary_calls == 0 for event in result.events)
