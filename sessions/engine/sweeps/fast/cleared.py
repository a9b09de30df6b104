"""How settings that clear old tool results in place go over a session, all from one run (``clearing``).

Under all triggers the same results are cleared at a request, once the trigger has fired: all but the newest.  So one
run that clears whatever may go is made for a session, with sums from every request to the end; a setting is the plain
session up to its first clearing, and that run from where both have cleared the same.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.caching import WHOLE
from sessions.engine.cost import Totals, bill_of
from sessions.engine.sweeps.fast.clearing import ground_of
from sessions.engine.sweeps.fast.counts import next_over
from sessions.engine.sweeps.fast.refetch import refetched_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.prices import Prices
    from sessions.engine.sweeps.fast.clearing import Clearing, Ground
    from sessions.engine.sweeps.fast.field import Field


class Sent(NamedTuple):
    """What requests come to: tokens sent, read (65,536ths), fetched again, the largest of them, clearings."""

    tokens: int
    read: int
    again: int
    peak: int
    events: int


class Run(NamedTuple):
    """By step: how many results are cleared after it, what is added to the count by then (``Step``); sums to the end.

    ``rest`` and ``least`` have one entry more: what all from a step on come to, and the least that is counted there
    where something may be cleared.
    """

    cleared: list[int]
    beyond: list[int]
    rest: list[Sent]
    least: list[float]


class Step(NamedTuple):
    """Where a run stands: results cleared, what is counted beyond the list as it were uncleared."""

    cleared: int
    beyond: int


def step_over(ground: Ground, at: Step, step: int) -> Step:
    """A clearing of all that may go at a step; one that frees nothing is not made.

    A gate that goes by size is told what clearing took off, and adds up what attempts in vain would have, too.
    """
    n, taken = ground.may_go[step], ground.taken
    if taken[n] < taken[at.cleared]:
        return Step(n, at.beyond)
    more = (
        ground.sizes_taken[at.cleared] - ground.sizes_taken[n] if ground.rule.by_size and taken[at.cleared] < 0 else 0
    )
    return Step(at.cleared, at.beyond + more)


def plain_of(ground: Ground) -> list[Sent]:
    """What the requests before every step come to, nothing cleared."""
    track, found, last = ground.field.track, [Sent(0, 0, 0, 0, 0)], 0
    for step, share in enumerate(track.use.shares):
        tokens, total = ground.sent(step, 0), found[-1]
        read = total.read + (min(last, tokens) * share if step else 0)
        found.append(Sent(total.tokens + tokens, read, 0, max(total.peak, tokens), 0))
        last = tokens
    return found


def run_of(ground: Ground) -> Run:
    """Step by step; then its sums."""
    track, at, last = ground.field.track, Step(0, 0), 0
    cleared, beyond, each, counts = list[int](), list[int](), list[Sent](), list[float]()
    for step, share in enumerate(track.use.shares):
        old, is_event = at, False
        counts.append(float("inf"))
        if ground.may_go[step] > at.cleared:
            counts[-1] = ground.counts[step] + at.beyond
            at = step_over(ground, at, step)
            is_event = at.cleared > old.cleared
        tokens = ground.sent(step, at.cleared)
        read = ground.cached(step, old.cleared, last) if is_event else last
        again = ground.again(old.cleared, at.cleared, step) if is_event else 0
        each.append(Sent(tokens, min(read, tokens) * share if step else 0, again, tokens, int(is_event)))
        cleared.append(at.cleared)
        beyond.append(at.beyond)
        last = tokens
    rest = list(accumulate(reversed(each), added, initial=Sent(0, 0, 0, 0, 0)))[::-1]
    return Run(cleared, beyond, rest, list(accumulate(reversed(counts), min, initial=float("inf")))[::-1])


class Clearable(NamedTuple):
    """A session under one way to clear: its plain requests, and the run that clears whatever may go."""

    ground: Ground
    plain: list[Sent]
    run: Run


def clearable_of(field: Field, rule: Clearing) -> Clearable | None:
    """None where sums do not say exactly what is cleared, or a context would fall below 0."""
    ground = ground_of(field, rule)
    if ground is None:
        return None
    track, plain, run = field.track, plain_of(ground), run_of(ground)
    low = min(map(ground.sent, range(track.n_steps), run.cleared))
    return None if min(low, min(track.tops) + track.overhead) < 0 else Clearable(ground, plain, run)


def added(one: Sent, other: Sent) -> Sent:
    """Two stretches as one."""
    return Sent(
        one.tokens + other.tokens, one.read + other.read, one.again + other.again, max(one.peak, other.peak),
        one.events + other.events,
    )  # fmt: skip


class Cleared(NamedTuple):
    """What a setting comes to beside what its first clearing makes necessary again: where that was, if anywhere."""

    sent: Sent
    first: tuple[int, int] | None


def cleared_by(rule: Clearing, here: Clearable) -> Cleared | None:
    """A setting; None where its trigger is not reached again later, or a context would fall below 0."""
    ground, plain, run = here
    end, counts = ground.field.track.n_steps, ground.counts
    enough = bisect_left(ground.cleared_weights, rule.least)
    low = bisect_left(ground.may_go, max(1, enough))
    step = next_over(counts, ground.peaks, low, rule.trigger + 1)
    total, shares = plain[step], ground.field.track.use.shares
    at, first = Step(0, 0), None
    last = ground.sent(step - 1, 0) if step else 0
    while step < end:
        old = at
        if ground.may_go[step] > at.cleared and counts[step] + at.beyond > rule.trigger:
            at = step_over(ground, at, step)
        is_event = at.cleared > old.cleared
        again = ground.again(old.cleared, at.cleared, step) if is_event and first else 0
        if is_event and first is None:
            first = (step, at.cleared)
        tokens = ground.sent(step, at.cleared)
        if tokens < 0:
            return None
        read = ground.cached(step, old.cleared, last) if is_event else last
        total = added(
            total, Sent(tokens, min(read, tokens) * shares[step] if step else 0, again, tokens, int(is_event))
        )
        last, step = tokens, step + 1
        if first and at.cleared == run.cleared[step - 1]:
            if run.least[step] + at.beyond - run.beyond[step - 1] <= rule.trigger:
                return None
            return Cleared(added(total, run.rest[step]), first)
    return Cleared(total, first)


def all_cleared(here: Clearable, rules: Sequence[Clearing], prices: Prices | None) -> list[Totals | None]:
    """The totals of settings that share their ground; None for those that have to be replayed."""
    ground, track = here.ground, here.ground.field.track
    found = [cleared_by(rule, here) for rule in rules]
    places = ground.results.positions
    firsts = sorted({one.first for one in found if one is not None and one.first is not None})
    again = dict(zip(firsts, refetched_at(track, [(k, places[n - 1] + 1) for k, n in firsts]), strict=True))
    return [None if one is None else _totals(ground, one, again, prices) for one in found]


def _totals(
    ground: Ground, one: Cleared, agains: Mapping[tuple[int, int], int], prices: Prices | None
) -> Totals | None:
    """None where a request would be large enough for other prices, as in ``Jumper.totals``."""
    track, sent = ground.field.track, one.sent
    again = sent.again + (0 if one.first is None else agains[one.first])
    if prices is not None and prices.large is not None and sent.peak > prices.large[0]:
        return None
    read = sent.read + WHOLE * min(
        track.use.start, ground.sent(0, one.first[1] if one.first and not one.first[0] else 0)
    )
    bill = bill_of(prices, track.use, plain=0, shared=sent.tokens, read=read, output=track.output)
    fresh = track.use.blended(prices).fresh() if prices else 0.0
    return Totals(
        sent.events,
        sent.peak,
        bill.input,
        bill.read,
        bill.write,
        bill.output,
        0,
        again,
        bill.cost(prices, again, fresh),
    )
