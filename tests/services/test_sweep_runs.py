"""Background sweeps: who has them, what is lost, what is not run twice."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from sessions.models import Session, Sweeping, SweepRun
from sessions.services import queue, sweep_runs, sweeping
from sessions.services.processes import Ending, this_process
from sessions.services.work import SWEEPS
from tests.services.claude_lines import session
from tests.services.conftest import Ingest

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


@pytest.fixture
def several(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> SweepRun:
    """A sweep over three sessions that waits."""
    for n in range(3):
        ingested(session(n + 2, session=f"{n}2222222-0000-0000-0000-000000000000"), f"{n}.jsonl")
    monkeypatch.setattr(queue, "tell", [])
    options: Any = {
        "sessions": sorted(Session.objects.values_list("pk", flat=True)), "policies": ["sliding_window"],
        "overs": [["window", 20_000, 80_000, 4]], "params": {}, "window": None, "base": "full", "estimator": None,
        "summarizer": "stub:500", "fail": "", "losses": False,
    }  # fmt: skip
    sessions = [Session.objects.get(pk=pk) for pk in options["sessions"]]
    return sweep_runs.start(options=options, versions=sweeping.versions(sessions), query="/sweeps/")[0]


def test_several_sessions_are_swept_by_several_workers(several: SweepRun, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def another_worker(n_pieces: int) -> None:
        held = sweep_runs.claim()
        assert held is not None
        taken.append(SweepRun.objects.get(pk=held.pk).options["sessions"])
        sweep_runs.run_claimed(held)

    monkeypatch.setattr(queue, "tell", [another_worker])
    run_now(several)
    several.refresh_from_db()
    n_settings = len(sweeping.grid_of(several.options)[1])
    assert (several.state, several.n_done, several.n_total) == (Sweeping.DONE, 3 * n_settings, 3 * n_settings)
    assert len(taken) == 1
    assert len(taken[0]) == 1
    for pk in several.options["sessions"]:
        alone = {**several.options, "sessions": [pk]}
        found = sweep_runs.find(alone, sweeping.versions([Session.objects.get(pk=pk)]))
        assert found is not None
        assert found.claims == 1, "the sweep of that session alone is there, too"
        plain = [sweeping.record(row) for row in sweeping.run_one(pk, several.options).rows]
        assert found.rows[pk] == several.rows[pk] == plain


def test_a_sweep_of_several_that_is_stopped_stops_its_parts(several: SweepRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_runs, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(queue, "tell", [lambda _: sweep_runs.ask_to_cancel(run_id=several.pk)])
    run_now(several)
    states = list(SweepRun.objects.values_list("state", flat=True))
    assert states == [Sweeping.CANCELLED] * 4


def test_a_part_that_fails_fails_the_sweep_with_its_reason(several: SweepRun, monkeypatch: pytest.MonkeyPatch) -> None:
    first = several.options["sessions"][0]

    def faulty(session_id: str, *given: Any, **named: Any) -> Any:
        if session_id == first:
            raise OSError("the bytes are gone")
        return sweeping.run_one(session_id, *given, **named)

    monkeypatch.setattr(sweep_runs, "run_one", faulty)
    run_now(several)
    several.refresh_from_db()
    assert (several.state, several.error) == (Sweeping.FAILED, "the bytes are gone")
