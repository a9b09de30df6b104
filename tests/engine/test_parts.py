from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.transcript.parts import Parts
from tests.every import examples


def in_parts(n: int, size: int, read: list[int] | None = None) -> Parts[str]:
    def part(number: int) -> tuple[str, ...]:
        if read is not None:
            read.append(number)
        return tuple(f"v{i}" for i in range(number * size, min(n, (number + 1) * size)))

    return Parts(n, size, part)


BOUND = st.none() | st.integers(-12, 12)


@examples(200)
@given(st.integers(0, 10), st.integers(1, 4), BOUND, BOUND, st.sampled_from([None, 1, 2, -1, -2]))
def test_it_is_the_tuple(n: int, size: int, start: int | None, stop: int | None, step: int | None) -> None:
    expected = tuple(f"v{i}" for i in range(n))
    assert in_parts(n, size)[start:stop:step] == expected[start:stop:step]
    assert tuple(in_parts(n, size)) == expected == in_parts(n, size)
    assert tuple(reversed(in_parts(n, size))) == expected[::-1]
    assert [in_parts(n, size)[i] for i in range(-n, n)] == [expected[i] for i in range(-n, n)]
    assert hash(in_parts(n, size)) == hash(expected)
    assert in_parts(n, size) != (*expected, "more")
    for beyond in (n, -n - 1):
        with pytest.raises(IndexError):
            in_parts(n, size)[beyond]


def test_only_what_is_looked_at_is_read_and_once() -> None:
    read: list[int] = []
    parts = in_parts(10, 3, read)
    assert parts[4] is parts[3:5][1]
    assert (read, parts.n_read) == ([1], 1)
    assert next(iter(parts)) == "v0"
    assert next(reversed(parts)) == "v9"
    assert read == [1, 0, 3]
    before = parts[4]
    assert parts.whole()[4] is before
    assert sorted(read) == [0, 1, 2, 3]
