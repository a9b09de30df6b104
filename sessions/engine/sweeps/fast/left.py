"""What a compaction leaves of a list, of a policy that keeps a part of it (``part``)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Key = Any
"""A message in a list: its position; position and tokens where it is edited; something of its own where inserted."""


class Left(NamedTuple):
    """What a compaction leaves: ``front``, then the messages from position ``cut`` on.

    ``tokens`` are display tokens with overhead, ``size`` is in the gate's unit.  ``prefix`` are the display tokens that
    stand as in the request before, overhead included.  ``inserted`` messages were put in, ``written`` tokens of them
    are summaries, made by ``calls`` calls.  ``front`` are messages before the cut, ``marks`` the positions before which
    earlier compactions inserted one that still stands; ``memory`` is the policy's own.  ``front_size`` is what stands
    before the cut, system messages included, where the gate goes by the size of the list.
    """

    tokens: int
    size: int
    cut: int
    prefix: int
    inserted: int
    written: int
    calls: int
    front: tuple[Iterable[Key], ...] = ()
    marks: tuple[int, ...] = ()
    memory: Any = None
    front_size: int = 0


MADE = "made"
"""A message that a compaction put in: like no other."""
UNTOUCHED = Left(0, 0, 0, 0, 0, 0, 0)
"""A list before any compaction."""


def place_of(key: Key) -> Key:
    """The position of an original message, edited or not; an inserted one is its own."""
    return key[0] if isinstance(key, tuple) else key


def keys(held: Left, stop: int) -> Iterator[Key]:
    """A list in order, its messages at positions before ``stop``."""
    yield from chain.from_iterable(held.front)
    start = held.cut
    for mark in held.marks:
        yield from range(start, mark)
        yield ("mark", mark)
        start = mark
    yield from range(start, stop)
