"""Values that are not kept but made anew for each walk over them; the last walk lets go of what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

S = TypeVar("S")
T = TypeVar("T")


class Made(Sequence[T], Generic[S, T]):
    """As many values as there are ``sources``, one of each, in their order; ``make`` walks over them once."""

    __slots__ = ("_make", "_n", "_sources")

    def __init__(self, sources: list[S], make: Callable[[Iterator[S]], Iterator[T]]) -> None:
        self._sources, self._make, self._n = sources, make, len(sources)

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[T]:
        return self._make(iter(self._sources))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return tuple(self)[index]

    def taken(self) -> Iterator[T]:
        """Every value for the last time: each source is let go when its value is made."""
        sources, self._sources = self._sources, []
        sources.reverse()
        return self._make(_popped(sources))


def _popped(sources: list[S]) -> Iterator[S]:
    while sources:
        yield sources.pop()
