"""What was worked out of a session, remembered by name and key while the session is held: the one place for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")
_lock = threading.RLock()


def _one(_value: object) -> int:
    return 1


class Remembered(Generic[T]):
    """Values of one name: at most ``most`` by ``size`` over all sessions, the least recently used go first.

    The newest is kept whatever its size.  Without ``most`` each stays as long as its session is held.
    """

    def __init__(self, name: str, most: int | None = None, size: Callable[[T], int] = _one) -> None:
        self.name, self.most, self._size = name, most, size
        self._used: OrderedDict[tuple[ref[SessionCache], Hashable], None] = OrderedDict()

    def forget(self) -> None:
        """Forget those of all sessions; of a name without ``most`` nothing is known to forget."""
        with _lock:
            for whose, key in [*self._used]:
                self.drop(whose, key)

    def note(self, place: tuple[ref[SessionCache], Hashable]) -> None:
        """That the value at ``place`` was used now.  Call under the lock."""
        if self.most is not None:
            self._used[place] = None
            self._used.move_to_end(place)

    def let_go(self) -> None:
        """Forget what is too much.  Call under the lock."""
        if self.most is None:
            return
        sizes: dict[tuple[ref[SessionCache], Hashable], int] = {}
        for place in [*self._used]:
            cache = place[0]()
            if cache is None:
                del self._used[place]
            else:
                sizes[place] = self._size(cache.values[self, place[1]])
        total = sum(sizes.values())
        while total > self.most and len(self._used) > 1:
            place = next(iter(self._used))
            total -= sizes[place]
            self.drop(*place)

    def drop(self, whose: ref[SessionCache], key: Hashable) -> None:
        """Forget one value.  Call under the lock."""
        self._used.pop((whose, key), None)
        cache = whose()
        if cache is not None:
            cache.values.pop((self, key), None)


class Same:
    """A key for a thing that is the same, not equal."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


class SessionCache:
    """The values of one session by name and key; safe to use from threads."""

    __slots__ = ("__weakref__", "_making", "_ref", "values")

    def __init__(self) -> None:
        self.values: dict[tuple[Remembered[Any], Hashable], Any] = {}
        self._making: dict[tuple[Remembered[Any], Hashable], threading.Lock] = {}
        self._ref = ref(self)

    def find(self, named: Remembered[T], key: Hashable = None) -> T | None:
        """The value, now the most recently used of its name; None where there is none."""
        found: T | None = self.values.get((named, key))
        if found is not None and named.most is not None:
            with _lock:
                if (named, key) in self.values:
                    named.note((self._ref, key))
        return found

    def put(self, named: Remembered[T], value: T, key: Hashable = None) -> T:
        """Remember the value in place of an earlier one; returns it."""
        with _lock:
            self.values[named, key] = value
            named.note((self._ref, key))
            named.let_go()
        return value

    def value(self, named: Remembered[T], make: Callable[[], T], key: Hashable = None) -> T:
        """The value, made once even where several threads ask for it at the same time; ``make`` never gives None."""
        found = self.find(named, key)
        if found is not None:
            return found
        with _lock:
            making = self._making.setdefault((named, key), threading.Lock())
        with making:
            found = self.find(named, key)
            if found is None:
                found = self.put(named, make(), key)
                self._making.pop((named, key), None)
            return found

    def take(self, named: Remembered[T], key: Hashable = None) -> T | None:
        """The value, forgotten from now on; None where there is none."""
        with _lock:
            found: T | None = self.values.get((named, key))
            named.drop(self._ref, key)
            return found

    def clear(self) -> None:
        """Forget everything."""
        with _lock:
            for named, key in [*self.values]:
                named.drop(self._ref, key)
