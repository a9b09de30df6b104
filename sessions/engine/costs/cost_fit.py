"""What a session cost as recorded (policies 14.3), and the cost model held against that: how far it is off, and why.

Both are of the requests of the branch with usage.  The causes are told against the rule alone (policies 14.1).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.costs.caching import NO_READS, RECORDED, WHOLE, CacheUse, Pair, cache_use, pairs_of
from sessions.engine.costs.cost import Bill, Totals, bill_of
from sessions.engine.costs.prices import PER_MILLION, Prices, model_prices, prices_of, step_prices
from sessions.engine.transcript.types import Label, Request
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.outputs import outputs

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay


MISSED_MOST = 0.08
"""The share of what could be read that is missed at most where a request's own usage does not tell: more than twice
what 95% of recorded sessions missed (docs/benchmarks/cost.md)."""
CONTEXT_ERRORS = {Label.MEASURED: 0.0, Label.CALIBRATED: 0.05, Label.ESTIMATED: 0.3}
OUTPUT_ERROR = 0.5
"""How far estimated contexts and outputs may be off, as shares; docs/benchmarks/cost.md says how often that holds."""
LEAST_ERROR = 0.005
"""No range is narrower than this to either side, as a share: what rounding and single tokens come to."""
CLOSE = 0.01
"""A request reads what the rule says where it misses at most this share of it."""


class Cause(NamedTuple):
    """Why recorded and rule differ, over how many requests, and by how many dollars (above 0: recorded is dearer)."""

    name: str
    n_requests: int
    dollars: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The requests of the branch that have usage and a price, in dollars; placeholder outputs count nowhere.

    ``recorded`` is measured; ``modelled`` is the model's, within ``least`` to ``most``; ``rule`` what a cache that
    always hits would cost, ``causes`` why that is not what was paid, the dearest first.
    """

    recorded: float
    modelled: float
    least: float
    most: float
    rule: float
    causes: tuple[Cause, ...]
    use: CacheUse

    @property
    def error(self) -> float | None:
        """The model's error as a share of what was recorded, None where that is nothing."""
        return self.modelled / self.recorded - 1 if self.recorded else None

    @property
    def is_within(self) -> bool:
        """Whether what was recorded lies in the model's range."""
        return self.least <= self.recorded <= self.most


def comparison(weighed: Weighed, *, prices: Prices | None = None) -> Comparison | None:
    """Recorded cost against the model's; None where no request of the branch has both usage and a price."""
    requests = [weighed.transcript.requests[step.request] for step in weighed.steps]
    costs = {k: request_cost(r, weighed, prices, final=True) for k, r in enumerate(requests)}
    recorded = {k: cost for k, cost in costs.items() if cost is not None}
    if not recorded:
        return None
    use, pairs = cache_use(weighed), pairs_of(weighed)
    outputs = {k: u.output if (u := requests[k].usage) and not u.placeholder else 0 for k in recorded}
    modelled, least, most = sent_cost(weighed, outputs, prices=prices)
    by_rule = {
        k: _rule_cost(weighed, k, pairs[k], asked) + outputs[k] * asked.output / PER_MILLION
        for k in recorded
        if (asked := _charged(weighed, k, prices))
    }
    names = {k: _cause(weighed, use, k, pairs[k]) for k in recorded}
    causes = []
    for name in dict.fromkeys(names.values()):
        those = [k for k in recorded if names[k] == name]
        causes.append(Cause(name, len(those), sum(recorded[k] - by_rule[k] for k in those)))
    told = sorted((cause for cause in causes if abs(cause.dollars) >= 0.0001), key=lambda cause: -abs(cause.dollars))
    return Comparison(sum(recorded.values()), modelled, least, most, sum(by_rule.values()), tuple(told), use)


def _charged(weighed: Weighed, step: int, prices: Prices | None) -> Prices | None:
    """What a step's request is charged by: its model's prices, by its size."""
    asked = model_prices(weighed.transcript.requests[weighed.steps[step].request].model, weighed, prices)
    return asked and asked.at(weighed.recorded.context[step])


