"""Every fault is found, told, and mended where it can be; what is whole is left alone."""

from __future__ import annotations

import io
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from sessions import selectors
from sessions.adapters import storage
from sessions.engine.packing import pack
from sessions.models import (
    Job,
    LiveSource,
    Media,
    MediaUse,
    ModelAnswer,
    Session,
    SessionFacts,
    State,
    SweepRun,
    Upload,
)
from sessions.services.doctor import examine
from sessions.services.ingest import ingest
from sessions.services.model_summaries import keep_answer
from sessions.services.uploads import receive
from tests.services.conftest import Ingest
from tests.services.packs import zipped
from tests.services.test_deleting import SHOT, keep_apart, the, with_shots

pytestmark = pytest.mark.django_db
LONG_AGO = time.time() - 7200


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Settings) -> Path:
    """A data folder of its own, as a start leaves it."""
    folder = tmp_path / "data"
    (folder / "tmp").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    settings.DATA, settings.FILE_UPLOAD_TEMP_DIR = folder, folder / "tmp"
    return folder


def kinds(*, deep: bool = False) -> list[str]:
    return [finding.kind for finding in examine(deep=deep)]


def mend(*, deep: bool = False) -> list[str]:
    """Mend everything; returns what could not be."""
    left = []
    for finding in examine(deep=deep):
        if finding.mend is None:
            left.append(finding.kind)
        else:
            finding.mend()
    for upload in Upload.objects.unfinished():
        ingest(upload_id=upload.pk)
    return left


def place(sha256: str, blobs: Path) -> Path:
    return blobs / storage.blob_name(sha256)


def age(path: Path) -> None:
    os.utime(path, (LONG_AGO, LONG_AGO))


def test_a_healthy_library_has_no_findings(ingested: Ingest) -> None:
    ingested(with_shots("a", SHOT))
    ingested(zipped({"b.jsonl": with_shots("b", SHOT), "n.txt": b"no"}), "b.zip")
    ingested(b"Dear diary", "diary.txt")
    keep_answer("k", "summary", b"words", "m")
    assert kinds(deep=True) == []


def test_left_files_are_deleted_once_nobody_writes_them(data: Path, blobs: Path) -> None:
    blobs.mkdir(exist_ok=True)
    left = [blobs / ".part-abc", data / "tmp" / "x.upload", data / "secret_key.123"]
    for path in left:
        path.write_bytes(b"half")
        path.chmod(0o600)
    assert kinds() == [], "they may still be written"
    for path in left:
        age(path)
    assert kinds() == ["leftover"] * 3
    assert mend() == []
    assert [path for path in left if path.exists()] == []


def test_a_blob_that_nobody_names_goes_once_it_is_old(ingested: Ingest, blobs: Path) -> None:
    ingested(with_shots("a", SHOT))
    orphan = storage.put(io.BytesIO(b"of nobody")).sha256
    assert kinds() == []
    for blob in storage.stored():
        age(place(blob.sha256, blobs))
    assert kinds() == ["orphan"]
    assert mend() == []
    assert not storage.exists(orphan)
    assert kinds(deep=True) == []


def test_a_lost_upload_is_said_and_comes_back_by_uploading_again(ingested: Ingest, blobs: Path) -> None:
    upload = ingested(with_shots("a"))
    place(upload.sha256, blobs).unlink()
    (finding,) = examine()
    assert (finding.kind, finding.mend, finding.action) == ("blob_missing", None, "upload session.jsonl again")
    assert receive(file=io.BytesIO(with_shots("a")), filename="a.jsonl").duplicate
    assert kinds(deep=True) == []


def test_a_lost_image_is_read_again(ingested: Ingest, blobs: Path) -> None:
    before = the(ingested(with_shots("a", SHOT)))
    keep_apart(Media.objects.get(), SHOT)
    place(Media.objects.get().pk, blobs).unlink()
    assert kinds() == ["blob_missing"]
    assert mend() == []
    assert kinds(deep=True) == []
    assert Session.objects.get().pk == before.pk


def test_the_lost_text_of_an_archives_session_is_read_again(ingested: Ingest, blobs: Path) -> None:
    ingested(zipped({"a.jsonl": with_shots("a"), "b.jsonl": with_shots("b")}), "both.zip")
    one = Session.objects.order_by("member").first()
    assert one is not None
    place(one.text_sha256, blobs).unlink()
    assert kinds() == ["blob_missing"]
    assert mend() == []
    assert "Look, a" in str(selectors.message_contents(selectors.get_session(one.pk), 0))


def test_changed_bytes_of_the_same_length_are_found_deep_down(ingested: Ingest, blobs: Path) -> None:
    ingested(with_shots("a", SHOT))
    shot = Media.objects.get()
    keep_apart(shot, SHOT)
    MediaUse.objects.update(offset=0, n_chars=0)
    place(shot.pk, blobs).write_bytes(bytes(shot.n_bytes))
    assert kinds() == []
    assert kinds(deep=True) == ["damaged", "blob_missing"]
    assert mend(deep=True) == []
    assert kinds(deep=True) == []
    assert (blobs / "damaged" / shot.pk).read_bytes() == bytes(shot.n_bytes), "nothing is thrown away"


