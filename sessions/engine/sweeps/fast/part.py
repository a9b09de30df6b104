"""Policies that leave a part of the list, replayed by jumping from compaction to compaction (estimators 17).

Their gate is, between two compactions, one figure for each step and a constant offset (``counts``); what a compaction
at a step leaves is worked out by the policy's ``Leaver`` from prefix sums.  Where that cannot be said exactly (an edit
fails, or several in a row may leave the gate on), the course is None: such a setting is replayed request by request.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sessions.engine.events import ChangeCounts
from sessions.engine.policy import LastUsage, State, View
from sessions.engine.sweeps.fast.counts import Count, next_over
from sessions.engine.sweeps.fast.jump import Course
from sessions.engine.sweeps.fast.left import MADE, UNTOUCHED, keys, place_of
from sessions.engine.walk import BREAKER, THRASH_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.policy import Gate, Item
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.left import Key, Left
    from sessions.engine.walk import Walk

MOST_HELD = 20_000
"""How many values of a kind are held by a leaver."""


class Edit(Protocol):
    """An edit with its settings: hashable, and made ready for a session once."""

    def leaver(self, field: Field) -> Leaver | None:
        """What it leaves of a session's lists; None of a session where it could not be exact."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A policy as numbers: it fires at ``limit`` and more of what it counts, or at more than ``most`` display tokens.

    It does not fire at the ``pause`` requests after a compaction.  ``is_body``: the overhead is not counted.
    ``is_cheap`` as ``Layer.cheap``: an edit that frees nothing is no attempt.  ``inserted`` as ``Jump.inserted``.
    """

    limit: int
    count: Count
    edit: Edit
    most: int | None = None
    pause: int = 0
    is_body: bool = False
    is_cheap: bool = False
    inserted: None = None

    @property
    def tail_key(self) -> tuple[object, ...]:
        """What decides on the cut at a step."""
        return ("part", self.count, self.edit)


class Asked(NamedTuple):
    """What a gate is asked at a step: what it counts, the context in display tokens, what the last compaction left.

    ``since`` is how many steps ago that was; None where there was none.
    """

    step: int
    measure: int
    context: int
    held: Left
    since: int | None


class Leaver:
    """What one edit leaves of one session's lists; ``values`` and ``prefixes`` were worked out before."""

    writes = False
    """Whether it puts in messages with words of their own."""
    leaves_no_trace = False
    """Whether nothing remembers an attempt that freed nothing."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.values: dict[Any, Any] = {}
        self.prefixes: dict[tuple[int, int], tuple[int, object, object]] = {}

    def first(self) -> int:
        """What is counted before any usage."""
        return self.field.first

    def starts_over(self, rule: Partial) -> bool:
        """Whether the gate may fire before any usage."""
        return self.first() >= self.least(rule)

    def least(self, rule: Partial) -> int:
        """What is counted at least where the gate fires, overhead included."""
        return rule.limit + (self.field.track.overhead if rule.is_body else 0)

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """What a compaction at a step leaves of the list that ``held`` and later messages are; ``before`` tokens.

        None where that cannot be said exactly.
        """
        raise NotImplementedError

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """The first step from ``low`` at which the gate fires; the number of steps where it does not.

        None where another layer may act before.
        """
        del held
        here = self.field
        found = next_over(here.heights, here.peaks, low, self.least(rule) - offset)
        if rule.most is not None:
            tops, peaks = here.track.tops, here.tops_peaks
            found = min(found, next_over(tops, peaks, low, rule.most + 1 - offset))
        return found

    def measures(self, rule: Partial, start: int, stop: int, offset: int, held: Left) -> list[int]:
        """What the gate counts at the steps ``start`` to ``stop``."""
        del rule, held
        return [height + offset for height in self.field.heights[start:stop]]

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """Whether the gate may fire on what is left: three times in a row would stop the policy."""
        return max(left.tokens, left.size + self.field.track.overhead) >= rule.limit

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """The policy's own gate at a step."""
        return walk.drawn.gate(walk.params, self.view(walk, asked))

    def view(self, walk: Walk, asked: Asked) -> View:
        """A view of a step whose list is not made; its usage comes to what is counted."""
        weighed, (step, measure, context, _, _) = self.field.weighed, asked
        items: list[Item] = []
        return View(
            items, weighed.steps[step].request, measure - weighed.overhead,
            LastUsage(measure, 0, 0, 0) if step else None, walk.windows[step], weighed.overhead, context,
            weighed.held[step].model, State(), walk.summaries,
        )  # fmt: skip

    def shared(self, held: Left, step: int, after: tuple[Iterable[Key], ...], cut: int) -> int:
        """``prefix`` of a front that is one object wherever it is the same, and holds something inserted."""
        if self.field.track.stops[step - 1] <= held.cut + len(after) + sum(map(len, after)):  # type: ignore[arg-type]
            return self.prefix(held, step, after, cut)
        key = (id(held.front) if held.front else 0, id(after))
        found = self.prefixes.get(key)
        if found is None:
            if len(self.prefixes) >= MOST_HELD:
                self.prefixes.clear()
            found = self.prefixes[key] = (self.prefix(held, step, after, cut), held.front, after)
        return found[0]

    def prefix(self, held: Left, step: int, after: tuple[Iterable[Key], ...], cut: int) -> int:
        """Display tokens with overhead of the messages that both the request before and the one at ``step`` begin with.

        ``after`` and the messages from ``cut`` on are the new list.
        """
        here, stop = self.field, self.field.track.stops
        old = keys(held, stop[step - 1])
        new = chain(chain.from_iterable(after), range(cut, stop[step]))
        same: list[Key] = []
        for one, other in zip(old, new, strict=False):
            if one != other or one is MADE:
                break
            same.append(one)
        return here.track.overhead + here.lead + (here.weigh(same) if same else 0)

    def counts(self, held: Left, step: int, left: Left) -> ChangeCounts:
        """How many messages a compaction kept, edited, dropped and inserted."""
        here = self.field
        stop, n_system = here.track.stops[step], here.track.n_system
        front = list(chain.from_iterable(held.front))
        known = {place_of(key): key for key in front}
        n_before = n_system + len(front) + len(held.marks) + stop - held.cut
        kept, edited = n_system + stop - left.cut + sum(mark > left.cut for mark in held.marks), 0
        for key in chain.from_iterable(left.front):
            if key is MADE:
                continue
            place = place_of(key)
            old = known.get(place, place if isinstance(place, int) and held.cut <= place < stop else None)
            if old is not None:
                kept, edited = kept + (old == key), edited + (old != key)
        first = n_system
        for one, other in zip(keys(held, stop), keys(left, stop), strict=False):
            if one != other or one is MADE:
                break
            first += 1
        return ChangeCounts(kept, edited, n_before - kept - edited, left.inserted, first)


