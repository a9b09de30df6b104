"""Where messages stand, packed and opened again."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.texts import Places, pack_places, strings_at
from sessions.engine.transcript.types import Origin

SIZES = st.integers(0, 2**40)
ORIGINS = st.builds(
    Origin, SIZES, SIZES, SIZES, st.lists(st.one_of(st.text(max_size=5), st.integers(0, 99)), max_size=3).map(tuple)
)


@given(st.lists(st.lists(ORIGINS, max_size=3), max_size=8))
def test_what_is_packed_comes_back(places: list[list[Origin]]) -> None:
    opened = Places(pack_places(places))
    for n, origins in enumerate(places):
        assert opened.of(n) == origins
        assert opened.n_bytes(n) == sum(origin.length for origin in origins)


def test_strings_are_read_in_order_and_data_is_left_out() -> None:
    line = b'{"a": ["one", {"b": "two", "n": 3}], "image": "' + b"A" * 300_000 + b'"}\n'
    assert strings_at(Source(io.BytesIO(line)), [Origin(1, 0, len(line) - 1)]) == ["one", "two"]
