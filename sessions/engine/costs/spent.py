"""What a session cost as recorded: its usage at the list prices of each request's model (policies 14.3)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.costs.cost import Bill
from sessions.engine.costs.prices import Prices, model_prices
from sessions.engine.transcript.types import Request
from sessions.engine.weigh.calibration.weighed import Weighed


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


def request_cost(request: Request, weighed: Weighed, prices: Prices | None, *, final: bool = False) -> float | None:
    """Dollars of one request's usage, None without usage or price; ``final``: no output that is a placeholder."""
    usage, asked = request.usage, model_prices(request.model, weighed, prices)
    if usage is None or asked is None:
        return None
    output = 0 if final and usage.placeholder else usage.output
    bill = Bill(usage.input, usage.cache_read, usage.cache_write, output, usage.cache_write_1h)
    cost = bill.cost(asked.at(usage.context))
    return None if cost is None else cost.low
