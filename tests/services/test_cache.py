"""What a process keeps: which value goes first, and which never goes."""

from __future__ import annotations

from sessions.adapters.cache import Cache


def test_the_least_recently_used_goes_first() -> None:
    cache: Cache[str, int] = Cache(lambda held: len(held) > 2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    assert cache.put("c", 3) == 3
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_a_value_kept_again_counts_as_used() -> None:
    cache: Cache[str, int] = Cache(lambda held: len(held) > 2)
    for key, value in (("a", 1), ("b", 2), ("a", 10), ("c", 3)):
        cache.put(key, value)
    assert [cache.get(key) for key in "abc"] == [10, None, 3]


def test_the_newest_is_kept_whatever_it_weighs() -> None:
    cache: Cache[str, int] = Cache(lambda held: sum(held) > 100)
    cache.put("a", 60)
    cache.put("b", 40)
    cache.put("c", 500)
    assert [cache.get(key) for key in "abc"] == [None, None, 500]


def test_what_is_forgotten_is_gone() -> None:
    cache: Cache[str, int] = Cache(lambda held: len(held) > 2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.forget("a")
    cache.forget("never there")
    assert [cache.get(key) for key in "ab"] == [None, 2]
    cache.clear()
    assert cache.get("b") is None
