from __future__ import annotations

import base64
import io
import os
import random
import shutil
import struct
import subprocess
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.adapters import frames
from sessions.engine.packing import zstd

LINES = b"".join(b'{"n": %d, "text": "a line that comes again and again"}\n' % n for n in range(3000))


def at_rest(data: bytes, piece: int = 1 << 20) -> bytes:
    target = io.BytesIO()
    writer = frames.FrameWriter(target)
    for start in range(0, len(data), piece):
        writer.write(data[start : start + piece])
    writer.end()
    return target.getvalue()


def opened(data: bytes) -> BinaryIO:
    return frames.original(io.BytesIO(data))


@pytest.fixture
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "FRAME_BYTES", 1000)
    monkeypatch.setattr(frames, "MOST_BYTES", 4000)
    monkeypatch.setattr(frames, "LEAST_BYTES", 100)


@given(
    data=st.sampled_from([LINES[:30_000], LINES[:5], b"", frames.MARK, frames.MARK + LINES[:4000], os.urandom(7000)]),
    pieces=st.integers(1, 5000),
    asked=st.lists(st.tuples(st.integers(0, 31_000), st.integers(0, 5000))),
)
def test_every_offset_reads_as_in_the_bytes_that_came(data: bytes, pieces: int, asked: list[tuple[int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "FRAME_BYTES", 1000)
        patch.setattr(frames, "MOST_BYTES", 4000)
        patch.setattr(frames, "LEAST_BYTES", 100)
        file = opened(at_rest(data, pieces))
        assert file.read() == data
        for offset, length in asked:
            assert file.seek(offset) == offset
            assert file.read(length) == data[offset : offset + length]
        assert file.seek(0, os.SEEK_END) == len(data)
        assert file.seek(0) == 0
        assert list(file) == data.splitlines(keepends=True) if data.isascii() else True


def test_a_message_unpacks_its_own_frames_alone(monkeypatch: pytest.MonkeyPatch, small_frames: None) -> None:
    file = opened(at_rest(LINES))
    unpacked: list[int] = []
    plain = zstd.frame_data
    monkeypatch.setattr(zstd, "frame_data", lambda made, n: unpacked.append(n) or plain(made, n))
    file.seek(100_500)
    assert file.read(700) == LINES[100_500:101_200]
    assert len(unpacked) == 2
    assert all(900 < n <= 1000 for n in unpacked), unpacked


def _frame_sizes(data: bytes) -> list[int]:
    made = at_rest(data, 700)
    n_frames = struct.unpack("<IBI", made[-9:])[0]
    return [n_bytes for _, n_bytes in struct.iter_unpack("<II", made[-9 - 8 * n_frames : -9])]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [
        ([400, 500, 300, 600, 2], [900, 902]),
        ([999, 1, 5], [1000, 5]),
        ([240, 900, 10], [1140, 10]),
        ([260, 900, 10], [260, 910]),
        ([3000, 20, 4000, 20], [3000, 1000, 3020, 20]),
        ([9001], [1000] * 6 + [3001]),
        ([9001, 7], [1000] * 6 + [3001, 7]),
    ],
)
def test_a_frame_ends_where_a_line_ends(small_frames: None, lengths: list[int], sizes: list[int]) -> None:
    assert _frame_sizes(b"".join(b"x" * (n - 1) + b"\n" for n in lengths)) == sizes


def test_a_line_without_its_end_is_the_last_frame(small_frames: None) -> None:
    assert _frame_sizes(b"x" * 499 + b"\n" + b"y" * 1800) == [500, 1800]


def test_what_stands_twice_in_a_line_is_stored_once() -> None:
    """A screenshot, as Claude Code writes it into the line of a tool result: for the model and for itself."""
    picture = base64.b64encode(random.Random(3).randbytes(600_000))
    line = b'{"toolUseResult": "%b", "content": "%b"}\n' % (picture, picture)
    assert len(at_rest(LINES[:30_000] + line + LINES[:30_000] + line)) < 2 * 600_000 * 1.05


def test_text_shrinks_and_what_does_not_stays_as_it_is() -> None:
    assert len(at_rest(LINES)) < len(LINES) / 5
    noise = random.Random(1).randbytes(2_500_000)
    assert at_rest(noise) == noise
    assert at_rest(LINES[:4000]) == LINES[:4000], "one block of a disk either way"


def test_bytes_that_look_packed_come_back_as_they_were() -> None:
    """Somebody may upload a file of the data folder."""
    for looks in (
        at_rest(LINES),
        frames.MARK,
        frames.MARK + b"no table",
        frames.MARK + random.Random(2).randbytes(9000),
    ):
        assert at_rest(looks) != looks
        assert opened(at_rest(looks)).read() == looks


def test_zstd_itself_unpacks_it() -> None:
    program = shutil.which("zstd")
    made = at_rest(LINES * 20)
    if program:
        assert subprocess.run([program, "-dc"], input=made, capture_output=True, check=True).stdout == LINES * 20
    n_frames, flags, mark = struct.unpack("<IBI", made[-9:])
    assert (n_frames, flags, mark) == (-(-len(LINES) * 20 // frames.FRAME_BYTES), 0, 0x8F92EAB1)


@pytest.mark.parametrize("n_bytes", [16, 17, 100, 2000, -1])
def test_what_is_cut_off_is_damaged(n_bytes: int) -> None:
    with pytest.raises(frames.Damaged):
        opened(at_rest(LINES)[:n_bytes])


def test_every_changed_byte_is_damage_or_changes_nothing(small_frames: None) -> None:
    made, data = at_rest(LINES[:2500]), LINES[:2500]
    for place in range(len(frames.MARK), len(made)):
        wrong = bytearray(made)
        wrong[place] ^= 0x10
        try:
            assert opened(bytes(wrong)).read() == data
        except frames.Damaged:
            continue