def sent_cost(
    weighed: Weighed, outputs: Mapping[int, int], *, guessed: Container[int] = (), prices: Prices | None = None
) -> tuple[float, float, float]:
    """What the model says of some steps as they were sent, and the range around it, in dollars.

    ``outputs`` are the tokens put out at each of those steps; those at ``guessed`` ones are estimates.
    """
    use, pairs, series = cache_use(weighed), pairs_of(weighed), weighed.recorded
    groups: dict[Prices, list[int]] = {}
    for k in outputs:
        asked = _charged(weighed, k, prices)
        if asked is not None:
            groups.setdefault(asked, []).append(k)
    low = below = above = 0.0
    for asked, steps in groups.items():
        read = sum(pairs[k].prefix * use.shares[k] for k in steps) + (WHOLE * use.start if 0 in steps else 0)
        sent = sum(series.context[k] for k in steps)
        bill = bill_of(asked, use, plain=0, shared=sent, read=read, output=sum(outputs[k] for k in steps))
        cost = bill.cost(asked)
        dollars = cost.low if cost else 0.0
        weak = sum(series.context[k] * CONTEXT_ERRORS[series.labels[k]] for k in steps) / sent if sent else 0.0
        said = sum(outputs[k] for k in steps if k in guessed)
        prefixes = ((k, pairs[k].prefix) for k in steps)
        less, more = _errors(weighed, asked, prefixes, dollars, share=weak, output=said)
        low, below, above = low + dollars, below + less, above + more
    return low, max(0.0, low - below), low + above


def replay_range(replay: Replay, sums: Totals, *, prices: Prices | None = None) -> tuple[float, float] | None:
    """The cost range of a replay with the model's own error, in dollars; None without a price.

    It holds contexts that are not measured, outputs that are estimated, cache reads that no usage reports, and at its
    upper end what is fetched again.
    """
    weighed = replay.weighed
    prices = prices or prices_of(weighed.model)
    if prices is None or sums.cost is None:
        return None
    sent, cached = replay.sent
    labels = [replay.labels[step.request] or Label.MEASURED for step in weighed.steps]
    weak = sum(map(mul, sent, map(CONTEXT_ERRORS.__getitem__, labels)))
    total = sum(sent)
    below, above = _errors(weighed, prices, (), sums.cost.low, share=weak / total if total else 0.0, output=0)
    made, is_guessed, known = outputs(weighed), weighed.guessed, cache_use(weighed).known
    for own, steps in _charged_alike(step_prices(weighed, prices), prices, sent):
        guessed = sum(made[k] for k in steps if is_guessed[k])
        prefixes = ((k, cached[k]) for k in steps if not known[k])
        less, more = _errors(weighed, own, prefixes, 0.0, share=0.0, output=guessed)
        below, above = below + less, above + more
    return max(0.0, sums.cost.low - below), sums.cost.high + above


def _charged_alike(
    asked: Sequence[Prices | None], usual: Prices, sent: Sequence[int]
) -> Iterable[tuple[Prices, Sequence[int]]]:
    """Steps by what they are charged by: all of them at once where every one has one price, whatever its size."""
    alike = set(map(id, asked)) if asked else set()
    only = (asked[0] or usual) if len(alike) == 1 else None
    if only is not None and only.large is None:
        return [(only, range(len(sent)))]
    groups: dict[Prices, list[int]] = {}
    for k, tokens in enumerate(sent):
        groups.setdefault((asked[k] or usual).at(tokens), []).append(k)
    return groups.items()


def _errors(
    weighed: Weighed, prices: Prices, prefixes: Iterable[tuple[int, int]], dollars: float, *, share: float, output: int
) -> tuple[float, float]:
    """Dollars that a cost of ``dollars`` may be too high, and too low.

    ``prefixes`` are steps and what each shares with the one before; ``share`` of the tokens sent may be wrong,
    ``output`` tokens are guessed.
    """
    use = cache_use(weighed)
    dearer = max(0.0, use.blended(prices).fresh() - prices.cache_read) / PER_MILLION
    missed = hit = 0.0
    for k, prefix in prefixes:
        if k and not use.known[k]:
            least, most = _share_range(weighed, use, k)
            usual = use.shares[k] / WHOLE
            missed += prefix * max(0.0, usual - least)
            hit += prefix * max(0.0, most - usual)
    both = dollars * (share + LEAST_ERROR) + output * OUTPUT_ERROR * prices.output / PER_MILLION
    return both + hit * dearer, both + missed * dearer


