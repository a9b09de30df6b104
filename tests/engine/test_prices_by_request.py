"""Every request is charged by its own model and its own size (policies 14.4); figures worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sessions.engine.costs.breakeven import CompactionTokens, event_cost, event_costs
from sessions.engine.costs.cost import totals
from sessions.engine.costs.cost_fit import comparison, recorded_cost, replay_range
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.models.model_info import OwnModel, model_info, use_own_models
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.regret import optimum
from sessions.engine.sweeps.sweep import grid, read_over, sweep
from sessions.engine.transcript.types import Request, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

LARGE = [
    # Model, the most input at usual prices; dollars a million tokens of input, cache read and output, and above it.
    ("gemini-2.5-pro", 200_000, (1.25, 0.125, 10), (2.5, 0.25, 15)),
    ("gemini-3.1-pro", 200_000, (2, 0.2, 12), (4, 0.4, 18)),
    ("gpt-5.4", 272_000, (2.5, 0.25, 15), (5, 0.5, 22.5)),
    ("gpt-5.6-sol", 272_000, (4, 0.4, 20), (8, 0.8, 30)),
    ("claude-haiku-5-5", 100_000, (0.1, 0.01, 0.5), (0.5, 0.05, 2.5)),
]


def one_request(model: str, usage: Usage) -> Weighed:
    build = Build(model=model, usage=False)
    build.prompt()
    build.reply()
    (request,) = build.requests
    return weigh(replace(build.done(), requests=(replace(request, usage=usage),)))


@pytest.mark.parametrize(("model", "most", "usual", "above"), LARGE)
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_request_is_charged_by_its_size(
    model: str, most: int, usual: tuple[float, ...], above: tuple[float, ...], off: int
) -> None:
    """At the threshold and on both sides of it: all of a request that is above it, cached input and output too."""
    usage = Usage(input=1_000, cache_read=most + off - 1_000, output=2_000)
    into, read, out = above if off > 0 else usual
    spent = recorded_cost(one_request(model, usage))
    assert spent is not None
    assert spent.dollars == pytest.approx((1_000 * into + (most + off - 1_000) * read + 2_000 * out) / 1e6, rel=1e-9)


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "gpt-5", "gemini-2.5-flash"])
def test_a_model_without_other_prices_has_the_same_for_every_size(model: str) -> None:
    prices = prices_of(model_info(model))
    assert prices is not None
    assert prices.at(900_000) is prices


def test_writes_above_the_threshold_have_their_own_fees() -> None:
    prices = prices_of(model_info("claude-haiku-5-5"))
    assert prices is not None
    assert (prices.at(100_000).fresh(), prices.at(100_000).fresh(hour=True)) == (0.125, 0.2)
    assert (prices.at(100_001).fresh(), prices.at(100_001).fresh(hour=True)) == (0.625, 1)
    terra = prices_of(model_info("gpt-5.6-terra"))
    assert terra is not None
    assert terra.at(272_001).fresh() == 5


def test_prices_given_stand_for_large_requests_too() -> None:
    given = prices_of(model_info("gemini-2.5-pro"), {"input": 7})
    assert given is not None
    assert given.at(500_000).input == 7
    use_own_models({"gemini-2.5-pro": OwnModel(1_000_000, prices=(3, 9, None, None, None))})
    try:
        own = prices_of(model_info("gemini-2.5-pro"))
        assert own is not None
        assert own.at(500_000).input == 3
    finally:
        use_own_models({})


def switched(
    n_turns: int = 60, *, at: int = 20, to: str = "claude-haiku-4-5", model: str = "claude-opus-4-6"
) -> Weighed:
    """A session whose requests go to another model from number ``at`` on."""
    made = long_session(n_turns, tokens=900, model=model)
    requests = [r if r.index < at else replace(r, model=to) for r in made.requests]
    return weigh(replace(made, requests=tuple(requests)))


def by_hand(weighed: Weighed, sheet: dict[str, tuple[float, float, float, float]]) -> float:
    """Recorded usage × the sheet: input, cache read, cache write, output of each request's model."""
    dollars = 0.0
    for request in weighed.transcript.requests:
        usage, (into, read, write, out) = request.usage, sheet[request.model]
        assert usage
        dollars += usage.input * into + usage.cache_read * read + usage.cache_write * write + usage.output * out
    return dollars / 1e6


SHEET = {"claude-opus-4-6": (5, 0.5, 6.25, 25), "claude-haiku-4-5": (1, 0.1, 1.25, 5)}


def test_a_replay_charges_every_request_by_its_own_model() -> None:
    """A replay that changes nothing costs what was recorded; by the first model alone it would be far dearer."""
    weighed = switched()
    made = replay(weighed, "none")
    sums, spent = totals(made), recorded_cost(weighed)
    assert sums.cost is not None
    assert spent is not None
    assert spent.dollars == pytest.approx(by_hand(weighed, SHEET), rel=1e-9)
    assert sums.cost.low == pytest.approx(spent.dollars, rel=0.01)
    alone = totals(replay(switched(to="claude-opus-4-6"), "none"))
    assert alone.cost is not None
    assert alone.cost.low > 2 * sums.cost.low
    assert alone.sent_tokens == sums.sent_tokens
    around = replay_range(made, sums)
    assert around is not None
    assert around[0] <= sums.cost.low <= around[1] < alone.cost.low
    compared = comparison(weighed)
    assert compared is not None
    assert compared.is_within


