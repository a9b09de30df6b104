"""Messages that are not kept but made anew for each walk over them; the last walk lets go of what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Generic, TypeVar, overload

from sessions.engine.transcript.types import Block, Message

S = TypeVar("S")
EVERY = 256
"""So many messages are taken between two that are told to ``let_go``."""


class LazyMessages(Sequence[Message], Generic[S]):
    """As many messages as there are ``sources``, one of each, in their order: ``make`` walks over them once.

    ``look`` gives the blocks of one source, which costs less than to make the message; ``let_go`` is told a source
    before which nothing is needed any more.
    """

    __slots__ = ("_let_go", "_look", "_make", "_n", "_sources")

    def __init__(
        self,
        sources: list[S],
        make: Callable[[Iterator[S]], Iterator[Message]],
        look: Callable[[S], Iterable[Block]],
        let_go: Callable[[S], None],
    ) -> None:
        self._sources, self._make, self._look, self._let_go = sources, make, look, let_go
        self._n = len(sources)

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Message]:
        return self._make(iter(self._sources))

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        return tuple(self)[index]

    def blocks(self) -> Iterator[Block]:
        """The blocks of all messages."""
        return chain.from_iterable(map(self._look, self._sources))

    def taken(self) -> Iterator[Message]:
        """Every message for the last time: each source is let go when its message is made."""
        sources, self._sources = self._sources, []
        sources.reverse()
        return self._make(self._popped(sources))

    def _popped(self, sources: list[S]) -> Iterator[S]:
        while sources:
            source = sources.pop()
            if len(sources) % EVERY == 0:
                self._let_go(source)
            yield source
