"""A file that is read while it is stored gives what its upload gives; where the two may differ the upload is read."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessions.adapters import storage
from sessions.adapters.storage import Blob
from sessions.models import Media, Session, SessionFacts, State
from sessions.services import ahead, counting, ingest
from sessions.services.ingest import read_alone
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png, session
from tests.services.packs import zipped

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    ahead._kept.clear()
    yield
    counting.stop_ahead()
    ahead._kept.clear()


@pytest.fixture
def n_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names under which files are read."""
    names: list[str] = []

    def counted(file: Any, name: str, n_bytes: int, told: Any) -> Any:
        names.append(name)
        return read_alone(file, name, n_bytes, told)

    monkeypatch.setattr(ingest, "read_alone", counted)
    return names


def stored(path: Path, name: str) -> Blob:
    return ahead.store_and_read(
        path, name, lambda file: ingest.read_alone(file, name, path.stat().st_size, lambda done: None)
    )


def uploaded(path: Path, name: str, blob: Blob) -> Any:
    with path.open("rb") as file:
        got = receive(file=file, filename=name, folders=True, blob=blob)
    return ingest.ingest(upload_id=got.upload.pk)


def everything() -> list[object]:
    return [
        [(s.title, s.n_messages, s.tokens, s.wire_bytes, s.spark) for s in Session.objects.order_by("position")],
        [bytes(f.packed) for f in SessionFacts.objects.order_by("session__position")],
        list(Media.objects.order_by("pk").values_list("pk", "width", "height", "apart")),
    ]


def test_it_is_read_once_and_comes_to_the_same(tmp_path: Path, n_read: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(Lines().prompt("Look").turn(png(640, 480)).turn("two").bytes())
    upload = uploaded(path, "a.jsonl", stored(path, "a.jsonl"))
    assert (upload.status, n_read) == (State.DONE, ["a.jsonl"])
    found = everything()
    upload.delete()
    got = receive(file=io.BytesIO(path.read_bytes()), filename="a.jsonl", folders=True)
    ingest.ingest(upload_id=got.upload.pk)
    assert n_read == ["a.jsonl"] * 2
    assert everything() == found


def test_a_longer_file_continues_its_session_under_the_first_name(tmp_path: Path, n_read: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(session(20))
    first = uploaded(path, "a.jsonl", stored(path, "a.jsonl"))
    path.write_bytes(session(30))
    second = uploaded(path, "b.jsonl", stored(path, "b.jsonl"))
    assert n_read == ["a.jsonl", "b.jsonl", "a.jsonl"], "what was read under another name is not taken"
    assert (second.pk, second.status) != (first.pk, State.FAILED)
    assert Session.objects.get().n_messages == 61


@pytest.mark.parametrize("change", [b"", b"later\n"])
def test_a_file_that_changes_meanwhile_is_read_from_its_upload(
    tmp_path: Path, n_read: list[str], change: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(session(3))

    def read(file: Any) -> Any:
        found = ingest.read_alone(file, "a.jsonl", path.stat().st_size, lambda done: None)
        with path.open("ab") as more:
            more.write(change)
        os.utime(path, ns=(1, 1))  # as where nothing else tells
        return found

    blob = ahead.store_and_read(path, "a.jsonl", read)
    assert ahead.take(blob.sha256, "a.jsonl") is None
    assert uploaded(path, "a.jsonl", blob).status == State.DONE
    assert n_read == ["a.jsonl"] * 2


def test_what_is_there_and_what_is_an_archive_is_not_read_ahead(tmp_path: Path, n_read: list[str]) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.zip"
    plain.write_bytes(session(2))
    packed.write_bytes(zipped({"b.jsonl": session(3)}))
    uploaded(plain, "a.jsonl", stored(plain, "a.jsonl"))
    n_read.clear()
    stored(plain, "a.jsonl")
    upload = uploaded(packed, "a.zip", stored(packed, "a.zip"))
    assert (upload.status, n_read) == (State.DONE, [])


def test_what_cannot_be_read_is_stored_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"no transcript\n" * 9)
    upload = uploaded(path, "a.jsonl", stored(path, "a.jsonl"))
    assert upload.status == State.FAILED
    assert "not JSON" in upload.error


def test_a_fault_of_a_reader_is_told_as_of_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(session(3))

    def broken(*_args: Any, **_more: Any) -> Any:
        raise KeyError("a fault")

    monkeypatch.setattr(ingest, "read_transcripts", broken)
    upload = uploaded(path, "a.jsonl", stored(path, "a.jsonl"))
    assert upload.status == State.FAILED
    assert "This is a fault of ctxweb; the bytes are kept" in upload.error


def test_what_is_interrupted_leaves_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(session(3))

    def interrupted(file: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ahead.store_and_read(path, "a.jsonl", interrupted)
    assert list(storage.stored()) == []


def test_where_storing_fails_the_images_put_apart_go_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, put = tmp_path / "a.jsonl", storage.put
    data = Lines().prompt("Look").turn(png(640, 480)).bytes()
    path.write_bytes(data.replace(b"iVBOR", b"iVBO\\u0052"))

    def full(file: Any) -> Any:
        put(io.BytesIO(b"something else"))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "put", full)
    with pytest.raises(OSError, match="No space left"):
        stored(path, "a.jsonl")
    assert [one.n_bytes for one in storage.stored()] == [14], "what others stored stays"
