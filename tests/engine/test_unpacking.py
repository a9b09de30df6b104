"""Uploaded archives: what comes out, and what a hostile or broken one cannot do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import stat
import struct
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.archive import Archive, BeyondLimits
from sessions.engine.reading.reading import NotATranscript, claims, read_transcripts
from sessions.engine.reading.unpacking import packing, shown, unpack, zip_names
from tests.services.packs import tar_gz, tarred, zipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A, B = b'{"a": 1}\n', b"second"


def members(data: bytes, name: str = "up.bin") -> list[tuple[str, bytes | None, str]]:
    found = []
    for member in unpack(io.BytesIO(data), name, is_whole=lambda _: False):
        read = member.file.read() if member.file else None
        assert read is None or len(read) == member.n_bytes
        found.append((member.name, read, member.problem))
    return found


@pytest.mark.parametrize("make", [zipped, tarred, tar_gz])
def test_every_file_comes_out_under_its_name(make: object) -> None:
    assert members(make({"x/a.jsonl": A, "b.txt": B})) == [("x/a.jsonl", A, ""), ("b.txt", B, "")]  # type: ignore[operator]


def test_a_gzipped_file_is_one_member_without_the_ending() -> None:
    assert members(gzip.compress(A), "session.jsonl.gz") == [("session.jsonl", A, "")]


@pytest.mark.parametrize(
    ("data", "kind"),
    [(zipped({}), "zip"), (zipped({"a": A}), "zip"), (tarred({"a": A}), "tar"), (gzip.compress(b"", mtime=0), "gzip"),
     (A, ""), (b"", ""), (b"PK", "")],
)  # fmt: skip
def test_kinds_are_told_by_the_first_bytes(data: bytes, kind: str) -> None:
    assert packing(io.BytesIO(data)) == kind


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_UPLOAD_MEMBERS", 1, "2 files or more; the limit is 1"),
        ("MAX_UPLOAD_BYTES", 1000, "more than 1,000 bytes"),
        ("ARCHIVE_RATIO_FLOOR", 1000, "more than 200 times as many"),
    ],
)
@pytest.mark.parametrize("make", [zipped, tar_gz])
def test_an_archive_beyond_a_limit_is_refused(
    make: object, limit: str, value: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, value)
    with pytest.raises(BeyondLimits, match=reason):
        members(make({"a": b"0" * 2_000_000, "b": A}))  # type: ignore[operator]


def test_a_gzip_bomb_stops_when_it_has_grown_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARCHIVE_RATIO_FLOOR", 1000)
    with pytest.raises(BeyondLimits, match="200 times"):
        members(gzip.compress(b"0" * 5_000_000))


def test_a_directory_that_lies_about_sizes_is_counted_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 2_000)
    data = zipped({"a": b"0" * 200, "b": os.urandom(1_500)}, zipfile.ZIP_STORED)
    assert len(members(data)) == 2
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 1_600)
    with pytest.raises(BeyondLimits):
        members(data)
    place = data.rindex(b"PK\x01\x02")
    lying = data[: place + 24] + struct.pack("<I", 10) + data[place + 28 :]
    assert members(lying)[1][1] is None, "a size that does not fit is an error of that member"


def test_a_huge_directory_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ARCHIVE_LISTING", 100)
    with pytest.raises(BeyondLimits, match="directory of"):
        members(zipped({"a" * 90: A}))


def test_huge_tar_headers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ARCHIVE_LISTING", 20_000)
    with pytest.raises(BeyondLimits, match="headers"):
        members(tar_gz({"a" * 60_000: A}))


def test_an_encrypted_member_says_so_and_the_others_are_read() -> None:
    data = bytearray(zipped({"secret.jsonl": A, "open.jsonl": B}, zipfile.ZIP_STORED))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    (_, nothing, problem), (_, read, _) = members(bytes(data))
    assert (nothing, read) == (None, B)
    assert "encrypted" in problem


def test_names_are_only_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (zipped, tar_gz):
        found = members(make({"../../evil.jsonl": A, "/etc/passwd": B}))
        assert [read for _, read, _ in found] == [A, B]
    assert list(tmp_path.rglob("*")) == []
    assert shown("a\n\x1b[31mb\x00") == "a��[31mb�"
    assert len(shown("x" * 5_000)) <= 500


def test_links_are_listed_and_not_followed() -> None:
    found = members(tar_gz({"a": A}, {"link.jsonl": "/etc/passwd"}))
    assert found == [("a", A, ""), ("link.jsonl", None, "a link: not followed")]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(info, "/etc/passwd")
    assert members(file.getvalue()) == [("link", None, "a link: not followed")]


def test_what_came_before_the_cut_is_kept() -> None:
    noise = os.urandom(50_000)
    (name, read, problem), *_ = members(gzip.compress(noise)[:30_000], "a.jsonl.gz")
    assert name == "a.jsonl"
    assert read is not None
    assert noise.startswith(read)
    assert len(read) > 10_000
    assert "cut off" in problem
    first, second = members(tar_gz({"a": A, "b": noise})[:30_000])
    assert first == ("a", A, "")
    assert second[0] == "b"
    assert "ends inside it" in second[2]
    cut_between = tarred({"a": A, "b": B})[:1024] + b"\x01" * 512
    assert members(cut_between)[0] == ("a", A, "")
    with pytest.raises(UnreadableInput, match="broken zip"):
        members(zipped({"a": noise})[:-30])
    with pytest.raises(UnreadableInput, match="broken gzip"):
        members(b"\x1f\x8b\x08garbage garbage")


def test_a_damaged_zip_member_does_not_fail_the_others() -> None:
    data = bytearray(zipped({"a": b"a" * 100, "b": B}, zipfile.ZIP_STORED))
    data[data.index(b"a" * 100) + 50] = 0
    (_, read, problem), second = members(bytes(data))
    assert read is None
    assert "cannot be unpacked" in problem
    assert second == ("b", B, "")


def test_archives_inside_are_opened_one_level_deep() -> None:
    deep = zipped({"in.zip": zipped({"deeper.zip": zipped({"a": A}), "b": B}), "c.jsonl.gz": gzip.compress(A)})
    found = members(deep)
    assert found[0][:2] == ("in.zip/deeper.zip", None)
    assert "nested more than 1 level" in found[0][2]
    assert found[1:] == [("in.zip/b", B, ""), ("c.jsonl.gz/c.jsonl", A, "")]
    assert "broken zip" in members(zipped({"in.zip": b"PK\x03\x04 nothing"}))[0][2]


def test_inner_archives_draw_on_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD_MEMBERS", 3)
    with pytest.raises(BeyondLimits, match="limit is 3"):
        members(zipped({"in.zip": zipped({"a": A, "b": B}), "c": A}))


def test_a_log_that_is_a_zip_is_its_own_format() -> None:
    log = zipped({"header.json": b"{}", "samples/1_epoch_1.json": b'{"id": 1, "epoch": 1, "messages": []}'})
    assert claims(io.BytesIO(log))
    assert not claims(io.BytesIO(zipped({"a.jsonl": A})))
    assert not claims(io.BytesIO(A))
    (kept,) = unpack(io.BytesIO(zipped({"log.eval": log})), "up.zip", is_whole=claims)
    assert kept.name == "log.eval"


@pytest.mark.parametrize("data", [zipped({"a.jsonl": A}), tarred({"a.jsonl": A}), gzip.compress(A, mtime=0)])
def test_reading_one_as_a_file_says_what_to_do(data: bytes) -> None:
    with pytest.raises(NotATranscript, match="archive") as caught:
        read_transcripts(io.BytesIO(data), "a")
    assert "ctxweb ingest" in caught.value.next_step or "inspect:" in caught.value.next_step


@pytest.mark.parametrize(("packed", "ending"), [(bz2.compress, "bz2"), (lzma.compress, "xz"), (gzip.compress, "gz")])
def test_compressed_files_and_tars_are_read(packed: Callable[[bytes], bytes], ending: str) -> None:
    assert members(packed(A), f"a.jsonl.{ending}") == [("a.jsonl", A, "")]
    assert members(packed(A) + packed(B), f"a.jsonl.{ending}") == [("a.jsonl", A + B, "")]
    assert members(packed(b""), f"a.jsonl.{ending}") == [("a.jsonl", b"", "")]
    assert members(packed(tarred({"a": A, "b": B}))) == [("a", A, ""), ("b", B, "")]
    noise = random.Random(1).randbytes(3_000_000)
    (_, read, problem), *_ = members(packed(noise)[:-1_000], "a")
    assert noise.startswith(read)
    assert "cut off or damaged" in problem
    with pytest.raises(UnreadableInput, match="broken"):
        members(packed(A)[:6] + b"nonsense" * 20)


@pytest.mark.parametrize("packed", [bz2.compress, lzma.compress])
def test_a_bomb_of_any_kind_stops_when_it_has_grown_too_far(
    packed: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARCHIVE_RATIO_FLOOR", 1_000_000)
    with pytest.raises(BeyondLimits, match="200 times"):
        members(packed(b"0" * 5_000_000))


def test_an_xz_file_that_asks_for_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UNPACK_MEMORY", 1_000_000)
    with pytest.raises(UnreadableInput, match="Memory usage limit"):
        members(lzma.compress(A, preset=9))


@pytest.mark.parametrize("n_frames", [1, 3])
def test_a_zstd_file_is_one_member_without_the_ending(n_frames: int) -> None:
    data = b"".join(zstandard.compress(A) for _ in range(n_frames))
    assert members(data, "a.jsonl.zst") == [("a.jsonl", A * n_frames, "")]


def test_a_tar_in_zstd_is_its_members() -> None:
    assert members(zstandard.compress(tarred({"x/a.jsonl": A})), "up.tar.zst") == [("x/a.jsonl", A, "")]


def test_a_zstd_file_that_is_cut_or_damaged_says_so() -> None:
    noise = random.Random(1).randbytes(400_000)
    ((name, data, problem),) = members(zstandard.compress(noise)[:-1000], "a.zst")
    assert (name, problem) == ("a", "the zstd file is cut off or damaged: it ends before its end marker was reached")
    assert data
    assert noise.startswith(data)
    with pytest.raises(UnreadableInput, match="a broken zstd file"):
        members(b"\x28\xb5\x2f\xfd" + b"x" * 40, "a.jsonl.zst")


def test_a_zstd_file_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARCHIVE_RATIO_FLOOR", 1_000_000)
    with pytest.raises(BeyondLimits, match="200 times"):
        members(zstandard.compress(b"0" * 50_000_000))


def test_a_zstd_file_that_asks_for_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = zstandard.ZstdCompressionParameters(window_log=24)
    data = zstandard.ZstdCompressor(compression_params=settings).compress(b"0123456789" * 3_000_000)
    monkeypatch.setattr(limits, "MAX_UNPACK_MEMORY", 1 << 20)
    with pytest.raises(UnreadableInput, match="memory"):
        members(data)


def test_a_zip_member_without_a_name_is_a_file() -> None:
    assert members(zipped({"": A, "b": B})) == [("", A, ""), ("b", B, "")]
    assert zip_names(io.BytesIO(zipped({"": A}))) == ("",)
    assert Archive(io.BytesIO(zipped({"": A})), 10_000).names == ("",)
