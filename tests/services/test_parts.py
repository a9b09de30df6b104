"""A large archive is read in parts by whoever is there; a lost worker or a bad file costs no other part."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sessions.adapters import storage
from sessions.models import Job, Member, MemberStatus, Part, Session, SessionFacts, State, Upload
from sessions.services import deleting, jobs, parts, queue, work
from sessions.services.ingest import ingest, ingest_claimed, reading
from sessions.services.processes import Ending
from sessions.services.uploads import receive
from tests.services.claude_lines import session
from tests.services.packs import zipped
from tests.services.test_ingest import everything

pytestmark = pytest.mark.django_db
CRASH = Ending("its process was ended by SIGSEGV", by_its_work=True)
N_FILES = 5


@pytest.fixture(autouse=True)
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SPREAD_BYTES", 0)
    monkeypatch.setattr(parts, "PART_FILES", 2)
    monkeypatch.setattr(queue, "tell", [])  # the tests' broker would run every message in place


@pytest.fixture
def upload(blobs: Path) -> Upload:
    files = {f"{n}.jsonl": session(n + 1, session=f"{n}2222222-0000-0000-0000-000000000000") for n in range(N_FILES)}
    return receive(file=io.BytesIO(zipped({"read me.md": b"# Hi", **files})), filename="all.zip").upload


def shared_out(upload: Upload) -> queue.Claim[Job]:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    with storage.open_blob(upload.sha256) as file:
        parts.share_out(upload, file, held)
    return held


def test_read_whole_or_in_parts_it_comes_out_the_same(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SPREAD_BYTES", 10**9)
    ingest(upload_id=upload.pk)
    fields = [f.name for f in Upload._meta.concrete_fields]
    whole, told = everything(), Upload.objects.values(*fields).get()
    placed = list(Session.objects.order_by("position").values_list("position", "member", "text_sha256"))
    members = list(Member.objects.values_list("position", "name", "status", "format", "n_sessions", "error", "sha256"))
    monkeypatch.setattr(parts, "SPREAD_BYTES", 0)
    Job.objects.update(state=State.QUEUED)
    ingest(upload_id=upload.pk)
    assert everything() == whole
    assert Upload.objects.values(*fields).get() == told
    assert list(Session.objects.order_by("position").values_list("position", "member", "text_sha256")) == placed
    found = Member.objects.values_list("position", "name", "status", "format", "n_sessions", "error", "sha256")
    assert list(found) == members
    assert not Part.objects.exists()


def test_others_read_parts_and_their_sessions_are_there_before_the_archive_is_done(upload: Upload) -> None:
    held = shared_out(upload)
    assert list(Part.objects.order_by("start").values_list("start", "stop")) == [(0, 3), (3, 5), (5, 6)]
    assert work.work_one(), "another worker"
    assert (Session.objects.count(), Upload.objects.get().status) == (2, State.READING)
    assert work.work_one()
    ingest_claimed(held)
    assert (Session.objects.count(), Upload.objects.get().status) == (N_FILES, State.DONE)
    assert [one.position for one in Session.objects.order_by("position")] == list(range(N_FILES))


def test_who_takes_the_archive_up_again_goes_on_behind_the_parts_that_are_done(
    upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = shared_out(upload)
    assert work.work_one()
    done = set(Session.objects.values_list("pk", flat=True))
    taken = parts.claim()
    assert taken is not None
    for kind, claim in ((work.UPLOADS, lost), (work.PARTS, taken)):
        worker = kind.model._default_manager.values_list("worker", flat=True).get(pk=claim.pk)
        assert queue.release(kind, claim.pk, worker)
    asked: list[str] = []
    opened = storage.open_blob
    monkeypatch.setattr(parts.storage, "open_blob", lambda sha256: asked.append(sha256) or opened(sha256))
    ingest(upload_id=upload.pk)
    names = [f"{n}.jsonl" for n in range(2, N_FILES)]
    wanted = Session.objects.filter(member__in=names).values_list("text_sha256", flat=True)
    assert sorted(one for one in asked if one != upload.sha256) == sorted(wanted), "only what was not read yet"
    assert done < set(Session.objects.values_list("pk", flat=True))
    assert Session.objects.count() == N_FILES
    parts.run_claimed(taken, reading)
    assert (Session.objects.count(), SessionFacts.objects.count()) == (N_FILES, N_FILES)


def test_a_part_that_ends_its_process_three_times_fails_its_files_alone(upload: Upload) -> None:
    held = shared_out(upload)
    first = Part.objects.order_by("start").first()
    assert first is not None
    for _ in range(queue.MAX_ATTEMPTS):
        taken = queue.take(Part.objects.filter(pk=first.pk))
        assert taken is not None
        worker = Part.objects.values_list("worker", flat=True).get(pk=first.pk)
        assert queue.release(work.PARTS, first.pk, worker, CRASH)
    ingest_claimed(held)
    assert Upload.objects.get().status == State.DONE
    status = dict(Member.objects.values_list("name", "status"))
    assert [name for name, one in status.items() if one == MemberStatus.FAILED] == ["0.jsonl", "1.jsonl"]
    words = "ended its process 3 times. Last: its process was ended by SIGSEGV"
    assert words in Member.objects.get(name="1.jsonl").error
    assert Session.objects.count() == N_FILES - 2


def test_deleting_the_archive_meanwhile_leaves_nothing(upload: Upload, blobs: Path) -> None:
    held = shared_out(upload)
    assert work.work_one()
    taken = parts.claim()
    assert taken is not None
    assert deleting.delete(uploads=[upload.pk]).uploads
    parts.run_claimed(taken, reading)
    ingest_claimed(held)
    assert (Session.objects.count(), Part.objects.count(), Member.objects.count()) == (0, 0, 0)
    assert [path for path in blobs.rglob("*") if path.is_file()] == []


def test_what_waits_is_told_to_the_workers(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(queue, "tell", [told.append])
    shared_out(upload)
    assert told == [2]
