"""What a process keeps of what it worked out: least recently used first to go, safe to use from threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Values by key while they are not ``too_much`` together; the newest is kept whatever it weighs.

    ``let_go`` is told of each that goes.
    """

    def __init__(
        self, too_much: Callable[[Collection[Value]], bool], let_go: Callable[[Value], None] = lambda _: None
    ) -> None:
        self._too_much, self._let_go = too_much, let_go
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Key, threading.Lock] = {}

    def find(self, key: Key) -> Value | None:
        """The value, now the most recently used; None where it is not kept."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def keep(self, key: Key, value: Value) -> Value:
        """Keep the value in place of an earlier one, and let go of what is too much; returns it."""
        with self._lock:
            gone = [old] if (old := self._held.get(key)) is not None and old is not value else []
            self._held[key] = value
            self._held.move_to_end(key)
            while len(self._held) > 1 and self._too_much(self._held.values()):
                gone.append(self._held.popitem(last=False)[1])
        for one in gone:
            self._let_go(one)
        return value

    def load(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value, made once even when several threads ask for it at the same time."""
        found = self.find(key)
        if found is not None:
            return found
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            found = self.find(key)
            try:
                return self.keep(key, make()) if found is None else found
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def forget(self, key: Key) -> None:
        """Drop the value, if it is kept."""
        with self._lock:
            gone = self._held.pop(key, None)
        if gone is not None:
            self._let_go(gone)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            gone = [*self._held.values()]
            self._held.clear()
        for one in gone:
            self._let_go(one)
