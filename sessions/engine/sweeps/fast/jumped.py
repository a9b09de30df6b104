"""A replay as columns, made by jumping from compaction to compaction: field by field what ``replay`` says.

Every event, context, label and sum is at hand; the lists before and after a compaction are made by the walk itself, as
far as somebody looks at them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine import registry
from sessions.engine.by_request import Gates, SentRequests
from sessions.engine.events import ChangeCounts, Event, History, LayerResult
from sessions.engine.leaving import ClearedInPlace
from sessions.engine.policy import LastUsage, State, View
from sessions.engine.prices import step_prices
from sessions.engine.replay import Replay, replay_of, walk_of
from sessions.engine.sweeps.fast.clearing import Clearing
from sessions.engine.sweeps.fast.jump import made_here
from sessions.engine.sweeps.fast.jumper import Jumper
from sessions.engine.sweeps.fast.left import UNTOUCHED
from sessions.engine.sweeps.fast.part import Asked, Partial
from sessions.engine.sweeps.fast.products import FIXED_SIZE
from sessions.engine.sweeps.fast.table import jump_of
from sessions.engine.sweeps.fast.track import track_of
from sessions.engine.sweeps.fast.whole import Whole
from sessions.engine.types import Label

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.cost import Totals
    from sessions.engine.outlines import Outline
    from sessions.engine.policy import Gate, Policy
    from sessions.engine.prices import Prices
    from sessions.engine.sweeps.fast.jump import Course, Jump, Kept
    from sessions.engine.sweeps.fast.part import Leaver
    from sessions.engine.sweeps.fast.track import Track
    from sessions.engine.walk import Walk


class Jumped(NamedTuple):
    """A replay made by jumping, with its totals."""

    replay: Replay
    totals: Totals


def jumped(
    weighed: Weighed, policy: str, *, prices: Prices | None, kept: Kept = made_here, **options: Any
) -> Jumped | None:
    """``replay`` with these options and its ``totals`` at ``prices``; None where it has to go request by request.

    Raises what ``replay`` raises.
    """
    plain = options.get("base", "full") == "full" and not options.get("estimator") and not options.get("fail")
    summarizer = options.get("summarizer", "recorded")
    track = track_of(weighed)
    fixed = summarizer.partition(":")[0] in FIXED_SIZE
    if not (plain and fixed) or track is None or len(set(step_prices(weighed, prices))) > 1:
        return None
    chosen: Policy = registry.get("policies", policy)
    walk = walk_of(weighed, chosen, **options)
    jump = jump_of(weighed, chosen, walk.params, options.get("window"))
    jumper = _jumper(weighed, track, summarizer, kept)
    course = None if jump is None else jumper.course(jump)
    if jump is None or isinstance(jump, Clearing) or course is None or course.has_failed or _is_empty(jumper, course):
        return None
    sums = jumper.totals(
        course, jump, summary_calls=chosen.summary_calls, shares_prefix=chosen.shares_prefix, prices=prices
    )
    return None if sums is None else Jumped(_Columns(jumper, jump, course, walk).replay(summarizer), sums)


def _jumper(weighed: Weighed, track: Track, summarizer: str, kept: Kept) -> Jumper:
    """The jumper of a session and the summarizer used last; it goes when the session goes."""
    held: Jumper | None = vars(weighed).get("jumper")
    if held is None or held.summarizer != summarizer:
        held = vars(weighed)["jumper"] = Jumper(weighed, track, summarizer, kept=kept)
    return held


def _is_empty(jumper: Jumper, course: Course) -> bool:
    """Whether a compaction finds no message that came since the one before: what it calls its newest is older."""
    return any(jumper.track.stops[k] <= start for k, start in zip(course.steps, [0, *course.cuts], strict=False))


class _Columns:
    """A course, with what the walk would say of every request."""

    def __init__(self, jumper: Jumper, jump: Jump | Whole | Partial, course: Course, walk: Walk) -> None:
        self.weighed, self.track, self.course, self.walk = jumper.weighed, jumper.track, course, walk
        self.jumper, self.jump = jumper, jump
        self.body = isinstance(jump, Partial) and jump.is_body
        track, offsets, n = self.track, course.offsets, jumper.track.n_steps
        self.before_usage, heights = True, track.tops
        first = track.overhead + track.tops[0]
        self.leaver = jumper.leaver(jump) if isinstance(jump, Partial) else None
        if isinstance(jump, Whole) and not jump.measure.context:
            ground = jumper.ground(jump.measure)
            self.before_usage, heights, first = False, ground.heights, ground.first
        tops = track.tops
        sent_from, asked_from = [0, *course.steps, n], [0, *(k + 1 for k in course.steps), n]
        self.sent = [h + o for o, (a, b) in zip(offsets, pairwise(sent_from), strict=True) for h in tops[a:b]]
        if self.leaver is None or not isinstance(jump, Partial):
            measures = [h + o for o, (a, b) in zip(offsets, pairwise(asked_from), strict=True) for h in heights[a:b]]
            measures[0] = first
        else:
            measures = self._counted(self.leaver, jump, list(pairwise(asked_from)))
        cached = [0, *map(min, self.sent, self.sent[1:])]
        prefixes = course.prefixes or [track.overhead + track.lead] * len(course.steps)
        for k, left, prefix in zip(course.steps, course.afters, prefixes, strict=True):
            cached[k] = min(self.sent[k - 1], left, prefix) if k else 0
        self.cached = cached
        self.requests = [step.request for step in self.weighed.steps]
        self.places = {request: k for k, request in enumerate(self.requests)}
        self.gates = Gates(self._by_request(measures), jump.limit, self._ask)

    def _counted(self, leaver: Leaver, rule: Partial, spans: list[tuple[int, int]]) -> list[int]:
        """What the gate counts at every step, as it shows it."""
        helds = [UNTOUCHED, *self.course.lefts]
        spans_held = zip(spans, self.course.offsets, helds, strict=True)
        counted = [n for (a, b), offset, held in spans_held for n in leaver.measures(rule, a, b, offset, held)]
        counted[0] = leaver.first()
        off = self.track.overhead if self.body else 0
        return [max(0, n - off) for n in counted] if off else counted

    def _by_request(self, values: Sequence[Any]) -> list[Any]:
        found: list[Any] = [None] * len(self.weighed.transcript.requests)
        for request, value in zip(self.requests, values, strict=True):
            found[request] = value
        return found

    def _ask(self, request: int) -> Gate:
        """The policy's own gate, given what it measures here."""
        k, measure = self.places[request], self.gates.measures[request] or 0
        usage = None if self.before_usage or not k else LastUsage(measure, 0, 0, 0)
        walk = self.walk
        if self.leaver is not None:
            steps = self.course.steps
            n = bisect_left(steps, k)
            held, since = (self.course.lefts[n - 1], k - steps[n - 1]) if n else (UNTOUCHED, None)
            context = self.track.tops[k] + self.course.offsets[n]
            counted = measure + (self.track.overhead if self.body else 0)
            return self.leaver.ask(walk, Asked(k, counted, context, held, since))
        view = View(
            [], request, measure, usage, walk.windows[k], self.weighed.overhead, measure, self.weighed.held[k].model,
            State(), walk.summaries,
        )  # fmt: skip
        return walk.drawn.gate(walk.params, view)

    def replay(self, summarizer: str) -> Replay:
        """What the walk would come to."""
        unrolled, at = _Unrolled(self.walk), self.walk.leaving.cleared_at
        history = History(self.walk.history.moves, _Marks(unrolled))
        made = replace(
            replay_of(self.walk, summarizer),
            context_tokens=tuple(self._by_request(self.sent)),
            labels=tuple(self._by_request(self._labels())),
            gates=self.gates,
            events=tuple(self._event(n, history) for n in range(len(self.course.steps))),
            sent=SentRequests(self.weighed, self.sent, self.cached),
            cleared=tuple(ClearedInPlace(request, 0) for request in self.requests if request in at),
            outlines=_Outlines(unrolled),
        )
        writes = self.leaver is not None and self.leaver.writes
        return replace(made, written=_Written(unrolled)) if writes else made

    def _labels(self) -> list[Label]:
        """As recorded up to the first compaction, recorded or replayed."""
        weighed, steps = self.weighed, self.weighed.steps
        recorded = next((k for k, step in enumerate(steps) if step.compaction is not None), len(steps))
        changed = min([recorded, *self.course.steps[:1]])
        measured, weak = Label.MEASURED, weighed.weak_label
        kept = [measured if label is measured else weak for label in weighed.recorded.labels[:changed]]
        return kept + [weak] * (len(steps) - changed)

    def _event(self, n: int, history: History) -> Event:
        course, track, walk = self.course, self.track, self.walk
        k, cut, after = course.steps[n], course.cuts[n], course.afters[n]
        start, earlier = (course.cuts[n - 1], course.inserted[n - 1]) if n else (0, 0)
        request, before = self.requests[k], course.offsets[n] + track.tops[k]
        gate = self._ask(request)
        inserted, dropped, kept = course.inserted[n], earlier + cut - start, track.n_system + track.stops[k] - cut
        counts = ChangeCounts(kept, 0, dropped, inserted, track.n_system)
        n_calls = int(self.jump.inserted is None)
        if self.leaver is not None and course.calls is not None:
            held = course.lefts[n - 1] if n else UNTOUCHED
            counts, n_calls = self.leaver.counts(held, k, course.lefts[n]), course.calls[n]
        layer = LayerResult(
            walk.drawn.name, walk.drawn.label, gate, before - after, counts.edited, counts.dropped, counts.inserted,
            counts.first,
        )  # fmt: skip
        return Event(
            n, request, track.newest[k], gate, before, after, counts.kept, counts.edited, counts.dropped,
            counts.inserted, counts.first, self.jumper.inserts(None).source[k] if n_calls else "", n_calls, (layer,),
            history,
        )  # fmt: skip


