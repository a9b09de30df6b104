"""Uploads as work of the queue: who reads which, what is taken up again, what fails with which words."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from django.db import InterfaceError
from pytest_django import DjangoAssertNumQueries

from sessions.models import Job, Member, Session, State, Upload
from sessions.services import jobs, processes, queue, work
from sessions.services.ingest import ingest, ingest_claimed
from sessions.services.processes import Ending, name_of, this_process
from sessions.services.uploads import receive
from sessions.services.work import UPLOADS
from tests.services.packs import zipped

pytestmark = pytest.mark.django_db

LINES = b'{"role": "user", "content": "Hello"}\n{"role": "assistant", "content": "Hi"}\n'
CRASH = Ending("its process was ended by SIGSEGV", by_its_work=True)
KILL = Ending("its process was ended by SIGKILL", by_its_work=False)


@pytest.fixture
def upload() -> Upload:
    return receive(file=io.BytesIO(LINES), filename="a.jsonl").upload


def dead_process() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}:0"


class Clock:
    """Moves when it is told to."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_claim_excludes_others(upload: Upload) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    job = Job.objects.get()
    assert (job.state, job.worker, job.claims, job.attempts) == (State.READING, this_process(), 1, 0)
    assert jobs.claim(upload_id=upload.pk) is None
    assert jobs.claim() is None


def test_the_oldest_is_taken_first_and_what_lost_a_worker_last() -> None:
    made = [receive(file=io.BytesIO(LINES + b" " * n), filename=f"{n}").upload for n in range(3)]
    first = jobs.claim()
    assert first is not None
    assert first.pk == made[0].job.pk
    assert queue.release(UPLOADS, first.pk, this_process())
    taken = [jobs.claim() for _ in range(4)]
    assert [one.pk if one else None for one in taken] == [made[1].job.pk, made[2].job.pk, made[0].job.pk, None]


