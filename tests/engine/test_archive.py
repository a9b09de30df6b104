"""Zip archives: limits, broken directories, compressions that the standard library does not know."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading import archive as archives
from sessions.engine.reading.archive import Archive, BadMember
from sessions.engine.reading.jsonio import JsonProblem, Source
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Origin


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return file.getvalue()


def opened(data: bytes) -> Archive:
    return Archive(io.BytesIO(data), len(data))


def as_zstd(data: bytes, name: bytes) -> bytes:
    """The same archive, every member declared as zstd in its header and in the directory."""
    method, zstd = struct.pack("<H", zipfile.ZIP_DEFLATED), struct.pack("<H", archives.ZSTD)
    start, entry = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    assert name in data
    for place in (start + 8, entry + 10):
        assert data[place : place + 2] == method
        data = data[:place] + zstd + data[place + 2 :]
    return data


def test_members_are_read_by_name() -> None:
    archive = opened(packed({"a.json": b"[1]", "folder/": b"", "folder/b.json": b"{}"}))
    assert archive.names == ("a.json", "folder/b.json")
    assert archive.read("folder/b.json") == b"{}"
    assert archive.n_unpacked == 5
    with pytest.raises(BadMember, match="no member 'c'"):
        archive.read("c")


def test_a_source_reads_values_through_the_members_name() -> None:
    source = Source(io.BytesIO(packed({"a.json": b'{"list": [1, {"x": "deep"}]}', "b.json": b"{"})))
    assert source.read(Origin(1, 0, source.size, ("a.json", "list", 1, "x"))) == "deep"
    assert source.head().members == ("a.json", "b.json")
    for path in ((), ("a.json", "other"), ("b.json",), ("c.json",)):
        with pytest.raises(JsonProblem):
            source.read(Origin(1, 0, source.size, path))


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_ARCHIVE_MEMBERS", 1, "2 members"),
        ("MAX_ARCHIVE_BYTES", 1000, "unpacks to 200,002 bytes"),
        ("ARCHIVE_RATIO_FLOOR", 1000, "times as many"),
    ],
)
def test_an_archive_beyond_a_limit_is_refused(
    limit: str, value: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, value)
    with pytest.raises(UnreadableInput, match=reason):
        opened(packed({"a": b"0" * 200_000, "b": b"[]"}))


def test_a_member_that_is_larger_than_it_says_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(BadMember, match="more than 100 bytes"):
        opened(packed({"a": b"0" * 101})).read("a")


def test_a_broken_archive_says_so() -> None:
    whole = packed({"a.json": b"[]"})
    with pytest.raises(UnreadableInput, match="broken zip archive"):
        opened(whole[:-10])
    place = whole.index(b"a.json") + len("a.json")
    damaged = whole[:place] + b"\xff\xff" + whole[place + 2 :]
    with pytest.raises(BadMember, match="cannot be unpacked"):
        opened(damaged).read("a.json")


def test_an_archive_of_no_known_format_names_what_was_missing() -> None:
    with pytest.raises(UnreadableInput, match="zip archive that no known format writes") as caught:
        read_transcripts(io.BytesIO(packed({"header.json": b"{}"})), "a.zip")
    assert "inspect: a zip archive, but without samples" in caught.value.next_step


def test_zstd_members_are_found_and_handed_to_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder here inflates: what is asked is whether it gets exactly the member's packed bytes."""
    monkeypatch.setattr("sessions.engine.packing.zstd.unpacked", lambda data, most: zlib.decompress(data, -15)[:most])
    assert opened(as_zstd(packed({"a.json": b"[1]"}), b"a.json")).read("a.json") == b"[1]"
