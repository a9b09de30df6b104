"""Values that come by the hundred thousand and are looked at in their order: packed in parts, a few of them open.

A session of a gigabyte has 400,000 lines and 280,000 messages, of 1 to 2 kB each as objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import tee
from typing import Generic, TypeVar

from sessions.engine.packing.memory import keep_little

T = TypeVar("T")
P = TypeVar("P")

PACKED_FROM = 60_000
"""So many values stay as they are: packing and unpacking them costs more than the memory is worth."""
SIZE = 256
"""Values of a part."""
N_OPEN = 3
"""Parts that stay open: that of the value asked for last, and those of what it is compared with."""


def shared(numbers: Iterable[int]) -> Iterator[int]:
    """The same numbers, equal ones as one object: most figures of messages are small, and there are few of them."""
    known: dict[int, int] = {}
    return map(known.setdefault, *tee(numbers))


class PackedSequence(Generic[T, P]):
    """Values by number, packed with ``fold`` once there are ``n_kept``; ``unfold`` gives equal ones, anew each time."""

    __slots__ = ("_fold", "_fresh", "_n_fresh", "_n_gone", "_n_parts", "_open", "_parts", "_unfold")

    def __init__(self, fold: Callable[[Sequence[T]], P], unfold: Callable[[P], Sequence[T]], n_kept: int) -> None:
        self._fold, self._unfold = fold, unfold
        self._parts: dict[int, P] = {}
        self._n_parts = 0
        self._fresh: list[T] = []
        self._n_gone = 0
        self._n_fresh = max(n_kept, SIZE)
        self._open: tuple[tuple[int, Sequence[T]], ...] = ()

    def __len__(self) -> int:
        return self._n_parts * SIZE + len(self._fresh)

    def add(self, value: T) -> None:
        """Put a value at the end."""
        self._fresh.append(value)
        if len(self._fresh) >= self._n_fresh:
            self._put_away()

    def __getitem__(self, number: int) -> T:
        part, at = divmod(number, SIZE)
        if part >= self._n_parts:
            return self._fresh[number - self._n_parts * SIZE]
        for known, values in self._open:
            if known == part:
                return values[at]
        values = self._unfold(self._parts[part])
        self._open = ((part, values), *self._open[: N_OPEN - 1])
        return values[at]

    def let_go(self, number: int) -> None:
        """Forget the parts before the one with this value: nobody asks for them any more."""
        gone = range(self._n_gone, min(number // SIZE, self._n_parts))
        for part in gone:
            del self._parts[part]
        self._n_gone += len(gone)

    def parts(self) -> Iterator[P]:
        """Everything, packed: ``SIZE`` values in each part but the last."""
        yield from self._parts.values()
        for start in range(0, len(self._fresh), SIZE):
            yield self._fold(self._fresh[start : start + SIZE])

    def _put_away(self) -> None:
        """Pack what is there in whole parts; from now on each part when it is full."""
        if not self._n_parts:
            keep_little()
        self._n_fresh = SIZE
        whole = len(self._fresh) - len(self._fresh) % SIZE
        for start in range(0, whole, SIZE):
            self._parts[self._n_parts] = self._fold(self._fresh[start : start + SIZE])
            self._n_parts += 1
        del self._fresh[:whole]
