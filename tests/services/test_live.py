"""Watched files: ids, links and positions stay while a file grows; nothing is lost when it does something else."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.models import LiveSource, Session, State, Upload
from sessions.services import live
from sessions.services.blobs import remove_unnamed
from sessions.services.links import create_link, find_link
from sessions.services.live import Change, Followed, follow_file, unchanged
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, session
from tests.services.conftest import Ingest

pytestmark = pytest.mark.django_db

OTHER = "22222222-2222-3333-4444-555555555555"


def followed(path: Path, data: bytes | None = None, *, quiet: bool = False) -> Followed:
    """The file, with ``data`` in it, as the watcher reads it."""
    if data is not None:
        path.write_bytes(data)
    return follow_file(path=path, quiet=quiet)


def n_blobs(blobs: Path) -> int:
    return sum(path.is_file() for path in blobs.rglob("*"))


def test_a_file_that_grows_keeps_ids_links_and_positions(tmp_path: Path, blobs: Path) -> None:
    path, lines = tmp_path / "a.jsonl", Lines().prompt("Watch me").turn("one")
    assert followed(path, lines.bytes()).change == Change.NEW
    first = selectors.get_session(Session.objects.get().pk)
    _, token = create_link(session=first, view="session")
    seen = [(m.id, m.preview) for m in selectors.load_weighed(first.pk).transcript.messages]
    for n in range(3):
        grown = followed(path, lines.turn(f"result {n}").bytes())
        assert (grown.change, grown.waiting) == (Change.GROWN, False)
    now = selectors.get_session(first.pk)
    assert (now.pk, now.upload_id, now.n_messages) == (first.pk, first.upload_id, 9)
    assert now.version != first.version
    messages = selectors.load_weighed(now.pk).transcript.messages
    assert [(m.id, m.preview) for m in messages][: len(seen)] == seen
    assert [m.index for m in messages] == list(range(9))
    assert "result 2" in str(selectors.message_contents(now, 8))
    with selectors.open_upload(now.upload) as file:
        assert file.read() == path.read_bytes()
    assert find_link(token=token) is not None
    assert Upload.objects.get().status == State.DONE
    assert n_blobs(blobs) == 2, "this version and the one before"


def test_the_cache_follows_the_file(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.jsonl", Lines().prompt("Watch me").turn("one")
    followed(path, lines.bytes())
    key = Session.objects.get().pk
    selectors.get_session(key)
    before = selectors.load_weighed(key)
    assert selectors.load_weighed(key) is before
    followed(path, lines.turn("two").bytes())
    selectors.get_session(key)
    assert len(selectors.load_weighed(key).transcript.messages) == len(before.transcript.messages) + 2


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_half_written_line_waits(tmp_path: Path, cut: int) -> None:
    path, data = tmp_path / "a.jsonl", session(2)
    half = followed(path, data[:-cut])
    assert half.change == Change.NEW
    assert half.upload is not None
    # Without only its newline the line is whole.
    assert (half.waiting, half.upload.n_skipped) == (cut > 1, 0)
    assert Session.objects.get().n_messages == (5 if cut == 1 else 4)
    assert followed(path).change == Change.SAME
    whole = followed(path, data)
    assert (whole.change, whole.waiting) == (Change.GROWN, False)
    assert Session.objects.get().n_messages == 5


def test_a_line_that_stays_cut_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert followed(path, session(1) + b'{"type": "user", "mess').waiting
    assert not unchanged(path, path.stat())
    late = followed(path, quiet=True)
    assert late.upload is not None
    assert (late.change, late.waiting, late.upload.n_skipped) == (Change.GROWN, False, 1)
    assert "cut off" in late.upload.skipped[0][2]
    assert unchanged(path, path.stat())


def test_a_first_line_that_is_cut_stores_nothing(tmp_path: Path) -> None:
    assert followed(tmp_path / "a.jsonl", session(1)[:50]) == Followed(Change.WAITING, None, waiting=True)
    assert not Upload.objects.exists()


@pytest.mark.parametrize("data", [session(1), session(9, session=OTHER)], ids=["truncated", "replaced by a longer one"])
def test_another_content_starts_another_session(tmp_path: Path, data: bytes) -> None:
    path, old = tmp_path / "a.jsonl", session(3)
    before = followed(path, old).upload
    key = Session.objects.get().pk
    now = followed(path, data)
    assert now.change == Change.REPLACED
    assert before is not None
    assert now.upload is not None
    assert now.upload.pk != before.pk
    kept = selectors.get_session(key)
    assert (kept.upload_id, kept.n_messages, hasattr(kept.upload, "live")) == (before.pk, 7, False)
    with selectors.open_upload(kept.upload) as file:
        assert file.read() == old
    assert LiveSource.objects.get().upload == now.upload
    assert now.upload.sessions.get().pk != key


def test_a_document_that_its_writer_rewrites_stays_one_session(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    text = '{{"model": "gpt-4o", "messages": [{{"role": "user", "content": "Hello"}}{more}], "n": {n}}}'
    followed(path, text.format(more="", n=1).encode())
    key = Session.objects.get().pk
    more = ', {"role": "assistant", "content": "Hi there"}'
    assert followed(path, text.format(more=more, n=2).encode()).change == Change.REWRITTEN
    assert (Session.objects.get().pk, Session.objects.get().n_messages) == (key, 2)


@pytest.mark.parametrize("data", [b"", b"no transcript at all\n", b'{"messages": [{"role"\n'])
def test_what_cannot_be_read_changes_nothing(tmp_path: Path, blobs: Path, data: bytes) -> None:
    path, good = tmp_path / "a.jsonl", session(2)
    followed(path, good)
    with pytest.raises(UnreadableInput):
        followed(path, data, quiet=True)
    assert (Upload.objects.get().status, Session.objects.get().n_messages) == (State.DONE, 5)
    assert n_blobs(blobs) == 1
    assert followed(path, good).change == Change.SAME


def test_an_upload_made_by_hand_goes_on(tmp_path: Path, ingested: Ingest) -> None:
    path, lines = tmp_path / "a.jsonl", Lines().prompt("Watch me").turn("one")
    upload = ingested(lines.bytes())
    key = Session.objects.get().pk
    known = followed(path, lines.bytes())
    assert (known.change, known.upload) == (Change.KNOWN, upload)
    assert followed(path, lines.turn("two").bytes()).change == Change.GROWN
    assert (Session.objects.get().pk, Session.objects.get().upload_id) == (key, upload.pk)


def test_equal_files_are_followed_apart(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines = Lines().prompt("Watch me").turn("one")
    followed(first, lines.bytes())
    assert followed(second, lines.bytes()).change == Change.NEW
    grown = followed(second, lines.turn("two").bytes()).upload
    followed(first, lines.bytes())
    assert grown is not None
    assert Upload.objects.count() == 2
    assert {upload.sha256 for upload in Upload.objects.all()} == {grown.sha256}
    again = receive(file=io.BytesIO(lines.bytes()), filename="c.jsonl")
    assert again.duplicate


def test_a_file_that_was_moved_goes_on(tmp_path: Path) -> None:
    path, moved = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    upload = followed(path, session(2)).upload
    path.rename(moved)
    assert followed(moved).change == Change.KNOWN
    assert followed(moved, session(3)).change == Change.GROWN
    assert Upload.objects.get() == upload
    assert LiveSource.objects.get().path == str(moved)


def test_the_second_of_two_watchers_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    followed(path, session(1))
    read = live.read_upload

    def overtaken(upload: Upload) -> object:
        monkeypatch.setattr(live, "read_upload", read)
        followed(path, session(3))
        return read(upload)

    monkeypatch.setattr(live, "read_upload", overtaken)
    followed(path, session(2))
    assert Session.objects.get().n_messages == 7
    assert LiveSource.objects.get().n_versions == 2


def test_only_what_changed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    followed(path, session(1))
    stat = path.stat()
    assert unchanged(path, stat)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))
    assert not unchanged(path, path.stat())
    assert followed(path).change == Change.SAME
    assert unchanged(path, path.stat())


def test_bytes_removed_between_look_and_row_are_stored_again(
    tmp_path: Path, blobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = session(1)
    create = Upload.objects.get_or_create

    def removed(**kwargs: object) -> object:
        remove_unnamed([str(kwargs["sha256"])])
        return create(**kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Upload.objects, "get_or_create", removed)
    upload = receive(file=io.BytesIO(data), filename="a.jsonl").upload
    with selectors.open_upload(upload) as file:
        assert file.read() == data


def test_a_file_uploaded_when_it_was_shorter_goes_on_under_that_upload(tmp_path: Path, ingested: Ingest) -> None:
    path, lines = tmp_path / "a.jsonl", Lines().prompt("By hand, then watched").turn("one")
    upload = ingested(lines.bytes())
    before = Session.objects.get()
    grown = followed(path, lines.turn("two").bytes())
    assert (grown.change, grown.upload and grown.upload.pk) == (Change.GROWN, upload.pk)
    assert (Session.objects.get().pk, Session.objects.get().n_messages) == (before.pk, before.n_messages + 2)
    assert followed(path, lines.turn("three").bytes()).change == Change.GROWN
    assert followed(path).change == Change.SAME


def test_what_was_uploaded_stays_where_the_watched_file_would_push_it_out(
    tmp_path: Path, ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lines = tmp_path / "a.jsonl", Lines().prompt("By hand, then watched").turn("one")
    ingested(lines.bytes())
    before = Session.objects.get()
    monkeypatch.setattr("sessions.services.continuations.goes_on", lambda before, packed: False)
    assert followed(path, lines.turn("two").bytes()).change == Change.REPLACED
    assert Session.objects.count() == 2
    assert Session.objects.get(pk=before.pk).n_messages == before.n_messages
