"""The branch that one record of a tree stands on (formats 22 and 26), and the requests that are on it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sessions.engine.transcript.types import Request


def branch(links: Sequence[tuple[str, str]], leaf: int) -> list[int]:
    """Positions from the root to ``leaf``, ascending, where ``links`` are the ids of each record and of its parent.

    A record without a parent is the root.  A parent that does not stand before the record is replaced by the record
    before it.
    """
    places: dict[str, list[int]] = {}
    for place, (ident, _) in enumerate(links):
        places.setdefault(ident, []).append(place)
    at, found = leaf, []
    while at >= 0:
        found.append(at)
        parent = links[at][1]
        if not parent:
            break
        named = places.get(parent, [])
        n_above = bisect_left(named, at)
        at = named[n_above - 1] if n_above else at - 1
    return found[::-1]


def next_on_branch(requests: Sequence[Request], n_before: int) -> int:
    """The first request of the branch after ``n_before`` requests; their number where none comes."""
    return next((index for index in range(n_before, len(requests)) if requests[index].on_branch), len(requests))
