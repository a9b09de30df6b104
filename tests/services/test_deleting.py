"""Deleting takes everything that belongs to it and nothing else, whoever else is at work."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from sessions import selectors
from sessions.adapters import storage
from sessions.models import (
    AnswerUse,
    Job,
    LiveSource,
    Media,
    MediaUse,
    ModelAnswer,
    ReplayLink,
    SavedView,
    Session,
    SessionFacts,
    State,
    StoppedSource,
    SummaryJob,
    SweepRun,
    Upload,
)
from sessions.services import blobs, deleting, ingest, jobs
from sessions.services.links import create_link
from sessions.services.live import Change, follow_again, follow_file
from sessions.services.media import media_bytes
from sessions.services.model_summaries import keep_answer, kept_answer
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png, session
from tests.services.conftest import Ingest
from tests.services.packs import zipped

FIXTURES = Path(__file__).parents[1] / "fixtures"

pytestmark = pytest.mark.django_db
SHOT, OTHER_SHOT = png(800, 600, seed=1), png(800, 600, seed=2)


def files(folder: Path) -> int:
    """Stored files, those in the making included."""
    return sum(path.is_file() for path in folder.rglob("*"))


def with_shots(name: str, *shots: bytes) -> bytes:
    lines = Lines(session=name).prompt(f"Look, {name}")
    for shot in shots:
        lines.turn(shot)
    return lines.bytes()


def keep_apart(media: Media, data: bytes) -> None:
    """As one that has no place in its transcript: decoded, as a blob of its own."""
    storage.put_bytes(data, media.pk)
    Media.objects.filter(pk=media.pk).update(apart=True)
    MediaUse.objects.filter(sha256=media.pk).update(offset=0, n_chars=0)


def the(upload: Upload) -> Session:
    return Session.objects.get(upload=upload)


def belongings(found: Session) -> None:
    """One of everything that hangs on a session."""
    create_link(session=found, view="session")
    SavedView.objects.create(session=found, kind="replay", state="", name="kept")
    SummaryJob.objects.create(session=found, model="m", n_total=1, heartbeat_at=timezone.now())
    SweepRun.objects.create(key=found.pk, options={"sessions": [found.pk]}, n_total=1, heartbeat_at=timezone.now())
    keep_answer(f"answer-{found.pk}", "summary", f"A summary of {found.pk}".encode(), "m", session_id=found.pk)


def test_a_session_goes_with_everything_and_leaves_no_bytes(ingested: Ingest, blobs: Path) -> None:
    found = the(ingested(with_shots("a", SHOT)))
    belongings(found)
    plan = deleting.plan(sessions=[found.pk])
    assert (plan.n_links, plan.n_saved, plan.n_answers, len(plan.sweeps)) == (1, 1, 1, 1)
    assert (plan.n_messages, plan.n_media, plan.n_blobs) == (found.n_messages, 1, 2)
    assert Session.objects.exists(), "a plan changes nothing"
    stored = sum(path.stat().st_size for path in blobs.rglob("*") if path.is_file())
    assert plan.n_bytes == stored
    deleting.delete(sessions=[found.pk])
    left = (
        Session,
        Upload,
        Job,
        SessionFacts,
        Media,
        MediaUse,
        ReplayLink,
        SavedView,
        SummaryJob,
        SweepRun,
        ModelAnswer,
        AnswerUse,
    )
    assert [model.__name__ for model in left if model.objects.exists()] == []  # type: ignore[attr-defined]
    assert files(blobs) == 0


def test_what_another_session_needs_stays(ingested: Ingest, blobs: Path) -> None:
    a, b = the(ingested(with_shots("a", SHOT, OTHER_SHOT))), the(ingested(with_shots("b", SHOT)))
    belongings(a)
    belongings(b)
    keep_answer("both", "summary", b"Said of both", "m", session_id=a.pk)
    keep_answer("both", "summary", b"Said of both", "m", session_id=b.pk)
    assert deleting.plan(sessions=[a.pk]).n_media == 1
    deleting.delete(sessions=[a.pk])
    (media,) = Media.objects.all()
    assert media_bytes(media) == SHOT
    assert kept_answer("both", "summary") == b"Said of both"
    assert (ReplayLink.objects.get().session_id, SweepRun.objects.get().key) == (b.pk, b.pk)
    assert "Look, b" in str(selectors.message_contents(selectors.get_session(b.pk), 0))
    assert files(blobs) == 3, "the file and two answers"


def test_the_upload_of_an_archive_stays_until_its_last_session(ingested: Ingest, blobs: Path) -> None:
    data = zipped({"a.jsonl": with_shots("a", SHOT), "b.jsonl": with_shots("b", OTHER_SHOT)})
    upload = ingested(data, "both.zip")
    a, b = Session.objects.order_by("member")
    plan = deleting.delete(sessions=[a.pk])
    assert ([part.upload for part in plan.partly], plan.uploads) == ([upload], ())
    assert list(Session.objects.all()) == [b]
    assert storage.exists(upload.sha256)
    assert not storage.exists(a.text_sha256)
    assert media_bytes(Media.objects.get()) == OTHER_SHOT
    assert files(blobs) == 2
    deleting.delete(sessions=[b.pk])
    assert not Upload.objects.exists()
    assert files(blobs) == 0


def test_uploading_an_archive_again_brings_its_deleted_session_back(ingested: Ingest) -> None:
    data = zipped({"a.jsonl": with_shots("a"), "b.jsonl": with_shots("b")})
    ingested(data, "both.zip")
    before = set(Session.objects.values_list("pk", flat=True))
    deleting.delete(sessions=[min(before)])
    upload, duplicate = receive(file=io.BytesIO(data), filename="both.zip")
    assert not duplicate
    ingest.ingest(upload_id=upload.pk)
    assert set(Session.objects.values_list("pk", flat=True)) == before
    assert receive(file=io.BytesIO(data), filename="both.zip").duplicate


def test_the_same_bytes_are_new_after_a_delete(ingested: Ingest) -> None:
    first = ingested(with_shots("a", SHOT))
    deleting.delete(uploads=[first.pk])
    upload, duplicate = receive(file=io.BytesIO(with_shots("a", SHOT)), filename="again.jsonl")
    assert (duplicate, upload.pk == first.pk, upload.filename) == (False, False, "again.jsonl")
    assert ingest.ingest(upload_id=upload.pk).status == State.DONE
    assert "Look, a" in str(selectors.message_contents(selectors.get_session(the(upload).pk), 0))


def test_subagents_and_branches_go_along(ingested: Ingest) -> None:
    root, child, stranger = (the(ingested(with_shots(name))) for name in "abc")
    Session.objects.filter(pk=child.pk).update(parent=root)
    branch = Session.objects.get(pk=stranger.pk)
    branch.pk, branch.position, branch.branch_of_id = "s_branch", 1, root.pk
    branch.upload_id = root.upload_id
    branch.save(force_insert=True)
    plan = deleting.plan(sessions=["s_branch"])
    assert ([s.pk for s in plan.chosen], [s.pk for s in plan.subagents], plan.n_branches) == ([root.pk], [child.pk], 1)
    assert len(plan.uploads) == 2
    deleting.delete(sessions=["s_branch"])
    assert list(Session.objects.all()) == [stranger]


def test_old_ones_go_by_their_last_message(ingested: Ingest) -> None:
    old, new = (the(ingested(with_shots(name))) for name in "ab")
    Session.objects.filter(pk=old.pk).update(ended_at=timezone.now() - timezone.timedelta(days=40))
    Session.objects.filter(pk=new.pk).update(ended_at=timezone.now() - timezone.timedelta(days=20))
    unread = ingested(b"Dear diary", "diary.txt")
    assert deleting.stale(30) == ([old.pk], [])
    Upload.objects.filter(pk=unread.pk).update(created_at=timezone.now() - timezone.timedelta(days=31))
    assert deleting.stale(30) == ([old.pk], [unread.pk])


def test_what_is_read_meanwhile_writes_nothing(blobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upload, _ = receive(file=io.BytesIO(with_shots("a", SHOT)), filename="a.jsonl")
    read = ingest.read_upload

    def read_and_delete(*arguments: Any, **named: Any) -> Any:
        result = read(*arguments, **named)
        deleting.delete(uploads=[upload.pk])
        return result

    monkeypatch.setattr(ingest, "read_upload", read_and_delete)
    with pytest.raises(ingest.UploadDeleted):
        ingest.ingest(upload_id=upload.pk)
    assert not Session.objects.exists()
    assert files(blobs) == 0
    with pytest.raises(ingest.UploadDeleted):
        ingest.ingest(upload_id=upload.pk)


def test_an_image_deleted_while_an_equal_one_is_read_is_there_in_the_end(
    ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = the(ingested(with_shots("a", SHOT)))
    upload, _ = receive(file=io.BytesIO(with_shots("b", SHOT)), filename="b.jsonl")
    read = ingest.read_upload

    def read_and_delete(*arguments: Any, **named: Any) -> Any:
        result = read(*arguments, **named)
        deleting.delete(sessions=[a.pk])
        return result

    monkeypatch.setattr(ingest, "read_upload", read_and_delete)
    assert ingest.ingest(upload_id=upload.pk).status == State.DONE
    assert media_bytes(Media.objects.get()) == SHOT


def test_a_job_is_cut_off(blobs: Path) -> None:
    upload, _ = receive(file=io.BytesIO(session()), filename="a.jsonl")
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    plan = deleting.delete(uploads=[upload.pk])
    assert plan.n_unfinished == 1
    assert not held.rows().exists()
    assert files(blobs) == 0


def test_bytes_that_a_row_names_are_never_removed(ingested: Ingest) -> None:
    """Every kind of row that names a blob keeps it."""
    archive = ingested(zipped({"a.jsonl": with_shots("a", SHOT), "n.txt": b"no"}), "a.zip")
    keep_apart(Media.objects.get(), SHOT)
    keep_answer("k", "summary", b"kept words", "m")
    LiveSource.objects.create(
        key="k", path="/x", upload=archive, n_bytes=1, mtime_ns=1, changed_at=timezone.now(),
        previous_sha256=storage.put(io.BytesIO(b"before")).sha256,
    )  # fmt: skip
    every = {blob.sha256 for blob in storage.stored()}
    assert len(every) == 5
    assert blobs.named() == blobs.named(every) == every
    blobs.remove_unnamed(every)
    assert {blob.sha256 for blob in storage.stored()} == every


def test_a_watched_file_is_not_brought_back(tmp_path: Path, blobs: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(session(1))
    follow_file(path=path, quiet=True)
    plan = deleting.delete(sessions=[Session.objects.get().pk])
    assert (plan.n_watched, files(blobs)) == (1, 0)
    assert StoppedSource.objects.get().path == str(path)
    path.write_bytes(session(2))
    assert follow_file(path=path, quiet=True) == (change := follow_file(path=path, quiet=True))
    assert (change.change, change.upload, Upload.objects.count()) == (Change.STOPPED, None, 0)
    assert follow_again(folder=tmp_path / "elsewhere") == 0
    assert follow_again(folder=tmp_path) == 1
    assert follow_file(path=path, quiet=True).change == Change.NEW


def test_one_session_of_a_watched_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.zip"
    path.write_bytes(zipped({"a.jsonl": with_shots("a"), "b.jsonl": with_shots("b")}))
    follow_file(path=path, quiet=True)
    a, b = Session.objects.order_by("member")
    plan = deleting.delete(sessions=[a.pk])
    assert plan.is_empty
    assert "Delete the whole upload" in plan.refused[0].reason
    assert Session.objects.count() == 2
    assert len(deleting.delete(sessions=[a.pk, b.pk]).uploads) == 1
    assert not Upload.objects.exists()


def test_a_watched_file_goes_with_its_subagents(tmp_path: Path) -> None:
    """A session and its subagent in one file: both go, though each by itself would come back."""
    path = tmp_path / "events.jsonl"
    path.write_bytes((FIXTURES / "transcripts/copilot_cli/compaction.jsonl").read_bytes())
    follow_file(path=path, quiet=True)
    (root,) = Session.objects.filter(parent__isnull=True)
    plan = deleting.delete(sessions=[root.pk])
    assert (len(plan.sessions), plan.refused, len(plan.uploads)) == (2, (), 1)
    assert not Session.objects.exists()
    with pytest.raises(Session.DoesNotExist):
        selectors.load_weighed(root.pk)


def test_a_watched_file_deleted_while_it_is_read_stays_deleted(
    tmp_path: Path, blobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sessions.services import live

    path = tmp_path / "a.jsonl"
    path.write_bytes(with_shots("a", SHOT))
    follow_file(path=path, quiet=True)
    path.write_bytes(with_shots("a", SHOT, OTHER_SHOT))
    read = live.read_upload

    def read_and_delete(upload: Upload) -> Any:
        result = read(upload)
        deleting.delete(sessions=[Session.objects.get().pk])
        return result

    monkeypatch.setattr(live, "read_upload", read_and_delete)
    assert follow_file(path=path, quiet=True).upload is None
    assert not Upload.objects.exists()
    assert not Media.objects.exists()
    assert files(blobs) == 0


def test_ids_that_are_gone_are_passed_over() -> None:
    assert deleting.delete(sessions=["s_nothing"]).is_empty


def test_an_answer_that_comes_after_the_session_went_is_not_kept(ingested: Ingest, blobs: Path) -> None:
    found = the(ingested(session()))
    deleting.delete(sessions=[found.pk])
    keep_answer("late", "summary", b"Too late", "m", session_id=found.pk)
    assert kept_answer("late", "summary") is None
    assert files(blobs) == 0