def course_over(rule: Partial, leaver: Leaver) -> Course | None:
    """Where a policy compacts and what it leaves; None where a replay would have to go request by request."""
    here = leaver.field
    track, end = here.track, here.track.n_steps
    tops, stops = track.tops, track.stops
    if rule.limit <= 0 or here.products.stay or leaver.starts_over(rule):
        return None
    if rule.most is not None and track.overhead + tops[0] > rule.most:
        return None
    held, offset, low, failures, still_on = UNTOUCHED, track.overhead, 1, 0, 0
    steps: list[int] = []
    lefts: list[Left] = []
    offsets = [offset]
    vain: list[tuple[int, int]] = []
    has_failed = False
    while True:
        step = leaver.next(rule, low, offset, held)
        if step is None:
            return None
        if step >= end:
            break
        before = offset + tops[step]
        left = leaver.leave(rule, held, step, before) if stops[step] > stops[step - 1] else None
        if left is None or (left.tokens >= before and not leaver.leaves_no_trace):
            return None
        if left.tokens >= before:
            low = step + 1
            if not rule.is_cheap:
                vain += [(step, before)] * left.calls
                failures, has_failed = failures + 1, True
            if failures >= BREAKER:
                break
            continue
        still_on = still_on + 1 if leaver.may_stay_on(rule, left) else 0
        if still_on >= THRASH_LIMIT and not rule.is_cheap:
            return None
        held, offset, failures = left, left.tokens - tops[step], 0
        low = step + 1 + rule.pause
        steps.append(step)
        lefts.append(left)
        offsets.append(offset)
    return Course(
        steps, [left.cut for left in lefts], [left.tokens for left in lefts], offsets, vain, len(steps) + len(vain),
        [left.inserted for left in lefts], has_failed=has_failed, prefixes=[left.prefix for left in lefts],
        written=[left.written for left in lefts], calls=[left.calls for left in lefts], lefts=tuple(lefts),
    )  # fmt: skip
