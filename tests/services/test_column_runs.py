"""Columns of a long session are worked out by a worker, once, behind all that somebody waits for."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from django.forms import model_to_dict
from django.test import Client
from django.utils import timezone

from sessions import selectors
from sessions.engine.base.errors import EngineError
from sessions.models import CatchingUp, ColumnsRun, SearchRun, Session, SessionColumns, SessionFigures
from sessions.runs.stored import StoredValues
from sessions.selectors import columns as stored_columns
from sessions.services import column_runs, deleting, figures, ingest, queue, uploads, work
from sessions.services.live import follow_file
from sessions.services.processes import Ending
from tests.services.claude_lines import Lines, session
from tests.web.stored import store
from tests.web.test_columns import long_talk

pytestmark = pytest.mark.django_db
PAGES = ("", "why/", "replay/")
AN_HOUR = dt.timedelta(hours=1)
"""Whatever beat then is alive while a test runs."""


@pytest.fixture
def talk() -> Session:
    return store(long_talk(), "talk.jsonl")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is worked out from here on, by where it is stored and its name."""
    made: list[str] = []
    inside = StoredValues.keep

    def keep(self: StoredValues) -> None:
        made.extend(f"{self.name} {name}" for name in self._made)
        inside(self)

    monkeypatch.setattr(StoredValues, "keep", keep)
    return made


def state() -> str:
    return ColumnsRun.objects.get().state


def work_off() -> None:
    while work.work_one():
        pass


def test_pages_of_a_session_that_a_worker_has_seen_to_work_out_nothing(
    client: Client, talk: Session, kept: list[str]
) -> None:
    assert not SessionColumns.objects.exists(), "storing a session waits for none of it"
    work_off()
    assert state() == CatchingUp.DONE
    names = set(SessionColumns.objects.values_list("name", flat=True))
    assert names == {"weighed", "session", "why", "cost", "uncompacted"}
    assert len(kept) == len(set(kept)), "nothing twice"
    kept.clear()
    for path in PAGES:
        selectors.weighed_cache.clear()
        assert client.get(f"/s/{talk.pk}/{path}").status_code == 200
    assert kept == []


