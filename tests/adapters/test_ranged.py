from __future__ import annotations

import io
import os
import random
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.adapters import frames

DATA = random.Random(4).randbytes(3_000_000)


class Bucket:
    """A thing in a bucket as boto3 hands it out, which remembers what was fetched."""

    def __init__(self, data: bytes) -> None:
        self.data, self.content_length = data, len(data)
        self.fetched: list[tuple[int, int]] = []

    def get(self, Range: str) -> dict[str, Any]:
        start, last = map(int, Range.removeprefix("bytes=").split("-"))
        assert 0 <= start <= last < len(self.data), Range
        self.fetched.append((start, last + 1 - start))
        return {"Body": io.BytesIO(self.data[start : last + 1])}

    def open(self) -> BinaryIO:
        closed: list[bool] = []
        file: Any = SimpleNamespace(obj=self, close=lambda: closed.append(True))
        return frames.opened(file)


@given(asked=st.lists(st.tuples(st.integers(0, 3_100_000), st.integers(0, 900_000)), max_size=12))
def test_every_range_is_as_in_the_file(asked: list[tuple[int, int]]) -> None:
    file = Bucket(DATA).open()
    for offset, length in asked:
        assert file.seek(offset) == offset
        assert file.read(length) == DATA[offset : offset + length]
    assert file.seek(-5, os.SEEK_END) == len(DATA) - 5
    assert file.read() == DATA[-5:]
    assert file.seek(0) == 0
    assert file.read() == DATA


def test_a_file_that_is_read_on_and_on_is_fetched_in_growing_pieces() -> None:
    bucket = Bucket(bytes(20_000_000))
    file, n_bytes = bucket.open(), 0
    while piece := file.read(1 << 16):
        n_bytes += len(piece)
    sizes = [size for _, size in bucket.fetched]
    assert n_bytes == sum(sizes) == 20_000_000, "nothing is fetched twice"
    assert sizes[:3] == [1 << 17, 1 << 17, 1 << 18]
    assert max(sizes) == frames.MOST_FETCHED
    assert len(sizes) <= 11


def test_a_message_of_a_packed_file_takes_three_fetches() -> None:
    line = b'{"text": "%b"}\n'
    words = random.Random(5)
    text = b"".join(line % words.randbytes(600).hex().encode() for _ in range(8_000))
    made = io.BytesIO()
    writer = frames.FrameWriter(made)
    writer.write(text)
    writer.end()
    bucket = Bucket(made.getvalue())
    with frames.original(bucket.open()) as file:
        file.seek(5_000_000)
        assert file.read(1_200) == text[5_000_000:5_001_200]
    assert len(bucket.fetched) == 3, "the mark, the table, the frame"
    assert sum(size for _, size in bucket.fetched) < len(bucket.data) / 5


def test_an_empty_file_is_not_fetched() -> None:
    bucket = Bucket(b"")
    assert (bucket.open().read(), bucket.fetched) == (b"", [])


def test_a_fetch_that_gives_too_little_is_an_error() -> None:
    bucket = Bucket(DATA)
    bucket.data = DATA[:1000]
    bucket.get = lambda Range: {"Body": io.BytesIO(bucket.data)}  # type: ignore[method-assign]
    with pytest.raises(OSError, match="1,000 of 131,072 bytes came"):
        bucket.open().read(10)


def test_it_is_closed_with_what_it_reads_and_other_files_are_left_alone() -> None:
    closed: list[bool] = []
    file: Any = SimpleNamespace(obj=Bucket(DATA), close=lambda: closed.append(True))
    with frames.opened(file) as opened:
        assert opened.read(3) == DATA[:3]
    assert closed == [True]
    plain = io.BytesIO(b"x")
    assert frames.opened(plain) is plain
