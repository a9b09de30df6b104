"""The cheapest schedule: against every schedule there is, and against every policy."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.costs.caching import cache_use
from sessions.engine.costs.cost import totals
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.prefix_sums import prefix_sums
from sessions.engine.sweeps.regret import CostLine, Envelope, optimum, regrets, scheduled, smallest, summary_tokens
from sessions.engine.sweeps.sweep import Over, grid, sweep
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.drawn_sessions import transcripts
from tests.engine.sessions import Build, long_session
from tests.every import examples


def every_schedule(weighed, *, window, summarizer):
    """Costs of all schedules of at most the session's steps that fit the window."""
    sums = prefix_sums(weighed)
    if sums is None:
        return
    cuts, after = smallest(sums, summary_tokens(weighed, summarizer))
    for n in range(len(sums.stops) + 1):
        for steps in combinations(range(len(sums.stops)), n):
            offset, start, places = sums.overhead, 0, {}
            for k in steps:
                if cuts[k] <= start or after[k] >= offset + sums.heights[k + 1]:
                    break
                offset, start = after[k] - sums.heights[k + 1], cuts[k]
                places[weighed.steps[k].request] = cuts[k]
            if len(places) < len(steps):
                continue
            policy = scheduled(sums, places)
            made = totals(replay(weighed, policy, window=window, summarizer=summarizer))
            if made.compactions == n and made.peak_context_tokens <= window:
                yield made.cost.low


@examples(80)
@given(transcript=transcripts(n_turns=6), window=st.integers(2_000, 20_000),
       summarizer=st.sampled_from(["stub:50", "stub:1000"]))  # fmt: skip
def test_no_schedule_is_cheaper(transcript, window, summarizer):
    """All of them tried, on sessions short enough."""
    weighed = weigh(transcript)
    found = optimum(weighed, summarizer=summarizer, window=window)
    costs = list(every_schedule(weighed, window=window, summarizer=summarizer))
    if found is None:
        assert costs == [] or min(weighed.recorded.weights) < 0
    else:
        assert found.dollars == pytest.approx(min(costs))
        assert found.totals.peak_context_tokens <= window
        assert [c.request for c in found.costs] == list(found.requests)


def test_every_policy_that_summarises_costs_at_least_as_much():
    """Ratios from 1 on, and the note on those that need no summary."""
    weighed = weigh(long_session(400))
    axes, points = grid(["claude_code", "buzz_handoff", "none"], [Over("window", 60_000, 200_000, 5)])
    result = sweep(weighed, points, axes, summarizer="stub:2000")
    best = optimum(weighed, summarizer="stub:2000", window=1_000_000)
    assert best is not None
    found = regrets(result, best)
    assert len(found) == len(result.rows)
    assert all(ratio >= 1 for ratio in found.values())
    assert best.totals.compactions > 0


def test_a_cold_cache_is_when_to_compact():
    """A pause: a call that reads the cache comes just before it expires."""
    session = Build()
    session.prompt()
    session.turns(40, tokens=900)
    session.clock += 400
    session.turns(30, tokens=900, start=40)
    session.reply()
    weighed = weigh(session.done())
    best = optimum(weighed, summarizer="stub:500")
    (cold,) = cache_use(weighed).cold
    assert cold - 1 in best.requests
    assert not [c.request for c in best.costs if c.cold]


def test_none_without_a_price_or_a_schedule_that_fits():
    """An unknown model; a first request over the window."""
    assert optimum(weigh(long_session(20, model="a-model-nobody-knows"))) is None
    assert optimum(weigh(long_session(20)), window=5_000) is None


def test_work_grows_as_n_log_squared():
    """Nodes looked at, per request."""
    for n in (1_000, 4_000):
        envelope = Envelope(list(range(n)))
        for k in range(n):
            envelope.add(CostLine(-k, k * k / 2, k), k, n - 1)
            envelope.lowest(k)
        assert envelope.n_steps < n * 150


@given(
    lines=st.lists(
        st.tuples(st.integers(-20, 20), st.integers(-50, 50), st.integers(0, 12), st.integers(0, 12)), max_size=25
    ),
    gaps=st.lists(st.integers(0, 4), min_size=13, max_size=13),
)
def test_the_envelope_is_the_lowest_line(lines, gaps):
    """Against all lines at every point."""
    xs = [sum(gaps[: i + 1]) for i in range(13)]
    envelope = Envelope(xs)
    for name, (slope, intercept, a, b) in enumerate(lines):
        envelope.add(CostLine(slope, intercept, name), min(a, b), max(a, b))
    for point, x in enumerate(xs):
        valid = [s * x + i for s, i, a, b in lines if min(a, b) <= point <= max(a, b)]
        lowest = envelope.lowest(point)
        assert (lowest.at(x) if lowest else None) == (min(valid) if valid else None)