def test_figures_over_many_come_with_the_pages(talk: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not SessionFigures.objects.exists(), "storing a session waits for none of it"
    assert list(figures.waiting()) == [talk]
    work_off()
    kept = model_to_dict(SessionFigures.objects.get())
    assert kept == model_to_dict(figures.figures_of(talk, selectors.load_weighed(talk.pk)))
    monkeypatch.setattr(figures, "figures_of", None)  # what is there is not worked out again
    column_runs.ask([talk])
    work_off()
    assert state() == CatchingUp.DONE
    uploads.requeue(upload=talk.upload)
    ingest.ingest(upload_id=talk.upload.pk)
    assert list(figures.waiting()) == [talk], "read again: those of before are gone"


def test_a_run_that_lost_its_worker_goes_on_where_that_was(talk: Session, kept: list[str]) -> None:
    held = column_runs.claim()
    assert held is not None
    (named,) = column_runs.pages
    named()["session"](talk.pk)  # killed here, with SIGKILL
    done = set(kept)
    assert done
    selectors.weighed_cache.clear()
    kept.clear()
    assert queue.release(work.COLUMNS, talk.pk, ColumnsRun.objects.get().worker)
    assert state() == CatchingUp.QUEUED
    work_off()
    assert state() == CatchingUp.DONE
    assert kept
    assert not done & set(kept)
    assert not held.rows().exists(), "the lost worker may write nothing more"


def test_a_run_is_taken_by_one_worker_alone(talk: Session) -> None:
    assert column_runs.claim() is not None
    assert column_runs.claim() is None


def test_a_session_that_ends_every_process_is_left_to_its_visits(talk: Session) -> None:
    for _ in range(queue.MAX_ATTEMPTS):
        assert column_runs.claim() is not None
        worker = ColumnsRun.objects.get().worker
        queue.release(work.COLUMNS, talk.pk, worker, Ending("killed by signal 9", by_its_work=True))
    assert state() == CatchingUp.FAILED
    assert "killed by signal 9" in ColumnsRun.objects.get().error


def test_a_process_that_is_to_end_gives_the_run_back(talk: Session) -> None:
    held = column_runs.claim()
    assert held is not None
    queue.stopping.set()
    try:
        with pytest.raises(queue.Interrupted):
            column_runs.run_claimed(held)
    finally:
        queue.stopping.clear()
    assert state() == CatchingUp.QUEUED


def test_facts_that_cannot_be_read_fail_the_run_and_hold_up_nobody(
    talk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(_: str) -> None:
        raise EngineError("the packed facts are damaged")

    monkeypatch.setattr(column_runs, "pages", [lambda: {"session": damaged}])
    work_off()
    assert (state(), ColumnsRun.objects.get().error) == (CatchingUp.FAILED, "the packed facts are damaged")


def test_short_sessions_have_no_run() -> None:
    store(session(3), "short.jsonl")
    assert not ColumnsRun.objects.exists()


def test_a_run_goes_with_its_session(talk: Session) -> None:
    held = column_runs.claim()
    assert held is not None
    deleting.delete(sessions=[talk.pk])
    assert not ColumnsRun.objects.exists()
    column_runs.run_claimed(held)
    assert not SessionColumns.objects.exists()


def test_searches_and_columns_wait_for_what_somebody_waits_for(talk: Session) -> None:
    claimed = [kind.model for kind in work.KINDS]
    assert claimed[-2:] == [ColumnsRun, SearchRun]


@pytest.fixture
def every_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_columns, "LEAST_MESSAGES", 0)


@pytest.mark.usefixtures("every_session")
def test_a_session_that_grows_while_its_file_is_watched_is_left_to_its_visits(tmp_path: Path) -> None:
    path, lines = tmp_path / "live.jsonl", Lines().prompt("Count").turn("one", text="first")
    path.write_bytes(lines.bytes())
    follow_file(path=path, quiet=True)
    work_off()
    before = ColumnsRun.objects.get()
    path.write_bytes(lines.turn("two", text="second").bytes())
    follow_file(path=path, quiet=True)
    assert Session.objects.get().n_messages > 3
    assert (state(), ColumnsRun.objects.get().claims) == (CatchingUp.DONE, before.claims)


@pytest.mark.parametrize(("phase", "waiting"), [("", 3), ("session", 3), ("why", 2), ("replay", 1)])
def test_a_page_that_a_worker_is_at_says_so_and_works_out_nothing(
    client: Client, talk: Session, kept: list[str], phase: str, waiting: int
) -> None:
    ColumnsRun.objects.update(state=CatchingUp.RUNNING, phase=phase, heartbeat_at=timezone.now() + AN_HOUR)
    for path in PAGES[3 - waiting :]:
        selectors.weighed_cache.clear()
        answer = client.get(f"/s/{talk.pk}/{path}")
        assert (answer.status_code, kept) == (202, [])
        assert b'http-equiv="refresh"' in answer.content
        assert f"{talk.n_messages:,} messages" in answer.content.decode()
    for path in PAGES[: 3 - waiting]:
        selectors.weighed_cache.clear()
        assert client.get(f"/s/{talk.pk}/{path}").status_code == 200


def test_nobody_waits_for_a_silent_worker_nor_for_a_message_alone(client: Client, talk: Session) -> None:
    silent = timezone.now() - 2 * column_runs.ALIVE
    ColumnsRun.objects.update(state=CatchingUp.RUNNING, heartbeat_at=silent)
    assert client.get(f"/s/{talk.pk}/").status_code == 200
    ColumnsRun.objects.update(heartbeat_at=timezone.now() + AN_HOUR)
    assert client.get(f"/s/{talk.pk}/").status_code == 202
    assert client.get(f"/s/{talk.pk}/m/3/").status_code == 200, "one message needs no column"