def test_a_blob_of_the_wrong_length_is_found_without_reading(ingested: Ingest, blobs: Path) -> None:
    upload = ingested(with_shots("a"))
    place(upload.sha256, blobs).write_bytes(b"cut")
    assert kinds() == ["damaged", "blob_missing"]
    assert mend() == ["blob_missing"]
    receive(file=io.BytesIO(with_shots("a")), filename="a.jsonl")
    assert kinds(deep=True) == []


def test_what_else_names_a_lost_blob_forgets_it(ingested: Ingest, blobs: Path) -> None:
    keep_answer("k", "summary", b"words", "m")
    place(ModelAnswer.objects.get().text_sha256, blobs).unlink()
    upload = ingested(with_shots("a"))
    LiveSource.objects.create(
        key="k", path="/x", upload=upload, n_bytes=1, mtime_ns=1, changed_at=timezone.now(), previous_sha256="0" * 64
    )
    assert kinds() == ["blob_missing", "blob_missing"]
    assert mend() == []
    assert (ModelAnswer.objects.exists(), LiveSource.objects.get().previous_sha256) == (False, "")


def test_missing_facts_are_made_again(ingested: Ingest) -> None:
    found = the(ingested(with_shots("a", SHOT)))
    found.facts.delete()
    assert kinds() == ["incomplete"]
    assert mend() == []
    assert kinds() == []
    assert SessionFacts.objects.filter(session=found).exists()


@pytest.mark.parametrize("damage", ["cut", "fewer"])
def test_damaged_facts_are_found_by_reading_them(ingested: Ingest, damage: str) -> None:
    found = the(ingested(with_shots("a", SHOT)))
    facts = SessionFacts.objects.get(session=found)
    transcript = pack.unpack(bytes(facts.packed))
    short = replace(transcript, messages=transcript.messages[:1], requests=())
    SessionFacts.objects.update(packed=facts.packed[:-9] if damage == "cut" else pack.pack(short))
    assert kinds() == []
    (finding,) = examine(deep=True)
    said = "facts that cannot be read" if damage == "cut" else f"1 of {found.n_messages} messages"
    assert (finding.kind, said in finding.text) == ("incomplete", True)
    assert mend(deep=True) == []
    assert list(examine(deep=True)) == []


def test_an_image_known_to_no_table_is_read_again(ingested: Ingest) -> None:
    ingested(with_shots("a", SHOT))
    Media.objects.all().delete()
    assert kinds() == ["incomplete"]
    assert mend() == []
    assert Media.objects.count() == 1


def test_an_image_that_no_session_shows_goes(ingested: Ingest, blobs: Path) -> None:
    ingested(with_shots("a", SHOT))
    MediaUse.objects.all().delete()
    assert kinds() == ["media_unused"]
    assert mend() == []
    assert not Media.objects.exists()


def test_stuck_work_is_queued_again(blobs: Path) -> None:
    first, second = (receive(file=io.BytesIO(with_shots(n)), filename=n).upload for n in "ab")
    silent = timezone.now() - timezone.timedelta(minutes=61)
    Job.objects.filter(upload=first).update(state=State.READING, claims=1, worker="elsewhere:1:0", heartbeat_at=silent)
    Job.objects.filter(upload=second).delete()
    SweepRun.objects.create(key="k", options={"sessions": []}, n_total=1, state="running", heartbeat_at=silent)
    assert kinds() == ["job_missing", "work_stuck", "work_stuck"]
    assert mend() == []
    assert set(Upload.objects.values_list("status", flat=True)) == {State.DONE}
    assert SweepRun.objects.get().state == "queued"


def test_a_database_of_a_newer_program_is_not_touched() -> None:
    from django.db.migrations.recorder import MigrationRecorder

    MigrationRecorder.Migration.objects.create(app="agent_sessions", name="9999_from_the_future")
    (finding,) = examine()
    assert (finding.kind, finding.mend) == ("newer_database", None)
    assert "agent_sessions.9999_from_the_future" in finding.text


def test_pending_migrations_hide_the_rest(monkeypatch: pytest.MonkeyPatch, ingested: Ingest) -> None:
    from django.db.migrations.recorder import MigrationRecorder

    ingested(with_shots("a"))
    SessionFacts.objects.all().delete()
    MigrationRecorder.Migration.objects.filter(app="agent_sessions").delete()
    called: list[Any] = []
    monkeypatch.setattr("sessions.services.doctor.call_command", lambda *a, **k: called.append(a))
    assert kinds() == ["migrations"]
    assert mend() == []
    assert called == [("migrate",)]
