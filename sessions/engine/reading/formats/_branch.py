"""The branch that one record of a tree stands on (formats 22, 26, 45), the requests on it and what was cleared there.

Cleared in place are results or thinking that later requests no longer held (formats 60).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import RecordedClearing, Request

RESULTS, THINKING = "results", "thinking"


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


def way_to(nodes: Record, leaf: str, parent: str, children: str) -> list[str]:
    """Keys of the nodes from the root to ``leaf``; where it is none of them, to the last node without ``children``."""
    if leaf not in nodes:
        ends = [key for key, node in nodes.items() if not as_list(as_dict(node).get(children))]
        leaf = ends[-1] if ends else ""
    found: dict[str, None] = {}
    while leaf in nodes and leaf not in found:
        found[leaf] = None
        leaf = text_of(as_dict(nodes[leaf]).get(parent))
    return list(reversed(found))


def next_on_branch(requests: Sequence[Request], n_before: int) -> int:
    """The first request of the branch after ``n_before`` requests; their number where none comes."""
    return next((index for index in range(n_before, len(requests)) if requests[index].on_branch), len(requests))


class Clearing(NamedTuple):
    """A recorded clearing, before its place is known; see ``RecordedClearing``."""

    what: str
    trigger: str | None = None
    n_cleared: int | None = None
    tokens_freed: int | None = None
    calls: tuple[str, ...] = ()


def clearing_at(clearing: Clearing, message: int, n_before: int, requests: Sequence[Request]) -> RecordedClearing:
    """The clearing after ``message`` messages and ``n_before`` requests: the first request of the branch after it."""
    return RecordedClearing(clearing.what, next_on_branch(requests, n_before), message, *clearing[1:])
