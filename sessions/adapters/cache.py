"""An LRU cache, thread-safe; each value is made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Values by key; while ``is_over_capacity`` the least recently used go, never the newest; ``on_evict`` is told."""

    def __init__(
        self,
        is_over_capacity: Callable[[Collection[Value]], bool],
        on_evict: Callable[[Value], None] = lambda _: None,
    ) -> None:
        self._is_over_capacity, self._on_evict = is_over_capacity, on_evict
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        self._load_locks: dict[Key, threading.Lock] = {}

    def get(self, key: Key) -> Value | None:
        """The value, now the most recently used; None where it is not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> Value:
        """Cache the value in place of an earlier one, and evict what is over capacity; returns it."""
        with self._lock:
            evicted = [old] if (old := self._values.get(key)) is not None and old is not value else []
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > 1 and self._is_over_capacity(self._values.values()):
                evicted.append(self._values.popitem(last=False)[1])
        for gone in evicted:
            self._on_evict(gone)
        return value

    def get_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value, made once even when several threads ask for it at the same time."""
        value = self.get(key)
        if value is not None:
            return value
        with self._lock:
            load_lock = self._load_locks.setdefault(key, threading.Lock())
        with load_lock:
            value = self.get(key)
            try:
                return self.put(key, make()) if value is None else value
            finally:
                with self._lock:
                    self._load_locks.pop(key, None)

    def forget(self, key: Key) -> None:
        with self._lock:
            gone = self._values.pop(key, None)
        if gone is not None:
            self._on_evict(gone)

    def clear(self) -> None:
        with self._lock:
            evicted = [*self._values.values()]
            self._values.clear()
        for gone in evicted:
            self._on_evict(gone)
