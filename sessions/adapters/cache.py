"""What a process keeps of what it worked out: least recently used first to go, safe to use from threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Values by key while they are not ``too_much`` together; the newest is kept whatever it weighs."""

    def __init__(self, too_much: Callable[[Collection[Value]], bool]) -> None:
        self._too_much = too_much
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
            self._held[key] = value
            self._held.move_to_end(key)
            while len(self._held) > 1 and self._too_much(self._held.values()):
                self._held.popitem(last=False)
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
            if found is None:
                found = self.keep(key, make())
                with self._lock:
                    self._making.pop(key, None)
            return found

    def forget(self, key: Key) -> None:
        """Drop the value, if it is kept."""
        with self._lock:
            self._held.pop(key, None)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._held.clear()
