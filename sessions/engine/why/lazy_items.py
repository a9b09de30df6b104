"""A list of messages that is made where somebody looks at it: what a gate is shown of a session at a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import overload

from sessions.engine.policies.policy import Item
from sessions.engine.replays.context import holds_result


class LazyItems(Sequence[Item]):
    """The messages from ``start`` to before ``stop`` as ``made`` makes them, after ``stub`` if there is one.

    It is the same list as long as it only grows, so that a gate which remembers how far it has looked reads what is
    new (``policies._looked``).
    """

    def __init__(self, made: Callable[[int], Item], start: int, stub: Item | None) -> None:
        self.made, self.start, self.stop, self.stub = made, start, start, stub

    def __len__(self) -> int:
        return self.stop - self.start + (self.stub is not None)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            first = self.start - (self.stub is not None)
            made, stub = self.made, self.stub
            return [stub if n < self.start and stub else made(n) for n in range(first, self.stop)[at]]
        n = at if at >= 0 else at + len(self)
        if not 0 <= n < len(self):
            raise IndexError(at)
        if self.stub is None:
            return self.made(self.start + n)
        return self.made(self.start + n - 1) if n else self.stub


class LazyPlaces(Sequence[int]):
    """Positions of the messages of a list that hold tool results."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    @cached_property
    def found(self) -> list[int]:
        """All of them, in order."""
        return [n for n, item in enumerate(self.items) if holds_result(item)]

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        return self.found[at]
