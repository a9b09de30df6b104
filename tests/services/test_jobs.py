from __future__ import annotations

import datetime as dt
import io
import os
import socket
import subprocess
import sys

import pytest
from django.utils import timezone

from sessions.models import Job, State, Upload
from sessions.services import jobs
from sessions.services.uploads import receive

pytestmark = pytest.mark.django_db

LONG_AGO = dt.timedelta(minutes=10)


@pytest.fixture
def upload() -> Upload:
    return receive(file=io.BytesIO(b"{}"), filename="a.jsonl").upload


def dead_worker() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}"


def test_a_claim_excludes_others(upload: Upload) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    assert held.attempt == 1
    job = Job.objects.get()
    assert (job.state, job.worker) == (State.READING, f"{socket.gethostname()}:{os.getpid()}")
    assert jobs.claim(upload_id=upload.pk) is None


def test_the_work_of_a_dead_process_is_taken_over_at_once(upload: Upload) -> None:
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker=dead_worker())
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    assert held.attempt == 2


def test_a_killed_process_that_nobody_waited_for_counts_as_dead(upload: Upload) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker=f"{socket.gethostname()}:{process.pid}")
    assert jobs.requeue_lost() == []
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert jobs.requeue_lost() == [upload.pk]
    finally:
        process.wait()


def test_silence_from_another_host_counts_as_lost(upload: Upload) -> None:
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker="elsewhere:1")
    assert jobs.requeue_lost() == []
    Job.objects.update(heartbeat_at=timezone.now() - LONG_AGO)
    assert jobs.requeue_lost() == [upload.pk]
    assert Upload.objects.get().status == Job.objects.get().state == State.QUEUED
    assert jobs.requeue_lost() == [], "sent once, then given time to be taken"


def test_a_task_that_never_came_is_sent_again(upload: Upload) -> None:
    assert jobs.requeue_lost() == []
    Job.objects.update(heartbeat_at=timezone.now() - LONG_AGO)
    assert jobs.requeue_lost() == [upload.pk]


def test_after_three_attempts_it_fails_with_a_message(upload: Upload) -> None:
    for attempt in (1, 2, 3):
        held = jobs.claim(upload_id=upload.pk)
        assert held is not None
        assert held.attempt == attempt
        Job.objects.update(worker=dead_worker(), done_bytes=1)
    assert jobs.requeue_lost() == []
    upload.refresh_from_db()
    assert upload.status == Job.objects.get().state == State.FAILED
    assert "ended the worker 3 times, near byte 1 of 2" in upload.error


def test_a_claim_that_was_taken_over_cannot_beat_or_give_back(upload: Upload) -> None:
    old = jobs.claim(upload_id=upload.pk)
    assert old is not None
    Job.objects.update(worker=dead_worker())
    new = jobs.claim(upload_id=upload.pk)
    assert new is not None
    old.last_beat = 0
    old.beat(2)
    jobs.give_back(held=old)
    job = Job.objects.get()
    assert (job.state, job.done_bytes) == (State.READING, 0)


def test_a_finished_job_is_never_lost(upload: Upload) -> None:
    Job.objects.update(state=State.DONE, worker=dead_worker(), heartbeat_at=timezone.now() - LONG_AGO)
    assert jobs.requeue_lost() == []
    assert jobs.claim(upload_id=upload.pk) is None
