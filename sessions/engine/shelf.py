"""Values that come by the hundred thousand and are looked at in their order: packed in parts, a few of them open.

A session of a gigabyte has 400,000 lines and 280,000 messages, of 1 to 2 kB each as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

FOLDED_FROM = 60_000
"""So many values stay as they are: packing and unpacking them costs more than the memory is worth."""
SIZE = 256
"""Values of a part."""
N_OPEN = 3
"""Parts that stay open: that of the value asked for last, and those of what it is compared with."""


class Shelf(Generic[T]):
    """Values in the order added, read by their number; packed with ``fold`` once there are ``n_kept``.

    ``unfold`` gives equal values, anew each time a part is opened.
    """

    __slots__ = ("_fold", "_fresh", "_n_fresh", "_n_gone", "_open", "_parts", "_unfold")

    def __init__(
        self, fold: Callable[[Sequence[T]], bytes], unfold: Callable[[bytes | memoryview], Sequence[T]], n_kept: int
    ) -> None:
        self._fold, self._unfold = fold, unfold
        self._parts: list[bytes | memoryview] = []
        self._fresh: list[T] = []
        self._n_gone = 0
        self._n_fresh = max(n_kept, SIZE)
        self._open: tuple[tuple[int, Sequence[T]], ...] = ()

    def __len__(self) -> int:
        return len(self._parts) * SIZE + len(self._fresh)

    def add(self, value: T) -> None:
        """Put a value at the end."""
        self._fresh.append(value)
        if len(self._fresh) >= self._n_fresh:
            self._put_away()

    def __getitem__(self, number: int) -> T:
        part, at = divmod(number, SIZE)
        if part >= len(self._parts):
            return self._fresh[number - len(self._parts) * SIZE]
        for known, values in self._open:
            if known == part:
                return values[at]
        values = self._unfold(self._parts[part])
        self._open = ((part, values), *self._open[: N_OPEN - 1])
        return values[at]

    def move(self, parts: Sequence[bytes | memoryview]) -> None:
        """Read from now on from these equal parts, which somebody else keeps too."""
        self._parts[:] = parts[: len(self._parts)]

    def let_go(self, number: int) -> None:
        """Forget the parts before the one with this value: nobody asks for them any more."""
        self._n_gone, first = max(self._n_gone, min(number // SIZE, len(self._parts))), self._n_gone
        self._parts[first : self._n_gone] = [b""] * (self._n_gone - first)

    def parts(self) -> Iterator[bytes | memoryview]:
        """Everything, packed: ``SIZE`` values in each part but the last."""
        yield from self._parts
        for start in range(0, len(self._fresh), SIZE):
            yield self._fold(self._fresh[start : start + SIZE])

    @property
    def n_objects(self) -> int:
        """How many of its values stand as objects, not packed."""
        return len(self._fresh) + sum(len(values) for _, values in self._open)

    def _put_away(self) -> None:
        """Pack what is there in whole parts; from now on each part when it is full."""
        self._n_fresh = SIZE
        whole = len(self._fresh) - len(self._fresh) % SIZE
        self._parts += [self._fold(self._fresh[start : start + SIZE]) for start in range(0, whole, SIZE)]
        del self._fresh[:whole]