def test_a_request_without_a_price_is_charged_as_the_sessions_own() -> None:
    same, unknown = (totals(replay(switched(to=to), "none")).cost for to in ("claude-opus-4-6", "nobody-knows-1"))
    assert same == unknown
    assert totals(replay(switched(model="nobody-knows-1"), "none")).cost is None


def test_prices_given_are_the_sessions_own_models() -> None:
    weighed = switched()
    free = Prices(0, 0, 0, 0, 0, "given")
    cost = totals(replay(weighed, "none"), prices=free).cost
    rest = {"claude-opus-4-6": (0.0, 0.0, 0.0, 0.0), "claude-haiku-4-5": SHEET["claude-haiku-4-5"]}
    assert cost is not None
    assert cost.low == pytest.approx(by_hand(weighed, rest), rel=0.01)


def test_a_compaction_is_charged_by_the_model_of_its_request() -> None:
    """The same compaction under the dear and under the cheap model: a fifth."""
    for at, share in ((100, 1.0), (1, 0.2)):
        made = replay(switched(at=at), "regenerative_full", window=40_000, summarizer="stub:500")
        plain = replay(switched(at=100), "regenerative_full", window=40_000, summarizer="stub:500")
        costs, dear = event_costs(made), event_costs(plain)
        assert costs
        assert dear
        assert costs[0].call == pytest.approx(share * dear[0].call)
        assert costs[0].saves_per_call == pytest.approx(share * dear[0].saves_per_call)


def test_a_compaction_below_the_threshold_saves_the_dearer_price_too() -> None:
    """260,000 tokens at $0.25 become 100,000 at $0.125 a million tokens read: by hand."""
    prices = prices_of(model_info("gemini-2.5-pro"))
    assert prices is not None
    tokens = CompactionTokens(260_000, 100_000, 0, 260_000)
    found = event_cost(tokens, prices.at(260_000), prices.at(100_000))
    assert found.saves_per_call == pytest.approx((260_000 * 0.25 - 100_000 * 0.125) / 1e6)
    assert found.rewrite == pytest.approx((100_000 * 1.25 - 260_000 * 0.25) / 1e6)


@pytest.mark.parametrize(("model", "alike"), [("gemini-2.5-flash", True), ("gemini-2.5-pro", False)])
def test_a_sweep_costs_what_its_replays_do(model: str, alike: bool) -> None:
    """At 126,000 and 252,000 tokens; where large requests cost more, no cheapest schedule is told."""
    weighed = weigh(long_session(300, tokens=900, model=model))
    axes, settings = grid(["parametric"], [read_over("share=12:24:2")])
    rows = sweep(weighed, settings, axes, summarizer="stub:500").rows
    for row, share in zip(rows, (12, 24), strict=True):
        assert row.totals == totals(replay(weighed, "parametric", params={"share": share}, summarizer="stub:500"))
        assert row.totals.compactions
    assert (optimum(weighed, summarizer="stub:500") is not None) is alike


def test_a_sweep_over_a_switch_of_models_costs_what_its_replays_do() -> None:
    """Where the models' prices are alike, the cheapest schedule is told."""
    for to, alike in (("claude-haiku-4-5", False), ("claude-opus-4-5", True)):
        weighed = switched(to=to)
        axes, settings = grid(["parametric"], [read_over("share=10:20:2")], window=200_000)
        rows = sweep(weighed, settings, axes, summarizer="stub:500").rows
        for row, share in zip(rows, (10, 20), strict=True):
            params = {"share": share}
            made = replay(weighed, "parametric", params=params, window=200_000, summarizer="stub:500")
            assert row.totals == totals(made)
            assert row.totals.compactions
        assert (optimum(weighed, summarizer="stub:500") is not None) is alike


def test_the_summary_call_is_as_large_as_the_list_before() -> None:
    """A list of more than 200,000 tokens is summarised at the prices of a large request, plain input here."""
    weighed = weigh(long_session(300, tokens=900, model="gemini-2.5-pro"))
    made = replay(weighed, "parametric", params={"share": 24}, summarizer="stub:500")
    costs, event = event_costs(made), made.events[0]
    assert event.before_tokens > 200_000 > event.after_tokens
    assert costs
    assert costs[0].call == pytest.approx((event.before_tokens * 2.5 + 500 * 15) / 1e6)


def test_a_request_named_by_a_dated_name_is_the_same_model() -> None:
    made = switched(to="claude-opus-4-6-20260205")
    assert isinstance(made.transcript.requests[-1], Request)
    assert totals(replay(made, "none")).cost == totals(replay(switched(to="claude-opus-4-6"), "none")).cost
