"""Background sweeps: who has them, what is lost, what is not run twice."""

from __future__ import annotations

import pytest
from django.utils import timezone

from sessions.models import SweepRun
from sessions.models.sweep_run import Sweeping
from sessions.services import queue, sweep_runs
from sessions.services.processes import Ending, this_process
from sessions.services.work import SWEEPS

pytestmark = pytest.mark.django_db


def run_now(run: SweepRun) -> None:
    held = sweep_runs.claim(run_id=run.pk)
    assert held is not None
    sweep_runs.run_claimed(held)


def made(**facts: object) -> SweepRun:
    values: dict[str, object] = {"key": "k", "n_total": 2, "heartbeat_at": timezone.now(), **facts}
    return SweepRun.objects.create(**values)


def released(run: SweepRun, ending: Ending | None = None) -> SweepRun:
    assert queue.release(SWEEPS, run.pk, run.worker, ending)
    run.refresh_from_db()
    return run


def test_a_run_that_lost_its_worker_is_queued_again() -> None:
    run = released(made(state=Sweeping.RUNNING, worker="w", claims=1))
    assert (run.state, run.worker, run.attempts, run.losses) == (Sweeping.QUEUED, "", 0, 1)


def test_a_living_worker_keeps_its_run() -> None:
    made(state=Sweeping.RUNNING, worker=this_process())
    assert queue.Watch().recover(SWEEPS) == 0


def test_after_three_crashes_it_fails() -> None:
    crash = Ending("its process was ended by SIGSEGV", by_its_work=True)
    run = made(state=Sweeping.RUNNING, worker="w", attempts=1)
    assert released(run, crash).state == Sweeping.QUEUED
    SweepRun.objects.update(state=Sweeping.RUNNING, worker="w", n_done=7)
    run.refresh_from_db()
    run = released(run, crash)
    assert run.state == Sweeping.FAILED
    assert run.error == "It ended its process 3 times. Last: its process was ended by SIGSEGV, after 7 settings."


def test_one_that_was_to_stop_is_not_begun_again() -> None:
    assert released(made(state=Sweeping.RUNNING, worker="w", cancel_asked=True)).state == Sweeping.CANCELLED


def test_what_runs_is_not_taken_twice() -> None:
    made(state=Sweeping.RUNNING, worker=this_process(), claims=1)
    assert sweep_runs.claim() is None


def test_options_that_do_not_hold_any_more_fail_with_the_reason() -> None:
    options = {
        "sessions": ["s_gone"], "policies": ["anchored_iterative"], "overs": [["nothing", 1, 2, 2]], "params": {},
        "window": None, "base": "full", "estimator": None, "summarizer": "recorded", "fail": "", "losses": False,
    }  # fmt: skip
    run = made(options=options)
    run_now(run)
    run.refresh_from_db()
    assert run.state == Sweeping.FAILED
    assert "no number 'nothing'" in run.error
