"""What jumped compactions drop and the session uses again: ``cost.refetched_tokens``, for many courses at once."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.cost import used_otherwise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.sweeps.fast.jump import Course
    from sessions.engine.sweeps.fast.track import Reuse, Track


MOST_BACK = 8
"""Times the session that cuts may go back in all, from step to step, for one pass to be quicker."""


class Dropped(NamedTuple):
    """What a course drops at a step: the positions from ``start`` to ``cut``; ``number`` is the course's."""

    step: int
    cut: int
    start: int
    number: int


def refetched(track: Track, courses: Sequence[Course]) -> list[int]:
    """Tokens fetched again in every course; quicker where a later step hardly cuts earlier, of whichever course."""
    if not track.reuses:
        return [0] * len(courses)
    # The sums that let a course be counted at once take longer to make than one course does.
    if len(courses) == 1 or track.long_pairs or any(_splits(track, course) for course in courses):
        return [_one_by_one(track, course) for course in courses]
    events = sorted(
        Dropped(step, cut, start, number)
        for number, course in enumerate(courses)
        for step, cut, start in zip(course.steps, course.cuts, [0, *course.cuts], strict=False)
    )
    if sum(max(0, one.cut - other.cut) for one, other in pairwise(events)) > MOST_BACK * track.stops[-1]:
        return [_alone(track, course) for course in courses]
    return _together(track, events, len(courses))


def _splits(track: Track, course: Course) -> bool:
    """Whether a cut stands between a call and its result."""
    return any(track.cut_back[cut] != cut for cut in course.cuts)


def _together(track: Track, events: Sequence[Dropped], n: int) -> list[int]:
    """One pass over the session: at each step that compacts, the standing reuses between its start and its cut."""
    places = track.reuse_places
    totals = [0] * n
    needs = _Needs(track)
    last, end = (-1, -1), 0
    for step, cut, start, number in events:
        if (step, cut) != last:
            end, last = bisect_left(places, cut), (step, cut)
            needs.advance(track.newest[step] + 1, end)
        begin = bisect_left(places, start, 0, end)
        if begin < end:
            totals[number] += sum(needs.tokens[begin:end])
    return totals


def refetched_at(track: Track, places: Sequence[tuple[int, int]]) -> list[int]:
    """Tokens fetched again where all results before a position go at a step; by ``places``, sorted (step, position)."""
    needs, positions, totals = _Needs(track), track.reuse_places, list[int]()
    for step, stop in places:
        needs.advance(track.newest[step] + 1, bisect_left(positions, stop))
        totals.append(sum(needs.tokens[:-1]))
    return totals


class _Needs:
    """Which results would be fetched again had they been dropped: per target the newest whose next use is otherwise."""

    def __init__(self, track: Track) -> None:
        self.reuses = track.reuses
        self.uses = {reuse.target: track.target_uses[reuse.target] for reuse in track.reuses}
        self.queue = track.uses
        self.passed = 0
        self.place = dict.fromkeys(self.uses, 0)
        self.newest: dict[str, dict[str, int]] = {target: {} for target in self.uses}
        self.chosen = dict.fromkeys(self.uses, -1)
        self.tokens = [0] * (len(track.reuses) + 1)
        """By number; the last entry takes what is said of none (-1)."""
        self.entered = 0
        self.earlier: list[int] = []
        """By number: the result before of the same target by the same tool, -1 for none."""
        last: dict[tuple[str, str], int] = {}
        for number, reuse in enumerate(track.reuses):
            self.earlier.append(last.get((reuse.target, reuse.name), -1))
            last[reuse.target, reuse.name] = number

    def advance(self, message: int, end: int) -> None:
        """Uses before ``message`` are over, and results up to number ``end`` would be dropped, fewer or more."""
        touched: set[str] = set()
        stop = bisect_left(self.queue, (message, ""), self.passed)
        for _, target in self.queue[self.passed : stop]:
            self.place[target] += 1
            touched.add(target)
        for number in range(self.entered, end):
            reuse = self.reuses[number]
            self.newest[reuse.target][reuse.name] = number
            touched.add(reuse.target)
        for number in range(self.entered - 1, end - 1, -1):
            reuse = self.reuses[number]
            self.newest[reuse.target][reuse.name] = self.earlier[number]
            touched.add(reuse.target)
        self.passed, self.entered = stop, end
        self._choose(touched)

    def _choose(self, targets: Iterable[str]) -> None:
        for target in targets:
            uses, at = self.uses[target], self.place[target]
            tool, new = uses[at][1] if at < len(uses) else "", -1
            for name, number in self.newest[target].items() if at < len(uses) else ():
                if name != tool and number > new:
                    new = number
            old = self.chosen[target]
            if new != old:
                self.tokens[old] = 0
                self.tokens[new] = self.reuses[new].tokens if new >= 0 else 0
                self.chosen[target] = new


def _alone(track: Track, course: Course) -> int:
    """One course, event by event, where no cut stands between a call and its result.

    What its target's next use came after is counted by sums; where one came before, the target is looked at.
    """
    places, next_use, sums = track.reuse_places, track.next_uses, track.next_sums
    total = begin = 0
    for step, cut in zip(course.steps, course.cuts, strict=True):
        end = bisect_left(places, cut, begin)
        if end > begin:
            message = track.newest[step] + 1
            total += sums[end] - sums[begin]
            late = [n for n, at in enumerate(next_use[begin:end], begin) if at < message]
            for target in {track.reuses[n].target for n in late} if late else ():
                total += _corrected(track, target, begin, end, message)
            begin = end
    return total


def _corrected(track: Track, target: str, begin: int, end: int, message: int) -> int:
    """What of a target is fetched again, less what the sums have of it."""
    numbers, uses, sums = track.reuses_of[target], track.target_uses[target], track.next_sums
    first, last = bisect_left(numbers, begin), bisect_left(numbers, end)
    at = bisect_left(uses, (message, ""))
    tool = uses[at][1] if at < len(uses) else None
    needed = 0
    for n in reversed(numbers[first:last]):
        needed -= sums[n + 1] - sums[n]
    if tool is not None:
        needed += next(
            (track.reuses[n].tokens for n in reversed(numbers[first:last]) if track.reuses[n].name != tool), 0
        )
    return needed


def _one_by_one(track: Track, course: Course) -> int:
    """The same for one course, event by event: alone it is quicker, and a cut may depend on where the list begins."""
    places = track.reuse_places
    total = begin = start = 0
    for step, cut in zip(course.steps, course.cuts, strict=True):
        end = bisect_left(places, cut, begin)
        if end > begin:
            total += _again(track, track.reuses[begin:end], start, track.newest[step] + 1)
            begin = end
        start = cut
    return total


def _again(track: Track, dropped: Sequence[Reuse], start: int, message: int) -> int:
    """Tokens of dropped results that are used otherwise from ``message`` on; the list began at position ``start``."""
    uses = track.target_uses
    newest: dict[str, int] = {}
    for _, call_at, target, name, tokens, last_use in reversed(dropped):
        if target in newest or last_use < message or call_at < start:
            continue
        if used_otherwise(uses[target], name, message):
            newest[target] = tokens
    return sum(newest.values())