def test_two_that_look_at_once_take_one_each(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another takes the row between the look and the claim: the conditional update finds nothing."""
    name, n_asked = this_process(), []

    def taken_meanwhile() -> str:
        n_asked.append(1)
        Job.objects.update(state=State.READING, claims=1, worker="elsewhere:1:0")
        return name

    monkeypatch.setattr(queue, "this_process", taken_meanwhile)
    assert jobs.claim() is None
    assert n_asked == [1]
    assert Job.objects.get().worker == "elsewhere:1:0"


def test_the_work_of_a_dead_process_is_queued_at_once_and_not_counted(upload: Upload) -> None:
    for n in range(1, 6):
        assert jobs.claim(upload_id=upload.pk)
        Job.objects.update(worker=dead_process())
        assert queue.Watch().recover(UPLOADS) == 1
        job = Job.objects.get()
        assert (job.state, job.attempts, job.losses, job.worker) == (State.QUEUED, 0, n, "")
    assert Upload.objects.get().status == State.QUEUED


def test_a_killed_process_that_nobody_waited_for_is_gone(upload: Upload) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker=name_of(process.pid))
    assert queue.Watch().recover(UPLOADS) == 0
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert queue.Watch().recover(UPLOADS) == 1
    finally:
        process.wait()


def test_a_later_process_with_the_same_id_does_not_keep_the_work() -> None:
    mine = name_of(os.getpid())
    assert not processes.is_gone(mine)
    host, pid, start = mine.split(":")
    if start != "0":  # where the system tells when a process began
        assert processes.is_gone(f"{host}:{pid}:{start}9")


def test_a_supervised_process_is_its_supervisors_to_judge() -> None:
    dead = dead_process()
    assert processes.is_gone(dead)
    assert not processes.is_gone(f"{dead}/{name_of(os.getpid())}")
    assert processes.is_gone(f"{dead}/{dead}")


@pytest.mark.parametrize(("worker", "limit"), [("elsewhere:1:0", 60.0), ("", 60.0), ("mine", 600.0)])
def test_silence_counts_by_the_watchers_own_clock(upload: Upload, worker: str, limit: float) -> None:
    clock = Clock()
    watch = queue.Watch(clock)
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker=name_of(os.getpid()) if worker == "mine" else worker)
    assert watch.recover(UPLOADS) == 0, "seen for the first time"
    clock.now += limit
    assert watch.recover(UPLOADS) == 0, "exactly the limit"
    clock.now += 0.1
    Job.objects.update(beats=7)
    assert watch.recover(UPLOADS) == 0, "it beat"
    clock.now += limit + 0.1
    assert watch.recover(UPLOADS) == 1
    assert Job.objects.get().state == State.QUEUED


def test_moved_clocks_make_nobody_look_dead(upload: Upload) -> None:
    clock = Clock()
    watch = queue.Watch(clock)
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker="elsewhere:1:0", heartbeat_at="2001-01-01T00:00:00Z")
    assert watch.recover(UPLOADS) == 0
    clock.now += 30
    Job.objects.update(heartbeat_at="2055-01-01T00:00:00Z")
    assert watch.recover(UPLOADS) == 0


def test_after_three_crashes_it_fails_with_what_was_seen(upload: Upload) -> None:
    for attempt in (1, 2, 3):
        held = jobs.claim(upload_id=upload.pk)
        assert held is not None
        assert held.number == attempt
        Job.objects.update(done_bytes=12, phase="reading")
        assert queue.release(UPLOADS, held.pk, this_process(), CRASH)
    upload.refresh_from_db()
    assert upload.status == Job.objects.get().state == State.FAILED
    assert upload.error == (
        "Reading this file ended its process 3 times. Last: its process was ended by SIGSEGV, while reading, "
        f"at byte 12 of {len(LINES)}. The bytes are kept: upload the file again to retry."
    )
    again = receive(file=io.BytesIO(LINES), filename="a.jsonl")
    assert not again.duplicate
    assert ingest(upload_id=again.upload.pk).status == State.DONE


def test_kills_from_outside_never_fail_a_file(upload: Upload) -> None:
    for _ in range(50):
        held = jobs.claim(upload_id=upload.pk)
        assert held is not None
        queue.release(UPLOADS, held.pk, this_process(), KILL)
    job = Job.objects.get()
    assert (job.state, job.attempts, job.losses) == (State.QUEUED, 0, 50)


def test_a_release_takes_from_nobody_else(upload: Upload) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    assert not queue.release(UPLOADS, held.pk, "elsewhere:1:0", CRASH)
    assert Job.objects.get().attempts == 0


def test_a_claim_that_was_taken_over_notices_and_writes_nothing(upload: Upload) -> None:
    old = jobs.claim(upload_id=upload.pk)
    assert old is not None
    queue.release(UPLOADS, old.pk, this_process())
    new = jobs.claim(upload_id=upload.pk)
    assert new is not None
    old.show(done_bytes=2)
    old.beat()
    with pytest.raises(queue.Superseded):
        old.show(done_bytes=3)
    jobs.give_back(old)
    job = Job.objects.get()
    assert (job.state, job.done_bytes, job.claims) == (State.READING, 0, 2)
    ingest_claimed(old)
    assert Job.objects.get().state == State.READING
    ingest_claimed(new)
    assert Job.objects.get().state == State.DONE


def test_a_deleted_upload_stops_its_reader(upload: Upload) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    upload.delete()
    held.beat()
    with pytest.raises(queue.Superseded):
        held.show()


def test_a_beat_says_how_far_it_is(upload: Upload) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    held.show(done_bytes=5, phase="reading")
    assert Job.objects.get().done_bytes == 0, "shown with the next beat, not at once"
    held.beat()
    job = Job.objects.get()
    assert (job.done_bytes, job.phase, job.beats) == (5, "reading", 2)


def test_a_process_that_is_to_end_gives_its_work_back(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    queue.stopping.set()
    try:
        with pytest.raises(queue.Interrupted):
            ingest_claimed(held)
    finally:
        queue.stopping.clear()
    job = Job.objects.get()
    assert (job.state, job.attempts, job.losses) == (State.QUEUED, 0, 0)
    assert Upload.objects.get().status == State.QUEUED
    assert work.is_waiting()
    assert work.work_one()
    assert Upload.objects.get().status == State.DONE
    assert work.work_one(), "the index of what was read"
    assert not work.is_waiting()


@pytest.mark.parametrize("ended", ["stopping", "superseded"])
def test_an_archive_that_is_broken_off_counts_as_not_read(ended: str) -> None:
    """What breaks a reading off is no fault of the member that was being read."""
    packed = receive(file=io.BytesIO(zipped({"a.jsonl": LINES, "b.jsonl": LINES})), filename="two.zip").upload
    held = jobs.claim(upload_id=packed.pk)
    assert held is not None
    if ended == "superseded":
        held.is_mine = False
        ingest_claimed(held)
    else:
        queue.stopping.set()
        try:
            with pytest.raises(queue.Interrupted):
                ingest_claimed(held)
        finally:
            queue.stopping.clear()
        assert Job.objects.get().state == State.QUEUED
    assert not Member.objects.exists()
    assert not Session.objects.exists()


def test_a_beat_survives_a_connection_that_is_gone(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver calls it an interface error, which is no DatabaseError."""
    monkeypatch.setattr(queue, "BEAT_SECONDS", 0.001)
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    beats: list[int] = []
    again = threading.Event()

    def gone(claim: object) -> None:
        beats.append(1)
        if len(beats) > 1:
            again.set()
        raise InterfaceError("connection already closed")

    monkeypatch.setattr(queue.Claim, "beat", gone)
    with queue.beating(held):
        assert again.wait(60), "the thread went on"


def test_want_of_memory_is_said_as_what_it_is(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sessions.services.ingest.read_upload", greedy)
    assert ingest(upload_id=upload.pk).error == (
        "There was not enough memory to read this file (while reading). The bytes are kept."
    )


def test_a_finished_job_is_never_lost(upload: Upload) -> None:
    Job.objects.update(state=State.DONE, worker=dead_process())
    assert queue.Watch().recover(UPLOADS) == 0
    assert jobs.claim(upload_id=upload.pk) is None


ENDINGS = [
    (0, 0, "its process ended with status 0", False),
    (1, 0, "its process ended with status 1", True),
    (-signal.SIGSEGV, 0, "its process was ended by SIGSEGV", True),
    (-signal.SIGKILL, 0, "its process was ended by SIGKILL", False),
    (-signal.SIGKILL, 1, "its process was ended by SIGKILL, and the kernel counted an out-of-memory kill", True),
    (-signal.SIGKILL, None, "its process was ended by SIGKILL", True),
    (-signal.SIGTERM, 0, "its process was ended by SIGTERM", False),
    (-signal.SIGABRT, None, "its process was ended by SIGABRT", True),
    (-99, 0, "its process was ended by signal 99", True),
]


@pytest.mark.parametrize(("status", "n_oom_kills", "words", "by_its_work"), ENDINGS)
def test_how_a_process_ended(status: int, n_oom_kills: int | None, words: str, by_its_work: bool) -> None:
    assert processes.ending(status, n_oom_kills=n_oom_kills) == Ending(words, by_its_work)


def test_a_kind_of_work_does_not_starve_another(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def kind(name: str, n_pieces: int) -> queue.Kind[Job]:
        left = list(range(n_pieces))

        def claim() -> queue.Claim[Job] | None:
            return queue.Claim(Job, left.pop(), 1) if left else None

        run: Callable[[object], None] = lambda _: done.append(name)  # noqa: E731
        return queue.Kind(Job, claim, run, lambda _: None)

    monkeypatch.setattr(work, "_turns", [kind("a", 3), kind("b", 1), kind("c", 2)])
    while work.work_one():
        pass
    assert done == ["a", "b", "c", "a", "c", "a"]


def test_an_idle_worker_asks_one_question(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert not work.is_waiting()
    upload = receive(file=io.BytesIO(LINES), filename="a.jsonl").upload
    with django_assert_num_queries(1):
        assert work.is_waiting()
    Job.objects.filter(upload=upload).update(state=State.DONE)
    assert not work.is_waiting()
