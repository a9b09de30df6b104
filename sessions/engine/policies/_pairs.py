"""Mends tool pairs that a list-shortening rule has split (policies 2.5, invariant 1).

Some originals drop a call and keep its result, or the reverse, and leave it to the provider to refuse the request.
What they would send is what ``orphans=keep`` replays; ``drop``, the default, takes the other half out too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from sessions.engine.policies.params import choice
from sessions.engine.policies.policy import Item, View
from sessions.engine.transcript.types import Kind

Spans = Sequence[tuple[int, int]]

NOWHERE = (-1,)


def orphans_param() -> Any:
    """The parameter of policies whose originals may split tool pairs."""
    return choice(
        ("drop", "keep"),
        "Split tool pairs",
        "Drop: the half that is left goes too, so that the request can be sent; keep: as the original leaves it",
    )


FAR = 64
"""Messages between a call and its result from which on a pair is looked at by itself."""


@dataclass(slots=True)
class Pairs:
    """Where a list that only grows makes and answers its calls; blocks without an id are of no pair.

    ``calls`` and ``results`` are positions by id.  ``crossing[n]`` are the ids of which a half stands on either side of
    a cut before position n; ``far`` those of halves far apart, which may stand on either side of any cut.
    """

    n_items: int = 0
    calls: dict[str, list[int]] = field(default_factory=dict)
    results: dict[str, list[int]] = field(default_factory=dict)
    crossing: dict[int, list[str]] = field(default_factory=dict)
    far: list[str] = field(default_factory=list)

    def add(self, items: Iterable[Item]) -> None:
        """More messages."""
        calls, results = self.calls, self.results
        for item in items:
            for places, ids in zip((calls, results), item.message.halves(), strict=True):
                for call in ids:
                    if call in calls or call in results:
                        self._cross(call, self.n_items)
                    places.setdefault(call, []).append(self.n_items)
            self.n_items += 1

    def _cross(self, call: str, position: int) -> None:
        """An id that was seen before is seen again at a position."""
        last = max(self.calls.get(call, NOWHERE)[-1], self.results.get(call, NOWHERE)[-1])
        if position - last > FAR:
            self.far.append(call)
            return
        for cut in range(last + 1, position + 1):
            self.crossing.setdefault(cut, []).append(call)

    def split_by(self, spans: Spans) -> set[str]:
        """Ids of which the list has both halves, and its stretches ``spans`` (from, to) but one."""
        near = [call for span in spans for cut in span for call in self.crossing.get(cut, ())]
        split: set[str] = set()
        for call in (*near, *self.far) if self.far else near:
            made, answered = self.calls.get(call), self.results.get(call)
            if made and answered and _stands(made, spans) != _stands(answered, spans):
                split.add(call)
        return split

    def places(self, ids: Iterable[str], spans: Spans) -> set[int]:
        """Positions in these stretches of the messages that make or answer these calls."""
        found = [place for call in ids for place in (*self.calls[call], *self.results[call])]
        return {place for place in found if _stands((place,), spans)}


def _stands(places: Sequence[int], spans: Spans) -> bool:
    for place in places:
        for start, stop in spans:
            if start <= place < stop:
                return True
    return False


def _halves(items: Iterable[Item]) -> tuple[set[str], set[str]]:
    """Ids of the calls that messages make, and of those that they answer."""
    found = [item.message.halves() for item in items]
    return set[str]().union(*[made for made, _ in found]), set[str]().union(*[answered for _, answered in found])


def left_alone(before: Sequence[Item], after: Sequence[Item]) -> tuple[set[str], set[str]]:
    """Ids of the calls, and of the results, of ``after`` whose other half was in ``before`` and is not any more."""
    calls, results = _halves(after)
    if calls == results:
        return set(), set()
    had_calls, had_results = _halves(before)
    return (calls - results) & had_results, (results - calls) & had_calls


def mended(view: View, before: Sequence[Item], after: Sequence[Item]) -> list[Item]:
    """``after`` without what is ``left_alone``; a message of which nothing is left goes altogether."""
    orphans = set[str]().union(*left_alone(before, after))
    if not orphans:
        return list(after)
    kept: list[Item] = []
    for item in after:
        is_whole = orphans.isdisjoint(item.message.call_ids()) and orphans.isdisjoint(item.message.result_ids())
        kept += [item] if is_whole else without(view, item, orphans)
    return kept


def without(view: View, item: Item, orphans: AbstractSet[str]) -> list[Item]:
    """A message without the calls and results of ``orphans``; none where nothing of it is left."""
    blocks, halves = item.message.blocks, (Kind.TOOL_USE, Kind.TOOL_RESULT)
    which = [block.call_id not in orphans or block.kind not in halves for block in blocks]
    if not any(which):
        return []
    return [view.tools.once(item, "without", which, lambda: view.tools.rewrite(item, list(compress(blocks, which))))]
