"""Temporary files of killed processes go at the next start; those of living ones stay."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.adapters import leftovers, storage


@pytest.fixture
def data(tmp_path: Path, settings: Settings) -> Path:
    """A data folder of its own."""
    settings.DATA, settings.MEDIA_ROOT = tmp_path, str(tmp_path / "blobs")
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "tmp")
    for name in ("blobs", "tmp"):
        (tmp_path / name).mkdir()
    return tmp_path


def aged(path: Path) -> Path:
    """``path``, with something in it, as written an hour ago."""
    path.write_bytes(b"half")
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago))
    return path


def test_what_nobody_writes_is_removed(data: Path) -> None:
    left = [aged(data / name) for name in ("tmp/x.upload.jsonl", "blobs/.part-abc", "secret_key.123")]
    kept = [aged(data / name) for name in ("secret_key", "ctxweb.sqlite3", "blobs/named")]
    young = data / "blobs/.part-young"
    young.write_bytes(b"half")
    assert sorted(leftovers.leftovers()) == sorted(left)
    assert leftovers.sweep_leftovers() == 3
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in (*kept, young))
    assert leftovers.sweep_leftovers() == 0


def test_what_is_being_written_stays_until_its_process_ends(data: Path) -> None:
    part = aged(data / "blobs/.part-held")
    code = (
        "import sys; from sessions.adapters.leftovers import hold\n"
        "file = open(sys.argv[1], 'rb'); hold(file); print('held', flush=True); sys.stdin.read()"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(part)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        assert leftovers.sweep_leftovers() == 0
        writer.kill()
    assert leftovers.sweep_leftovers() == 1
    assert not part.exists()


def test_a_blob_is_held_while_it_is_collected(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            for part in (data / "blobs").glob(".part-*"):
                os.utime(part, (0, 0))
            seen.append(leftovers.sweep_leftovers())
            return super().read(size)

    blob = storage.put(Slow(b"x" * 10))
    assert seen == [0, 0]
    assert storage.exists(blob.sha256)
    assert list((data / "blobs").glob(".part-*")) == []
