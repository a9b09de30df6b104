"""The cost model: golden values of policies 14, what a summary call costs, prices given by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.breakeven import CompactionTokens, event_cost, event_costs
from sessions.engine.costs.caching import cache_use
from sessions.engine.costs.cost import totals
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.models.model_info import model_info
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session

SONNET = model_info("claude-sonnet-4-5")
LIST = prices_of(SONNET)
UNCACHED = Prices(3, 15, 3, None, None, "no cache")
L, S, Y, SUMMARY = 167_000, 44_000, 15_000, 4_000


@pytest.mark.parametrize(
    ("call_read", "prices", "call", "saves", "calls"),
    [
        (L, LIST, 0.110, 0.0369, 5.7),
        (0, LIST, 0.561, 0.0369, 17.9),
        (0, UNCACHED, 0.561, 0.369, 1.5),
    ],
    ids=["shared prefix", "unshared", "no caching"],
)
def test_break_even_of_the_reference(call_read, prices, call, saves, calls):
    """167k to 44k at 3 and 15 dollars (policies 14.1)."""
    found = event_cost(CompactionTokens(L, S, Y, L, L, call_read, SUMMARY), prices)
    assert found.call == pytest.approx(call, abs=0.0005)
    assert found.saves_per_call == pytest.approx(saves, rel=0.002)
    assert found.break_even_calls == pytest.approx(calls, abs=0.05)
    assert not found.free


def test_the_rewrite_of_the_reference():
    """1.15 · p · (S − Y) = 0.100 dollars more than reading S from the cache."""
    found = event_cost(CompactionTokens(L, S, Y, L, L, L, SUMMARY), LIST)
    assert found.rewrite + found.saves_per_call == pytest.approx(0.100, abs=0.0005)


def test_nothing_saved_never_breaks_even():
    """An after list as long as the before list."""
    assert event_cost(CompactionTokens(1_000, 1_000, 0, 1_000), LIST).break_even_calls is None


def test_a_cold_cache_makes_a_compaction_free():
    """All would be written again anyway: a list of a quarter is cheaper at once, although the call is not shared."""
    found = event_cost(CompactionTokens(167_000, 8_000, 0, 0, 167_000, 0, 4_000), LIST, cold=True)
    assert found.free
    assert found.break_even_calls < 1
    assert not event_cost(CompactionTokens(167_000, 8_000, 0, 167_000, 167_000, 0, 4_000), LIST).free


def with_pause(seconds, hour=False):
    """Two turns, a pause, a reply, whose usage nobody reports; the first writes for an hour where asked."""
    session = Build(usage=False)
    session.prompt()
    session.turns(2)
    session.clock += seconds
    session.reply()
    if hour:
        usage = Usage(0, 0, 9_000, 100, cache_write_1h=9_000)
        session.requests[0] = session.requests[0].__class__(0, 1, usage, model=session.model, timestamp=10.0)
    return weigh(session.done())


@pytest.mark.parametrize(("seconds", "hour", "is_cold"), [
    (290, False, False), (291, False, True), (291, True, False), (3_590, True, False), (3_591, True, True),
])  # fmt: skip
def test_the_recorded_writes_decide_how_long_the_cache_lasts(seconds, hour, is_cold):
    """Idle for more than 300 s, or than 3,600 s where most writes were of an hour; the reply itself takes 10 s."""
    weighed = with_pause(seconds, hour)
    assert cache_use(weighed).lifetime == (3_600 if hour else 300)
    assert cache_use(weighed).cold == (frozenset({2}) if is_cold else frozenset())


def test_writes_of_an_hour_cost_twice_the_input():
    """2 p, not 1.25 p, in the replay too."""
    weighed = with_pause(10, hour=True)
    sums = totals(replay(weighed, "none"))
    price = 3 * (0.1 * sums.cache_read_tokens + 2 * sums.cache_write_tokens) + 15 * sums.output_tokens
    assert sums.cost.low == pytest.approx(price / 1_000_000)


def test_an_unshared_summary_call_is_plain_input_and_a_shared_one_reads_the_cache():
    """k = 1.0 and k = 0.1 of policies 14.1."""
    weighed = weigh(long_session(300, usage=False))
    unshared = totals(replay(weighed, "buzz_handoff", window=100_000))
    events = replay(weighed, "buzz_handoff", window=100_000).events
    assert unshared.input_tokens == sum(e.before_tokens for e in events) > 0
    assert totals(replay(weighed, "claude_code", window=100_000)).input_tokens == 0


def test_event_costs_add_up_to_the_difference_of_two_requests():
    """One entry per event, warm and cold told apart."""
    session = Build()
    session.prompt()
    session.turns(60, tokens=900)
    session.clock += 400
    session.turns(60, tokens=900, start=60)
    session.reply()
    weighed = weigh(session.done())
    result = replay(weighed, "sliding_window", window=75_000)
    costs = event_costs(result)
    assert [c.request for c in costs] == [e.request for e in result.events]
    assert all(c.call == 0 for c in costs)
    (cold,) = cache_use(weighed).cold
    assert [c.cold for c in costs] == [e.request == cold for e in result.events]
    assert all(c.free == (c.rewrite <= 0) for c in costs)


def test_given_prices_replace_the_list_and_cache_prices_follow():
    """input=6 doubles what the cache costs unless that is given too."""
    doubled = prices_of(SONNET, {"input": 6})
    assert (doubled.input, doubled.output, doubled.cache_read, doubled.cache_write) == (6, 15, pytest.approx(0.6), 7.5)
    assert doubled.cache_write_1h == 12
    assert prices_of(SONNET, {"cache_read": 1}).cache_read == 1
    unknown = model_info("a-model-nobody-knows")
    assert prices_of(unknown) is None
    assert prices_of(unknown, {"input": 1, "output": 2}).fresh() == 1
    with pytest.raises(BadParameter, match="give input and output"):
        prices_of(unknown, {"input": 1})
    with pytest.raises(BadParameter, match="known: input, output"):
        prices_of(SONNET, {"read": 1})
    with pytest.raises(BadParameter, match="from 0 on"):
        prices_of(SONNET, {"input": float("nan")})


def test_the_listed_price_of_an_hours_write_is_followed():
    """The list's own figure, not twice the input, where the two differ; it follows a given input price."""
    listed = replace(SONNET, cache_write_1h_price=7.5)
    assert prices_of(listed).cache_write_1h == 7.5
    assert prices_of(listed, {"input": 6}).cache_write_1h == 15
    assert prices_of(replace(SONNET, cache_write_1h_price=None)).cache_write_1h == 6


def test_totals_at_given_prices():
    """Ten times the price, ten times the cost; the tokens stay."""
    result = replay(weigh(long_session(50)), "none")
    ten = prices_of(SONNET, {"input": 30, "output": 150})
    assert totals(result, prices=ten).cost.low == pytest.approx(10 * totals(result).cost.low)
    assert totals(result, prices=ten).cache_read_tokens == totals(result).cache_read_tokens