def _share_range(weighed: Weighed, use: CacheUse, step: int) -> tuple[float, float]:
    """The least and the most that a request may have read where its own usage does not tell."""
    if use.kind == NO_READS:
        return 0.0, 0.0
    if use.kind != RECORDED or weighed.steps[step].restarts or step in use.cold:
        return 0.0, 1.0
    missed = 0.0 if use.rate is None else 2 * (1 - use.rate)
    return max(0.0, 1 - max(MISSED_MOST, missed)), 1.0


def _rule_cost(weighed: Weighed, step: int, pair: Pair, prices: Prices) -> float:
    """Dollars of a request's input by the rule: the prefix is read for the nominal lifetime, the rest is written."""
    sent, use = weighed.recorded.context[step], cache_use(weighed)
    read = 0 if pair.idle is not None and pair.idle > use.nominal else pair.prefix
    return (read * prices.cache_read + (sent - read) * prices.fresh(hour=2 * use.hour > 1)) / PER_MILLION


def _cause(weighed: Weighed, use: CacheUse, step: int, pair: Pair) -> str:
    """Why a request did not cost what the rule says."""
    usage = weighed.transcript.requests[weighed.steps[step].request].usage
    read = usage.cache_read if usage else 0
    late = pair.idle is not None and pair.idle > use.nominal
    reasons = (
        (use.kind == NO_READS, "no cache reads reported at all"),
        (not step and read > 0, "the first request read what other sessions left in the cache"),
        (weighed.steps[step].compaction is not None, "at a recorded compaction"),
        (late and read > 0, "the cache outlived its nominal lifetime"),
        (late, "the cache had expired"),
        (not read and pair.prefix > 0, "nothing read: expired early, or the prefix changed"),
        (read < (1 - CLOSE) * pair.prefix, "only part read: the prefix changed on the way"),
        (read > (1 + CLOSE) * pair.prefix > 0, "more read than the request before sent"),
        (use.written < 1 - CLOSE, "sent without being cached"),
    )
    return next((name for holds, name in reasons if holds), "small differences")


@dataclass(frozen=True, slots=True)
class RecordedCost:
    """Recorded usage at list prices, in dollars.

    ``n_requests`` have usage and a price, ``n_unpriced`` usage alone, ``n_without_usage`` neither; ``n_placeholders``
    outputs were recorded before they were complete.
    """

    dollars: float
    n_requests: int
    n_unpriced: int
    n_placeholders: int
    n_without_usage: int

    @property
    def is_lower_bound(self) -> bool:
        """Whether more was spent than the usage shows."""
        return bool(self.n_unpriced or self.n_placeholders or self.n_without_usage)


def recorded_cost(weighed: Weighed, *, prices: Prices | None = None) -> RecordedCost | None:
    """All recorded usage at list prices, the session's own model's at ``prices``; None where none has a price."""
    return _usage_cost(weighed.transcript.requests, weighed, prices)


def branch_cost(weighed: Weighed, *, prices: Prices | None = None) -> RecordedCost | None:
    """As ``recorded_cost``, of the requests that a replay covers alone."""
    return _usage_cost([weighed.transcript.requests[step.request] for step in weighed.steps], weighed, prices)


def _usage_cost(requests: Sequence[Request], weighed: Weighed, prices: Prices | None) -> RecordedCost | None:
    reported = [r for r in requests if r.usage]
    costs = [request_cost(r, weighed, prices) for r in reported]
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return None
    n_placeholders = sum(r.usage.placeholder for r in reported if r.usage)
    n_unpriced, n_without_usage = len(costs) - len(priced), len(requests) - len(reported)
    return RecordedCost(sum(priced), len(priced), n_unpriced, n_placeholders, n_without_usage)


def request_cost(request: Request, weighed: Weighed, prices: Prices | None, *, final: bool = False) -> float | None:
    """Dollars of one request's usage, None without usage or price; ``final``: no output that is a placeholder."""
    usage, asked = request.usage, model_prices(request.model, weighed, prices)
    if usage is None or asked is None:
        return None
    output = 0 if final and usage.placeholder else usage.output
    bill = Bill(usage.input, usage.cache_read, usage.cache_write, output, usage.cache_write_1h)
    cost = bill.cost(asked.at(usage.context))
    return None if cost is None else cost.low