class _Unrolled:
    """The walk of a replay, made as far as somebody looks."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.lock = walk, Lock()

    def up_to(self, n_events: int | None) -> Walk:
        """The walk with its first ``n_events`` compactions made; all of it without."""
        with self.lock:
            self.walk.run(n_events)
        return self.walk


class _Marks(list[int]):
    """Where each event stands in a history that grows as the walk is made."""

    def __init__(self, unrolled: _Unrolled) -> None:
        super().__init__()
        self.unrolled = unrolled

    def __getitem__(self, event: Any) -> Any:
        return self.unrolled.up_to(event + 1).history.marks[event]

    def __iter__(self) -> Iterator[int]:
        return iter(self.unrolled.up_to(None).history.marks)


class _Written(Mapping[str, str]):
    """The texts of inserted items by id, of a walk that is made as far as they are asked for."""

    def __init__(self, unrolled: _Unrolled) -> None:
        self.unrolled = unrolled

    def __getitem__(self, item_id: str) -> str:
        event = item_id.partition(".")[0].removeprefix("e")
        if not item_id.startswith("e") or not event.isdecimal():
            raise KeyError(item_id)
        return self.unrolled.up_to(int(event) + 1).summaries.written[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.unrolled.up_to(None).summaries.written)

    def __len__(self) -> int:
        return len(self.unrolled.up_to(None).summaries.written)


class _Outlines(Mapping[str, "Outline"]):
    """The outlines of summaries by id, of a walk that is made as far as they are asked for."""

    def __init__(self, unrolled: _Unrolled) -> None:
        self.unrolled = unrolled

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, item_id: str) -> Outline:
        found = self.unrolled.walk.summaries.outlines
        if item_id not in found:
            found = self.unrolled.up_to(None).summaries.outlines
        return found[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.unrolled.up_to(None).summaries.outlines)

    def __len__(self) -> int:
        return len(self.unrolled.up_to(None).summaries.outlines)
