"""Values of which a long session has many: made some at each request, so that nobody waits for all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
SECONDS = 0.5
"""How long one request works at what its page waits for; what is left is for the next."""
clock: Callable[[], float] = time.monotonic


class Progress(NamedTuple):
    """How many are made of how many."""

    n_done: int
    n_total: int

    @property
    def is_done(self) -> bool:
        return self.n_done == self.n_total

    def and_then(self, other: Progress) -> Progress:
        """How far two are together."""
        return Progress(self.n_done + other.n_done, self.n_total + other.n_total)


@dataclass(slots=True)
class Gradual(Generic[T]):
    """``n_total`` values in order, made as they are asked for; two threads never make the same one.

    Who asks again after an error has it begin anew, and fail again where it must: nobody asks for ever.
    """

    n_total: int
    begin: Callable[[], Iterator[T]]
    made: list[T] = field(default_factory=list)
    _making: Iterator[T] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def progress(self) -> Progress:
        return Progress(len(self.made), self.n_total)

    def go_on(self, until: float) -> Progress:
        """Make more until then, one at least, unless another thread is at it."""
        if self._lock.acquire(blocking=False):
            try:
                self._make(until)
            finally:
                self._lock.release()
        return self.progress

    def whole(self) -> tuple[T, ...]:
        """All values, however long it takes."""
        with self._lock:
            self._make(None)
        return tuple(self.made)

    def _make(self, until: float | None) -> None:
        if self._making is None:
            self.made.clear()
            self._making = self.begin()
        try:
            for value in self._making:
                self.made.append(value)
                if until is not None and clock() >= until:
                    return
        except BaseException:
            self._making = None
            raise
        self.n_total = len(self.made)


def all_on(each: Sequence[Gradual[T]], until: float) -> None:
    """Make more of several, one after another, until then: one value at least."""
    for one in each:
        if not one.progress.is_done:
            one.go_on(until)
            if clock() >= until:
                return
