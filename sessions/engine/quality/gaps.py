"""Gaps: from where a reference last stood to where the agent next names it, with nothing in between that says it.

A compaction inside a gap can make the agent miss the reference; one outside cannot.  Sweeps ask for gaps alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import merge
from typing import NamedTuple

Places = Sequence[Sequence[int]]

BUCKET = 64


class Gap(NamedTuple):
    """A reference stood in message ``start`` (−1: only in what a compaction wrote) and is named next in ``stop``."""

    stop: int
    reference: int
    start: int


class Gaps:
    """All gaps of a session, found by a message inside them."""

    def __init__(self, n_messages: int, uses: Places, given: Places, places: Places) -> None:
        """By reference, in order: the messages that use it, those that a tool gave it in, those where it stands."""
        self._buckets: list[list[Gap]] = [[] for _ in range(n_messages // BUCKET + 1)]
        for gap in _all(uses, given, places):
            for bucket in range(max(0, gap.start) // BUCKET, (gap.stop - 1) // BUCKET + 1):
                self._buckets[bucket].append(gap)

    def across(self, message: int) -> list[Gap]:
        """The gaps with ``start`` ≤ ``message`` < ``stop``: what a compaction right after it can lose; by ``stop``."""
        return sorted([gap for gap in self.near(message) if gap.start <= message < gap.stop])

    def near(self, message: int) -> Sequence[Gap]:
        """Gaps among which those across ``message`` are, in no order."""
        return self._buckets[message // BUCKET] if message >= 0 else ()


def _all(uses: Places, given: Places, places: Places) -> Iterator[Gap]:
    for reference, used in enumerate(uses):
        if not used:
            continue
        said = list(merge(used, given[reference]))
        for use in used:
            at = bisect_left(said, use)
            if at:
                yield Gap(use, reference, said[at - 1])
            elif places[reference][0] < use:
                yield Gap(use, reference, -1)
