"""Goes over a session from compaction to compaction, for many thresholds at once (estimators 17)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import repeat
from operator import add, mul, sub
from typing import TYPE_CHECKING

from sessions.engine import registry
from sessions.engine.caching import WHOLE
from sessions.engine.cost import Totals, bill_of
from sessions.engine.counted import counted
from sessions.engine.summaries import Summaries
from sessions.engine.sweeps.fast.cleared import all_cleared
from sessions.engine.sweeps.fast.cleared import clearable_of as clearing_of
from sessions.engine.sweeps.fast.clearing import Clearing
from sessions.engine.sweeps.fast.field import Field
from sessions.engine.sweeps.fast.jump import Course, Inserts, Tail, made_here
from sessions.engine.sweeps.fast.part import Partial, course_over
from sessions.engine.sweeps.fast.products import kept_products
from sessions.engine.sweeps.fast.refetch import refetched
from sessions.engine.sweeps.fast.whole import Whole, course_of, ground_of
from sessions.engine.walk import THRASH_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.prices import Prices
    from sessions.engine.sweeps.fast.cleared import Clearable
    from sessions.engine.sweeps.fast.counts import Count
    from sessions.engine.sweeps.fast.jump import Jump, Kept
    from sessions.engine.sweeps.fast.part import Edit, Leaver
    from sessions.engine.sweeps.fast.products import Products
    from sessions.engine.sweeps.fast.track import Track
    from sessions.engine.sweeps.fast.whole import Ground, Measure
    from sessions.engine.texts import Texts

ANY = "tiktoken_o200k"
"""What a product measures under an estimator does not matter where only its display tokens count."""


MOST_LEAVERS = 16
"""How many edits are held ready for a session."""


@dataclass
class Jumper:
    """Jumps over one session with one summarizer; tails are made once for every way to keep and shared."""

    weighed: Weighed
    track: Track
    summarizer: str = "recorded"
    texts: Texts | None = None
    kept: Kept = made_here
    _grounds: dict[Measure, Ground] = field(default_factory=dict)
    _tails: dict[tuple[object, ...], Tail] = field(default_factory=dict)
    _inserts: dict[int | None, Inserts] = field(default_factory=dict)
    _fields: dict[Count, Field] = field(default_factory=dict)
    _clearings: dict[tuple[object, ...], Clearable | None] = field(default_factory=dict)
    _leavers: dict[tuple[str, Count, Edit], Leaver | None] = field(default_factory=dict)

    def course(self, jump: Jump | Whole | Partial | Clearing) -> Course | None:
        """Where ``jump`` compacts; None where a replay would have to go request by request, or clears in place."""
        if isinstance(jump, Clearing):
            return None
        if isinstance(jump, Partial):
            leaver = self.leaver(jump)
            return None if leaver is None else course_over(jump, leaver)
        return course_of(jump, self.ground(jump.measure)) if isinstance(jump, Whole) else self._cutting(jump)

    def cleared(self, rules: Sequence[Clearing], prices: Prices | None) -> list[Totals | None]:
        """The totals of settings with one tail that clear in place; None for those that have to be replayed."""
        grounds = self._clearings if self.texts is not None else vars(self.weighed).setdefault("clearings", {})
        key = rules[0].tail_key
        if key not in grounds:
            while len(grounds) >= MOST_LEAVERS:
                grounds.pop(next(iter(grounds)))
            grounds[key] = clearing_of(self._field(rules[0].count), rules[0])
        ground: Clearable | None = grounds[key]
        return [None] * len(rules) if ground is None else all_cleared(ground, rules, prices)

    def leaver(self, jump: Partial) -> Leaver | None:
        """What an edit leaves of this session's lists; made once for a session, where no texts are read."""
        leavers = self._leavers if self.texts is not None else vars(self.weighed).setdefault("leavers", {})
        key = (self.summarizer, jump.count, jump.edit)
        if key not in leavers:
            while len(leavers) >= MOST_LEAVERS:
                leavers.pop(next(iter(leavers)))
            leavers[key] = jump.edit.leaver(self._field(jump.count))
        found: Leaver | None = leavers[key]
        if found is not None:
            self._inserts.setdefault(None, self._inserts_of(found.field.products))
        return found

    def _field(self, count: Count) -> Field:
        found = self._fields.get(count)
        if found is None:
            summaries = self._summaries(count.estimator)
            products = kept_products(summaries, self.kept)
            found = self._fields[count] = Field(self.weighed, self.track, count, products, summaries, self.kept)
        return found

    def ground(self, measure: Measure) -> Ground:
        """The session as a policy that drops the whole list measures it, made once."""
        if measure not in self._grounds:
            made = ground_of(self.track, measure, self._summaries(measure.estimator), self.kept)
            self._grounds[measure] = made
            self._inserts.setdefault(None, self._inserts_of(made.products))
        return self._grounds[measure]

    def _summaries(self, estimator: str) -> Summaries:
        measure = counted(registry.get("estimators", estimator), self.weighed, self.texts)
        return Summaries(self.weighed, self.summarizer, measure)

    def _cutting(self, jump: Jump) -> Course | None:
        limit, track, inserts = jump.limit, self.track, self.inserts(jump.inserted)
        if limit <= 0 or inserts.stay or (jump.keep_messages is None) == (jump.keep_tokens is None):
            return None
        cuts, after = self.tail(jump)
        heights, end = track.heights, len(track.heights)
        long_pairs, breaker = track.long_pairs, jump.breaker
        steps: list[int] = []
        vain: list[tuple[int, int]] = []
        moved: dict[int, tuple[int, int]] = {}
        offsets = [track.overhead]
        offset, start, low, n_failed, failures, still_on = track.overhead, 0, 1, 0, 0, 0
        has_failed = False
        while (j := bisect_left(heights, limit - offset, low)) < end:
            step, low = j - 1, j + 1
            cut, left, height = cuts[step], after[step], heights[j]
            if long_pairs:
                cut, left = moved[step] = self._whole_pairs(jump, cut, start, step)
            if cut <= start or left >= offset + height:
                if cut > start:
                    vain.append((step, offset + height))
                n_failed += 1
                failures += 1
                has_failed = True
                if breaker is not None and failures >= breaker:
                    break
                continue
            failures, offset, start = 0, left - height, cut
            steps.append(step)
            offsets.append(offset)
            if left < limit:
                still_on = 0
                continue
            still_on += 1
            if still_on >= THRASH_LIMIT:
                has_failed = True
                break
        made = [moved.get(k) or (cuts[k], after[k]) for k in steps] if moved else []
        kept = [cut for cut, _ in made] if moved else list(map(cuts.__getitem__, steps))
        lefts = [left for _, left in made] if moved else list(map(after.__getitem__, steps))
        inserted = list(map(inserts.n.__getitem__, steps))
        return Course(steps, kept, lefts, offsets, vain, len(steps) + n_failed, inserted, has_failed=has_failed)

    def tail(self, jump: Jump) -> Tail:
        """Cut and remaining tokens at every step."""
        key = jump.tail_key
        if key not in self._tails:
            track = self.track
            stops, tokens = track.stops, track.tokens
            if jump.keep_messages is not None:
                keep = jump.keep_messages
                cuts = [stop - keep if stop > keep else 0 for stop in stops]
            else:
                budget = jump.keep_tokens or 0
                cuts = [bisect_left(tokens, tokens[stop] - budget) for stop in stops]
            snapped = track.cut_back if jump.snap == "back" else track.cut_forward
            cuts = list(map(snapped.__getitem__, cuts))
            left = map(add, map(track.standing.__getitem__, cuts), track.whole[1:])
            inserted = self.inserts(jump.inserted).tokens
            self._tails[key] = Tail(cuts, [track.overhead + a + b for a, b in zip(left, inserted, strict=True)])
        return self._tails[key]

    def inserts(self, fixed: int | None) -> Inserts:
        """What a compaction at each step inserts: ``fixed`` tokens of no summary, or what the summarizer writes."""
        if fixed not in self._inserts:
            n = self.track.n_steps
            if fixed is not None:
                self._inserts[fixed] = Inserts([fixed] * n, [0] * n, [0] * n, [""] * n, stay=False)
            else:
                self._inserts[None] = self._inserts_of(kept_products(self._summaries(ANY), self.kept))
        return self._inserts[fixed]

    def _inserts_of(self, products: Products) -> Inserts:
        """What these products come to at every step; display tokens are the same whatever a gate measures by."""
        usual, n = products.usual, self.track.n_steps
        made = Inserts([usual.tokens] * n, [usual.summary] * n, [usual.n] * n, [usual.source] * n, products.stay)
        for k, one in products.near.items():
            made.tokens[k], made.summary[k], made.n[k], made.source[k] = one.tokens, one.summary, one.n, one.source
        return made

    def totals(
        self,
        course: Course,
        jump: Jump | Whole | Partial,
        *,
        summary_calls: bool,
        shares_prefix: bool,
        prices: Prices | None,
        again: int | None = None,
    ) -> Totals | None:
        """The totals of a course, field by field those of the replay.

        None where a request would be large enough for other prices.

        ``again`` are the tokens fetched again, where they are known (None: ``refetch.refetched``).
        """
        track, steps, offsets = self.track, course.steps, course.offsets
        heights = track.heights
        marks = [0, *steps, track.n_steps]
        earlier = list(map(add, offsets, map(heights.__getitem__, steps)))
        peak = self._peak(course, earlier)
        if _may_be_large(prices, peak, self._befores(course)):
            return None
        beyond: int = sum(map(mul, offsets, map(sub, marks[1:], marks)))
        sent = beyond + track.sum_of_heights
        read = self._read(course, earlier) + WHOLE * min(track.use.start, self._first(course))
        plain = called = written = n_calls = 0
        if summary_calls and jump.inserted is None:
            befores, calls = self._befores(course), course.calls or [1] * len(steps)
            if course.written is None:
                written = sum(map(self.inserts(None).summary.__getitem__, steps))
            else:
                written = sum(map(mul, course.written, map(bool, calls)))
            n_calls = sum(calls) + len(course.vain)
            called = sum(map(mul, befores, calls)) + sum(tokens for _, tokens in course.vain)
            if shares_prefix:
                # A context that only grows was never larger at the request before.
                shares = map(mul, map(track.use.shares.__getitem__, steps), calls)
                read += sum(map(mul, earlier, shares)) + self._vainly_read(course)
            else:
                plain, called = called, 0
        if again is None:
            again = refetched(track, [course])[0]
        output = track.output + written
        bill = bill_of(prices, track.use, plain=plain, shared=sent + called, read=read, output=output)
        return Totals(
            len(steps), peak, bill.input, bill.read, bill.write, bill.output,
            n_calls, again, bill.cost(prices, again, track.use.blended(prices).fresh() if prices else 0.0),
        )  # fmt: skip

    def _befores(self, course: Course) -> list[int]:
        """What each compaction finds."""
        return list(map(add, course.offsets, map(self.track.tops.__getitem__, course.steps)))

    def _first(self, course: Course) -> int:
        """Tokens that the first request sends."""
        return course.afters[0] if course.steps and not course.steps[0] else self.track.overhead + self.track.tops[0]

    def _read(self, course: Course, earlier: list[int]) -> int:
        """What requests read from the cache, in 65,536ths; one that compacts reads the prefix that did not change."""
        track, steps, offsets = self.track, course.steps, course.offsets
        shares = track.use.shares
        starts = [0, *(track.shares[k + 1] for k in steps)]
        ends = [*(track.shares[k] for k in steps), track.shares[-1]]
        between: int = sum(map(mul, offsets, map(sub, ends, starts)))
        between += track.sum_of_reads - sum(map(track.reads.__getitem__, steps))
        at_events = map(min, earlier, course.afters, course.prefixes or repeat(track.overhead + track.lead))
        read: int = sum(map(mul, at_events, map(shares.__getitem__, steps)))
        return between + read

    def _vainly_read(self, course: Course) -> int:
        """What summary calls made in vain read from the cache, in 65,536ths: the request before, as sent."""
        track, total = self.track, 0
        for step, tokens in course.vain:
            offset = course.offsets[bisect_left(course.steps, step)]
            total += min(tokens, offset + track.heights[step]) * track.use.shares[step]
        return total

    def _peak(self, course: Course, earlier: list[int]) -> int:
        """The largest context sent."""
        track, afters = self.track, course.afters
        first = [] if course.steps and course.steps[0] == 0 else [track.overhead + track.heights[1]]
        last = course.offsets[-1] + track.heights[-1]
        # The context before a first event at step 0 was never sent.
        sent = earlier[1:] if course.steps and course.steps[0] == 0 else earlier
        return max(max(afters, default=last), max(sent, default=last), last, *first)

    def _whole_pairs(self, jump: Jump, cut: int, start: int, step: int) -> tuple[int, int]:
        """Cut and remaining tokens where results may come a request after their calls: no pair in the list is split."""
        track = self.track
        pairs = [(c, r) for c, r in track.long_pairs if start <= c and r < track.stops[step]]
        snapped = track.cut_back if jump.snap == "back" else track.cut_forward
        while split := [(c, r) for c, r in pairs if c < cut <= r]:
            cut = snapped[min(c for c, _ in split) if jump.snap == "back" else max(r for _, r in split) + 1]
        inserted = self.inserts(jump.inserted).tokens[step]
        return cut, track.overhead + inserted + track.standing[cut] + track.whole[step + 1]


def _may_be_large(prices: Prices | None, peak: int, befores: list[int]) -> bool:
    """Whether a request or a summary call has more input than the model's usual prices stand for."""
    return prices is not None and prices.large is not None and max([peak, *befores]) > prices.large[0]
