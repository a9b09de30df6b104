"""What a process keeps: which value goes first, and which never goes."""

from __future__ import annotations

from sessions.adapters.cache import Cache


def test_the_least_recently_used_goes_first() -> None:
    kept: Cache[str, int] = Cache(lambda held: len(held) > 2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    assert kept.find("a") == 1
    assert kept.keep("c", 3) == 3
    assert [kept.find(key) for key in "abc"] == [1, None, 3]


def test_a_value_kept_again_counts_as_used() -> None:
    kept: Cache[str, int] = Cache(lambda held: len(held) > 2)
    for key, value in (("a", 1), ("b", 2), ("a", 10), ("c", 3)):
        kept.keep(key, value)
    assert [kept.find(key) for key in "abc"] == [10, None, 3]


def test_the_newest_is_kept_whatever_it_weighs() -> None:
    kept: Cache[str, int] = Cache(lambda held: sum(held) > 100)
    kept.keep("a", 60)
    kept.keep("b", 40)
    kept.keep("c", 500)
    assert [kept.find(key) for key in "abc"] == [None, None, 500]


def test_what_is_forgotten_is_gone() -> None:
    kept: Cache[str, int] = Cache(lambda held: len(held) > 2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    kept.forget("a")
    kept.forget("never there")
    assert [kept.find(key) for key in "ab"] == [None, 2]
    kept.clear()
    assert kept.find("b") is None
