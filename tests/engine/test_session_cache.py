"""Values that are remembered of sessions: by name and key, as many as their name allows."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import pytest

from sessions.engine.base.session_cache import Remembered, Same, SessionCache


def test_a_value_is_made_once_for_a_key() -> None:
    cache, named, made = SessionCache(), Remembered[str]("words"), []
    for key in (1, 1, 2):
        assert cache.value(named, lambda key=key: (made.append(key), f"of {key}")[1], key) == f"of {key}"  # type: ignore[misc]
    assert made == [1, 2]
    assert cache.find(named) is None
    assert cache.find(Remembered[str]("words"), 1) is None, "a name is known by itself, not by its letters"


def test_the_least_recently_used_of_all_sessions_goes_first() -> None:
    one, other, named = SessionCache(), SessionCache(), Remembered[int]("figures", 2)
    one.put(named, 1)
    other.put(named, 2)
    assert one.find(named) == 1
    other.put(named, 3, "more")
    assert (one.find(named), other.find(named), other.find(named, "more")) == (1, None, 3)


def test_the_newest_stays_whatever_its_size() -> None:
    cache, named = SessionCache(), Remembered[list[int]]("lists", 3, len)
    cache.put(named, [1, 2], 1)
    cache.put(named, [1] * 9, 2)
    assert (cache.find(named, 1), cache.find(named, 2)) == (None, [1] * 9)
    cache.put(named, [1], 3)
    assert (cache.find(named, 2), cache.find(named, 3)) == (None, [1])


def test_a_size_that_grew_counts_when_another_value_comes() -> None:
    cache, named = SessionCache(), Remembered[list[int]]("lists", 3, len)
    grows: list[int] = []
    cache.put(named, grows, 1)
    grows += [1, 2, 3]
    cache.put(named, [1], 2)
    assert (cache.find(named, 1), cache.find(named, 2)) == (None, [1])


def test_what_a_session_remembers_goes_with_it() -> None:
    cache, named = SessionCache(), Remembered[list[int]]("lists", 5, len)
    held = ref(cache)
    cache.put(named, [1] * 5)
    del cache
    gc.collect()
    assert held() is None
    other = SessionCache()
    for key in range(5):
        other.put(named, [1], key)
    assert [other.find(named, key) for key in range(5)] == [[1]] * 5


def test_forgetting() -> None:
    cache, named, plain = SessionCache(), Remembered[int]("figures", 9), Remembered[int]("others")
    cache.put(named, 1)
    cache.put(plain, 2)
    named.forget()
    assert (cache.find(named), cache.find(plain)) == (None, 2)
    assert (cache.take(plain), cache.take(plain)) == (2, None)
    cache.put(named, 3)
    cache.clear()
    assert cache.values == {}


def test_threads_make_a_value_once_and_a_failure_leaves_nothing() -> None:
    cache, named, made, begun = SessionCache(), Remembered[int]("figures"), [], threading.Barrier(4)

    def make() -> int:
        made.append(1)
        return len(made)

    def ask(_: int) -> int:
        begun.wait(10)
        return cache.value(named, make)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {1}
    assert made == [1]
    with pytest.raises(ZeroDivisionError):
        cache.value(named, lambda: 1 // 0, "other")
    assert cache.value(named, lambda: 7, "other") == 7


def test_a_key_of_the_same_thing() -> None:
    first, equal = [1], [1]
    assert Same(first) == Same(first)
    assert Same(first) != Same(equal)
    assert len({Same(first), Same(first), Same(equal)}) == 2
