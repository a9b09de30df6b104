"""What jumped compactions drop and the session uses again: ``cost.refetched_tokens``, for many courses at once."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from sessions.engine.cost import used_otherwise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.jump import Course
    from sessions.engine.track import Reuse, Track


def refetched(track: Track, courses: Sequence[Course]) -> list[int]:
    """Tokens fetched again in every course; all must have been made with one tail (cut a function of the step)."""
    if not track.reuses:
        return [0] * len(courses)
    if track.long_pairs:
        return [_one_by_one(track, course) for course in courses]
    return _together(track, courses)


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
    last_step, last_cut, end = -1, -1, 0
    for step, cut, start, number in events:
        if step != last_step:
            needs.pass_uses(newest_message(track, step) + 1)
            last_step = step
        if cut != last_cut:
            end, last_cut = bisect_left(places, cut, end), cut
            needs.enter(end)
        begin = bisect_left(places, start, 0, end)
        if begin < end:
            totals[number] += sum(needs.tokens[begin:end])
    return totals


class _Needs:
    """Which results would be fetched again had they been dropped: per target the newest whose next use is otherwise."""

    def __init__(self, track: Track) -> None:
        self.reuses = track.reuses
        self.uses = {reuse.target: track.weighed.target_uses[reuse.target] for reuse in track.reuses}
        self.queue = track.uses
        self.passed = 0
        self.place = dict.fromkeys(self.uses, 0)
        self.newest: dict[str, dict[str, int]] = {target: {} for target in self.uses}
        self.chosen: dict[str, int] = {}
        self.tokens = [0] * len(track.reuses)
        self.entered = 0

    def pass_uses(self, message: int) -> None:
        """Uses before ``message`` are over."""
        stop = bisect_left(self.queue, (message, ""), self.passed)
        touched = [target for _, target in self.queue[self.passed : stop]]
        self.passed = stop
        for target in touched:
            self.place[target] += 1
        self._choose(dict.fromkeys(touched))

    def enter(self, end: int) -> None:
        """Results up to number ``end`` would be dropped."""
        touched: dict[str, None] = {}
        for number in range(self.entered, end):
            reuse = self.reuses[number]
            self.newest[reuse.target][reuse.name] = number
            touched[reuse.target] = None
        self.entered = max(self.entered, end)
        self._choose(touched)

    def _choose(self, targets: Iterable[str]) -> None:
        for target in targets:
            old = self.chosen.pop(target, -1)
            if old >= 0:
                self.tokens[old] = 0
            uses, at = self.uses[target], self.place[target]
            if at == len(uses):
                continue
            tool = uses[at][1]
            new = max((number for name, number in self.newest[target].items() if name != tool), default=-1)
            if new >= 0:
                self.chosen[target] = new
                self.tokens[new] = self.reuses[new].tokens


def _one_by_one(track: Track, course: Course) -> int:
    """The same for one course, event by event: for sessions where a cut depends on where the list begins."""
    places = [reuse.position for reuse in track.reuses]
    total = begin = start = 0
    for step, cut in zip(course.steps, course.cuts, strict=True):
        end = bisect_left(places, cut, begin)
        if end > begin:
            total += _again(track, track.reuses[begin:end], start, newest_message(track, step) + 1)
            begin = end
        start = cut
    return total


def _again(track: Track, dropped: Sequence[Reuse], start: int, message: int) -> int:
    """Tokens of dropped results that are used otherwise from ``message`` on; the list began at position ``start``."""
    uses = track.weighed.target_uses
    newest = {
        target: tokens
        for _, call_at, target, name, tokens, last_use in dropped
        if last_use >= message and call_at >= start and used_otherwise(uses[target], name, message)
    }
    return sum(newest.values())


def newest_message(track: Track, step: int) -> int:
    """The newest message of the list before a compaction at ``step``."""
    out, stop = track.weighed.left_out, track.weighed.steps[step].stop - 1
    while stop in out:
        stop -= 1
    return stop
