"""What jumped compactions drop and the session uses again: ``cost.refetched_tokens``, for many courses at once."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from sessions.engine.cost import used_otherwise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.sweeps.fast.jump import Course
    from sessions.engine.sweeps.fast.track import Reuse, Track


def refetched(track: Track, courses: Sequence[Course]) -> list[int]:
    """Tokens fetched again in every course; all must have been made with one tail (cut a function of the step)."""
    if not track.reuses:
        return [0] * len(courses)
    if track.long_pairs or len(courses) == 1 or any(_splits(track, course) for course in courses):
        return [_one_by_one(track, course) for course in courses]
    return _together(track, courses)


def _splits(track: Track, course: Course) -> bool:
    """Whether a cut stands between a call and its result."""
    return any(track.cut_back[cut] != cut for cut in course.cuts)


def _together(track: Track, courses: Sequence[Course]) -> list[int]:
    """One pass over the session: at each step that compacts, the standing reuses between its start and its cut."""
    events = sorted(
        (step, cut, start, number)
        for number, course in enumerate(courses)
        for step, cut, start in zip(course.steps, course.cuts, [0, *course.cuts], strict=False)
    )
    places = [reuse.position for reuse in track.reuses]
    totals = [0] * len(courses)
    needs = _Needs(track)
    last_step, end = -1, 0
    for step, cut, start, number in events:
        if step != last_step:
            end, last_step = bisect_left(places, cut, end), step
            needs.advance(track.newest[step] + 1, end)
        begin = bisect_left(places, start, 0, end)
        if begin < end:
            totals[number] += sum(needs.tokens[begin:end])
    return totals


def refetched_at(track: Track, places: Sequence[tuple[int, int]]) -> list[int]:
    """Tokens fetched again where all results before a position go at a step; ``places`` are (step, position), rising."""
    needs, positions, totals = _Needs(track), [reuse.position for reuse in track.reuses], list[int]()
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

    def advance(self, message: int, end: int) -> None:
        """Uses before ``message`` are over, and results up to number ``end`` would be dropped."""
        touched: set[str] = set()
        stop = bisect_left(self.queue, (message, ""), self.passed)
        for _, target in self.queue[self.passed : stop]:
            self.place[target] += 1
            touched.add(target)
        for number in range(self.entered, end):
            reuse = self.reuses[number]
            self.newest[reuse.target][reuse.name] = number
            touched.add(reuse.target)
        self.passed, self.entered = stop, max(self.entered, end)
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


def _one_by_one(track: Track, course: Course) -> int:
    """The same for one course, event by event: alone it is quicker, and a cut may depend on where the list begins."""
    places = [reuse.position for reuse in track.reuses]
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
