"""What a session cost as recorded: its usage at the list prices of each request's model (policies 14.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.cost import Bill, Cost, Totals
from sessions.engine.prices import request_prices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.prices import Prices
    from sessions.engine.types import Request, Usage


@dataclass(frozen=True, slots=True)
class RecordedCost:
    """Recorded usage at list prices, in dollars, off the branch too.

    ``n_requests`` have usage and a price, ``n_unpriced`` usage alone; ``n_placeholders`` outputs were recorded before
    they were complete.
    """

    dollars: float
    n_requests: int
    n_unpriced: int
    n_placeholders: int

    @property
    def is_lower_bound(self) -> bool:
        """Whether more was spent than the usage shows."""
        return bool(self.n_unpriced or self.n_placeholders)


def recorded_cost(weighed: Weighed, *, prices: Prices | None = None) -> RecordedCost | None:
    """Every recorded usage at the list price of its request's model; ``prices`` are the session's own model's.

    None where no usage is recorded, or none has a price.
    """
    reported = [r for r in weighed.transcript.requests if r.usage]
    costs = [request_cost(r, weighed, prices) for r in reported]
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return None
    n_placeholders = sum(r.usage.placeholder for r in reported if r.usage)
    return RecordedCost(sum(priced), len(priced), len(costs) - len(priced), n_placeholders)


def recorded_totals(weighed: Weighed, *, prices: Prices | None = None) -> Totals | None:
    """The totals of a replay as the recording's own usage reports them, off the branch too; None where it has none.

    ``summary_calls`` counts the recorded compactions; their tokens are in the sums only where their usage is reported.
    """
    usages = [r.usage for r in weighed.transcript.requests if r.usage]
    if not usages:
        return None
    bill, spent = _bill(usages), recorded_cost(weighed, prices=prices)
    n_compactions = len(weighed.transcript.compactions)
    return Totals(
        n_compactions, max(u.context for u in usages), bill.input, bill.read, bill.write, bill.output,
        summary_calls=n_compactions, refetched_tokens=0, cost=Cost(spent.dollars, spent.dollars) if spent else None,
    )  # fmt: skip


def request_cost(request: Request, weighed: Weighed, prices: Prices | None, *, final: bool = False) -> float | None:
    """Dollars of one request's usage, None without usage or price; ``final``: no output that is a placeholder."""
    usage, asked = request.usage, request_prices(request, weighed, prices)
    if usage is None or asked is None:
        return None
    output = 0 if final and usage.placeholder else usage.output
    bill = Bill(usage.input, usage.cache_read, usage.cache_write, output, usage.cache_write_1h)
    cost = bill.cost(asked.at(usage.context))
    return None if cost is None else cost.low


def _bill(usages: Iterable[Usage]) -> Bill:
    known = list(usages)
    return Bill(
        sum(u.input for u in known),
        sum(u.cache_read for u in known),
        sum(u.cache_write for u in known),
        sum(u.output for u in known),
        sum(u.cache_write_1h for u in known),
    )
