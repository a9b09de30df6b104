"""What one session adds to the figures over many: worked out once, kept by whoever keeps sessions."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.moments import moment
from sessions.engine.base.registry import plugins
from sessions.engine.costs.cost_fit import request_cost
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.sweeps.fleet.values import (
    ABOVE,
    OVERCOUNTED,
    POLICY,
    RECORDED,
    SUMMARIZER,
    THRESHOLDS,
    Part,
    Tried,
)
from sessions.engine.sweeps.sweep import Setting, sweep
from sessions.engine.transcript.types import Request
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.aftermath import aftermaths
from sessions.engine.why.case import COMPACTION, MISSING
from sessions.engine.why.verdicts import Verdict, is_false, verdicts_of

SURE = ("certain", "likely")
"""A cause that is only possible is not counted."""


def part_of(
    weighed: Weighed,
    verdicts: Sequence[Verdict] | None = None,
    *,
    ident: str = "",
    n_shared: int = 0,
    prices: Prices | None = None,
) -> Part:
    """What a session adds; its first ``n_shared`` requests are copies of another's, and are not counted again.

    A session with copies is not replayed: its beginning would be paid for twice.
    """
    transcript = weighed.transcript
    found = [v for v in (verdicts_of(weighed) if verdicts is None else verdicts) if v.request >= n_shared]
    after = [one for one in aftermaths(weighed) if one.request >= n_shared]
    own = transcript.requests[n_shared:]
    known = plugins("formats").get(transcript.format)
    agent = writer_of(transcript).label or (known.label if known else transcript.format)
    at, version = moment(transcript.started_at), transcript.client
    dollars, above = _spent(weighed, own, prices)
    return Part(
        agent=agent,
        client=version if not version or version.lower().startswith(agent.lower()) else f"{agent} {version}",
        model=transcript.model,
        project=transcript.project,
        week="" if at is None else "{}-W{:02}".format(*at.isocalendar()),
        n_requests=len(own),
        n_compactions=sum(c.request >= n_shared for c in transcript.compactions),
        n_false=sum(v.what == COMPACTION and is_false(v) and v.certainty in SURE for v in found),
        n_refused=sum(e.count for e in transcript.errors if e.request >= n_shared and not e.of_compaction),
        n_missed=sum(v.what == MISSING for v in found),
        n_thrash=sum(one.thrashing for one in after),
        n_overcounted=sum((weighed.worst_overcount(m) or 0) >= OVERCOUNTED for m in transcript.messages),
        tokens_again=sum(one.tokens_again for one in after),
        dollars=dollars,
        dollars_above=above,
        tried=() if n_shared else _tried(weighed, prices),
        id=ident,
    )


def _spent(weighed: Weighed, requests: Sequence[Request], prices: Prices | None) -> tuple[float | None, float | None]:
    """Dollars of these requests, and of those with a large context; None where most of them report no usage."""
    costs = [(r, request_cost(r, weighed, prices)) for r in requests]
    known = [(r, cost) for r, cost in costs if cost is not None]
    if not known or 2 * sum(r.usage is not None for r in requests) < len(requests):
        return None, None
    above = (cost for r, cost in known if r.usage and r.usage.context > ABOVE)
    return sum(cost for _, cost in known), sum(above)


def _tried(weighed: Weighed, prices: Prices | None) -> tuple[Tried, ...]:
    if not weighed.steps:
        return ()
    settings = [
        Setting("none") if at is None else Setting(POLICY, (("share", None), ("tokens", at))) for at in THRESHOLDS
    ]
    swept = sweep(weighed, settings, summarizer=SUMMARIZER, prices=prices or prices_of(weighed.model))
    return tuple(
        Tried(at, row.totals.compactions, cost.low if cost else None, cost.high if cost else None, row.fits)
        for at, row in zip((RECORDED, *THRESHOLDS), (swept.recorded, *swept.rows), strict=True)
        for cost in (row.totals.cost,)
    )
