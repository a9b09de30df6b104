"""A sequence that is stored in parts of equal length and reads a part when something of it is asked for."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar, overload

T = TypeVar("T")


@contextmanager
def without_gc() -> Iterator[None]:
    """Tens of thousands of new objects, none of them garbage: collecting meanwhile doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Parts(Sequence[T]):
    """``n`` values, ``size`` in a part: equal to the tuple of them; ``read(k)`` makes those of part k.

    A part is read once and kept: a value is the same object whenever it is asked for, from any thread.
    """

    __slots__ = ("_all", "_n", "_parts", "_read", "_size")

    def __init__(self, n: int, size: int, read: Callable[[int], tuple[T, ...]]) -> None:
        self._n, self._size, self._read = n, size, read
        self._parts: dict[int, tuple[T, ...]] = {}
        self._all: tuple[T, ...] | None = None

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if self._all is not None:
            return self._all[index]
        if isinstance(index, slice):
            return self._sliced(index)
        if index < 0:
            index += self._n
        if not 0 <= index < self._n:
            raise IndexError("there is no such value")
        part, at = divmod(index, self._size)
        found = self._parts.get(part)
        return (self._part(part) if found is None else found)[at]

    def __iter__(self) -> Iterator[T]:
        if self._all is not None:
            return iter(self._all)
        return self._walk()

    def _walk(self) -> Iterator[T]:
        """The first part by itself, for whoever looks at the first few; then the others at once."""
        if self._n:
            yield from self._part(0)
            yield from self.whole()[self._size :]

    def __reversed__(self) -> Iterator[T]:
        if self._n:
            last = (self._n_parts - 1) * self._size
            yield from reversed(self._part(self._n_parts - 1))
            yield from reversed(self.whole()[:last])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parts):
            other = other.whole()
        return self.whole() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.whole())

    def __repr__(self) -> str:
        return repr(self.whole())

    @property
    def n_read(self) -> int:
        """How many of its parts were read so far."""
        return len(self._parts)

    def whole(self) -> tuple[T, ...]:
        """All values."""
        if self._all is None:
            with without_gc():
                self._all = tuple([value for part in range(self._n_parts) for value in self._part(part)])
        return self._all

    @property
    def _n_parts(self) -> int:
        return -(-self._n // self._size)

    def _part(self, part: int) -> tuple[T, ...]:
        found = self._parts.get(part)
        return self._parts.setdefault(part, self._read(part)) if found is None else found

    def _sliced(self, index: slice) -> tuple[T, ...]:
        start, stop, step = index.indices(self._n)
        if step != 1:
            return self.whole()[index]
        if start >= stop:
            return ()
        first, last = start // self._size, (stop - 1) // self._size
        if first == last:
            low = first * self._size
            return self._part(first)[start - low : stop - low]
        if last - first + 1 == self._n_parts:
            return self.whole()[index]
        found = [value for part in range(first, last + 1) for value in self._part(part)]
        return tuple(found[start - first * self._size : stop - first * self._size])
