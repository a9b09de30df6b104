from __future__ import annotations

import io

import pytest

from sessions.adapters import storage
from sessions.models import Job, State, Upload
from sessions.services.uploads import clean_filename, receive

pytestmark = pytest.mark.django_db


def test_bytes_are_stored_and_queued_before_anything_reads_them() -> None:
    upload, duplicate = receive(file=io.BytesIO(b"not a transcript"), filename="notes.txt")
    assert not duplicate
    assert (upload.status, upload.job.state, upload.job.attempts) == (State.QUEUED, State.QUEUED, 0)
    assert (upload.n_bytes, upload.job.total_bytes) == (16, 16)
    with storage.open_blob(upload.sha256) as file:
        assert file.read() == b"not a transcript"


def test_equal_bytes_under_another_name_are_a_duplicate() -> None:
    first, _ = receive(file=io.BytesIO(b"{}"), filename="a.jsonl")
    second, duplicate = receive(file=io.BytesIO(b"{}"), filename="b.jsonl")
    assert duplicate
    assert second.pk == first.pk
    assert second.filename == "a.jsonl"
    assert Upload.objects.count() == Job.objects.count() == 1


def test_what_failed_can_be_tried_again() -> None:
    upload, _ = receive(file=io.BytesIO(b"{}"), filename="a.jsonl")
    Upload.objects.update(status=State.FAILED, error="out of memory")
    Job.objects.update(state=State.FAILED, attempts=3, done_bytes=2, error="out of memory")
    again, duplicate = receive(file=io.BytesIO(b"{}"), filename="a.jsonl")
    assert not duplicate
    assert again.pk == upload.pk
    job = Job.objects.get()
    assert (again.status, again.error) == (State.QUEUED, "")
    assert (job.state, job.attempts, job.done_bytes, job.error) == (State.QUEUED, 0, 0, "")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.jsonl", "a.jsonl"),
        ("/home/u/a.jsonl", "a.jsonl"),
        ("C:\\Users\\u\\a.jsonl", "a.jsonl"),
        ("../../a.jsonl", "a.jsonl"),
        ("a\x00b\n.jsonl", "ab.jsonl"),
        ("\ud83d.jsonl", "?.jsonl"),
        ("", "unnamed"),
        ("..", ".."),
        ("x" * 300 + ".jsonl", "x" * 249 + ".jsonl"),
    ],
)
def test_file_names_are_names_only(given: str, kept: str) -> None:
    assert clean_filename(given) == kept
