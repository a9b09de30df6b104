from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from django.core.files.storage import InMemoryStorage

from sessions.adapters import frames, storage
from sessions.faults import FaultError

DATA = b"three kilobytes" * 200
SHA256 = hashlib.sha256(DATA).hexdigest()


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_it_stores_under_the_hash_and_gives_the_bytes_back(blobs: Path) -> None:
    assert storage.put(io.BytesIO(DATA)) == (SHA256, len(DATA))
    assert files(blobs) == [f"{SHA256[:2]}/{SHA256[2:4]}/{SHA256}"]
    with storage.open_blob(SHA256) as file:
        assert file.read() == DATA
        file.seek(5)
        assert file.read(4) == DATA[5:9]


def test_equal_bytes_are_stored_once(blobs: Path) -> None:
    storage.put(io.BytesIO(DATA))
    before = (blobs / storage.blob_name(SHA256)).stat().st_mtime_ns
    storage.put(io.BytesIO(DATA))
    storage.put_bytes(DATA, SHA256)
    assert len(files(blobs)) == 1
    assert (blobs / storage.blob_name(SHA256)).stat().st_mtime_ns == before


def test_a_copy_that_breaks_off_leaves_nothing_behind(blobs: Path) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise OSError("connection lost")
            return super().read(10)

    with pytest.raises(OSError, match="connection lost"):
        storage.put(Breaking(DATA))
    assert files(blobs) == []


def test_a_half_written_image_is_written_again(blobs: Path) -> None:
    place = blobs / storage.blob_name(SHA256)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    storage.put_bytes(DATA, SHA256)
    assert place.read_bytes() == DATA


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "g" * 64])
def test_only_hashes_are_names(name: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        storage.open_blob(name)


def test_a_missing_blob_says_so(blobs: Path) -> None:
    assert not storage.exists(SHA256)
    with pytest.raises(FileNotFoundError):
        storage.open_blob(SHA256)


def test_it_works_on_a_storage_without_a_local_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "default_storage", InMemoryStorage())
    assert storage.put(io.BytesIO(DATA)) == (SHA256, len(DATA))
    storage.put_bytes(DATA, SHA256)
    reopened: IO[bytes] = storage.open_blob(SHA256)
    assert reopened.read() == DATA


LONG = b"".join(b'{"n": %d, "text": "a line that comes again"}\n' % n for n in range(5000))
LONG_SHA256 = hashlib.sha256(LONG).hexdigest()


def test_text_is_packed_at_rest_and_named_by_what_came(blobs: Path) -> None:
    assert storage.put(io.BytesIO(LONG)) == (LONG_SHA256, len(LONG))
    place = blobs / storage.blob_name(LONG_SHA256)
    assert place.stat().st_size == storage.size(LONG_SHA256) < len(LONG) / 5
    assert storage.length(LONG_SHA256) == len(LONG)
    storage.verify(LONG_SHA256)
    with storage.open_blob(LONG_SHA256) as file:
        file.seek(40_000)
        assert file.read(60) == LONG[40_000:40_060]


def test_a_blob_of_before_packing_is_read_as_it_is(blobs: Path) -> None:
    place = blobs / storage.blob_name(LONG_SHA256)
    place.parent.mkdir(parents=True)
    place.write_bytes(LONG)
    storage.verify(LONG_SHA256)
    storage.put(io.BytesIO(LONG))
    assert place.read_bytes() == LONG
    with storage.open_blob(LONG_SHA256) as file:
        assert list(file) == LONG.splitlines(keepends=True)


@pytest.mark.parametrize("change", [lambda made: made[:-20], lambda made: made[:500] + b"xxxx" + made[504:]])
def test_a_packed_blob_that_changed_is_said(blobs: Path, change: Callable[[bytes], bytes]) -> None:
    storage.put(io.BytesIO(LONG))
    place = blobs / storage.blob_name(LONG_SHA256)
    place.write_bytes(change(place.read_bytes()))
    with pytest.raises(FaultError, match="Stored bytes have changed"):
        storage.verify(LONG_SHA256)


def test_an_image_that_looks_packed_comes_back_as_it_was(blobs: Path) -> None:
    looks = frames.MARK + b"\x89PNG"
    sha256 = hashlib.sha256(looks).hexdigest()
    storage.put_bytes(looks, sha256)
    with storage.open_blob(sha256) as file:
        assert file.read() == looks
