"""Background sweeps: who has them, what is lost, what is not run twice."""

from __future__ import annotations

import datetime as dt
import socket
import subprocess
import sys

import pytest
from django.utils import timezone

from sessions.models import SweepRun
from sessions.models.sweep_run import Sweeping
from sessions.services import sweep_runs
from sessions.services.jobs import this_process

pytestmark = pytest.mark.django_db


def made(**facts: object) -> SweepRun:
    values: dict[str, object] = {"key": "k", "n_total": 2, "heartbeat_at": timezone.now(), **facts}
    return SweepRun.objects.create(**values)


def dead_worker() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return f"{socket.gethostname()}:{process.pid}"


def test_a_run_of_a_dead_worker_is_queued_again() -> None:
    run = made(state=Sweeping.RUNNING, worker=dead_worker(), attempts=1)
    assert sweep_runs.requeue_lost() == [run.pk]
    run.refresh_from_db()
    assert (run.state, run.worker) == (Sweeping.QUEUED, "")


def test_a_living_worker_keeps_its_run() -> None:
    made(state=Sweeping.RUNNING, worker=this_process(), attempts=1)
    assert sweep_runs.requeue_lost() == []


def test_a_task_that_never_came_is_sent_again() -> None:
    run = made(heartbeat_at=timezone.now() - dt.timedelta(minutes=2))
    assert sweep_runs.requeue_lost() == [run.pk]
    assert sweep_runs.requeue_lost() == []


def test_after_three_dead_workers_it_fails() -> None:
    run = made(state=Sweeping.RUNNING, worker=dead_worker(), attempts=3)
    assert sweep_runs.requeue_lost() == []
    run.refresh_from_db()
    assert run.state == Sweeping.FAILED
    assert "3 times" in run.error


def test_one_that_was_to_stop_is_not_begun_again() -> None:
    run = made(state=Sweeping.RUNNING, worker=dead_worker(), attempts=1, cancel_asked=True)
    assert sweep_runs.requeue_lost() == []
    run.refresh_from_db()
    assert run.state == Sweeping.CANCELLED


def test_a_task_sent_twice_runs_once() -> None:
    run = made(state=Sweeping.RUNNING, worker=this_process(), attempts=1)
    sweep_runs.run(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempts) == (Sweeping.RUNNING, 1)


def test_options_that_do_not_hold_any_more_fail_with_the_reason() -> None:
    options = {
        "sessions": ["s_gone"], "policies": ["anchored_iterative"], "overs": [["nothing", 1, 2, 2]], "params": {},
        "window": None, "base": "full", "estimator": None, "summarizer": "recorded", "fail": "", "losses": False,
    }  # fmt: skip
    run = made(options=options)
    sweep_runs.run(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == Sweeping.FAILED
    assert "no number 'nothing'" in run.error
