"""Summaries by a model from the replay page: priced, written in the background, kept, and stopped when asked."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access
from sessions.models import Session, SummaryJob
from sessions.services import queue, summary_jobs
from sessions.services.processes import this_process
from sessions.services.work import SUMMARIES
from tests.fake_anthropic import Answer, FakeAnthropic, stream
from tests.web.stored import pressed, store

HTMX = {"HX-Request": "true"}
STATE = "policy=regenerative_full&window=20000&summarizer=anthropic"


@pytest.fixture
def session(db: None, tmp_path: Path, settings: Settings) -> Session:
    """A stored session of 60 turns, compacted a few times in a window of 20,000 tokens."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    return store(pressed(60))


@pytest.fixture
def api(fake_anthropic: FakeAnthropic, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> FakeAnthropic:
    """The installation's own key; its tasks run in place."""
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    settings.ANTHROPIC_BASE_URL = fake_anthropic.base_url
    settings.ANTHROPIC_API_KEY = f"sk-{fake_anthropic.base_url}"
    return fake_anthropic


def page(client: Client, session: Session) -> str:
    return client.get(f"/s/{session.pk}/replay/?{STATE}").content.decode()


def write(client: Client, session: Session) -> str:
    """Press the button; the address it leads to."""
    response = client.post(f"/s/{session.pk}/summaries/?{STATE}")
    assert response.status_code == 302
    return response["Location"]


def test_without_a_key_it_says_what_a_model_would_add(client: Client, session: Session) -> None:
    text = page(client, session)
    assert "not written yet" in text
    assert "With a key for the Anthropic API a model writes them." in text
    assert write(client, session) == "/settings/"
    assert not SummaryJob.objects.exists()


def test_calls_and_cost_stand_beside_the_button(client: Client, session: Session, api: FakeAnthropic) -> None:
    text = page(client, session)
    assert "to claude-sonnet-5-5: about" in text
    assert "at list prices" in text
    assert "Write " in text
    assert api.requests == []


def test_written_once_and_then_the_replay_asks_nobody(client: Client, session: Session, api: FakeAnthropic) -> None:
    address = write(client, session)
    job = SummaryJob.objects.get()
    assert (job.state, job.n_written, job.error) == ("done", len(api.requests), "")
    assert job.n_written > 0
    done = client.get(address)
    assert done.status_code == 302
    assert done["Location"].startswith(f"/s/{session.pk}/replay/?")
    assert "summarizer=anthropic" in done["Location"]
    assert client.get(address, headers=HTMX)["HX-Redirect"] == done["Location"]
    text = client.get(done["Location"]).content.decode()
    assert "not written yet" not in text
    assert "written by claude-sonnet-5-5" in text
    assert len(api.requests) == job.n_written


def test_a_pasted_key_stays_in_this_process(
    client: Client, session: Session, api: FakeAnthropic, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is handed to a thread of the server, never to the queue; the job does not hold it."""
    settings.ANTHROPIC_API_KEY = ""
    given: list[Access] = []

    def at_once(*, job_id: object, access: Access) -> None:
        given.append(access)
        job = SummaryJob.objects.get(pk=job_id)
        assert (job.state, job.worker) == ("writing", this_process()), "no worker may take it"
        summary_jobs.run_claimed(queue.Claim(SummaryJob, job.pk, 1), access)

    monkeypatch.setattr(summary_jobs, "run_in_thread", at_once)
    client.post("/settings/key/", {"key": "sk-ant-pasted-here"})
    write(client, session)
    assert [access.key for access in given] == ["sk-ant-pasted-here"]
    assert SummaryJob.objects.get().state == "done"
    assert "sk-ant" not in str(SummaryJob.objects.values().get())


def test_a_failure_says_why_and_keeps_what_was_written(client: Client, session: Session, api: FakeAnthropic) -> None:
    api.then(stream("short"), Answer(401))
    text = client.get(write(client, session)).content.decode()
    assert "The API refuses this key" in text
    assert "1 of about" in text
    assert "Back to the replay" in text


def claimed(job: SummaryJob) -> queue.Claim[SummaryJob]:
    held = summary_jobs.claim(job_id=job.pk)
    assert held is not None
    return held


def started(session: Session, **facts: object) -> SummaryJob:
    values = {"model": "m", "n_total": 3, "heartbeat_at": timezone.now()} | facts
    return SummaryJob.objects.create(session=session, **values)


def test_progress_is_polled_until_it_ends(client: Client, session: Session) -> None:
    job = started(session, state="writing", worker="w", n_written=1, n_chars=420)
    address = f"/s/{session.pk}/summaries/{job.pk}/"
    part = client.get(address, headers=HTMX).content.decode()
    assert "1 of about 3 written, 420 characters of the next." in part
    assert 'hx-trigger="load delay:600ms"' in part
    assert "They are being written." in page(client, session)
    assert queue.release(SUMMARIES, job.pk, "w")
    part = client.get(address, headers=HTMX).content.decode()
    assert "It was interrupted." in part
    assert "hx-trigger" not in part


def test_cancelling_stops_the_call_under_way(
    client: Client, session: Session, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pressed while the second summary streams; the first is kept, and the rest of the second is not waited for."""
    api.then(stream("first"), stream("word " * 500, pieces=500, pause=0.02))
    job = started(session, model="claude-sonnet-5-5", options={"policy": "regenerative_full", "window": 20_000})
    beat = summary_jobs._Beat._write
    presses = []

    def pressed_meanwhile(self: summary_jobs._Beat) -> None:
        if self.n_chars and self.n_written == 1:
            presses.append(self.n_chars)
            client.post(f"/s/{session.pk}/summaries/{job.pk}/cancel/")
        beat(self)

    monkeypatch.setattr(summary_jobs._Beat, "_write", pressed_meanwhile)
    summary_jobs.run_claimed(claimed(job), Access(f"sk-{api.base_url}", api.base_url))
    job.refresh_from_db()
    assert len(presses) == 1, "no more of the stream is read after the sign of life that saw the button"
    assert (job.state, job.n_written, job.error) == ("cancelled", 1, "")
    text = client.get(f"/s/{session.pk}/summaries/{job.pk}/").content.decode()
    assert "Stopped. 1 of about 3 summaries were written" in text


def test_a_job_that_never_began_is_cancelled_at_once(client: Client, session: Session) -> None:
    job = started(session)
    client.post(f"/s/{session.pk}/summaries/{job.pk}/cancel/")
    assert summary_jobs.claim(job_id=job.pk) is None
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_thread_of_its_own_reports_what_went_wrong(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(held: object, access: Access) -> None:
        raise RuntimeError(f"{threading.current_thread().name} has {access!r}")

    monkeypatch.setattr(summary_jobs, "run_claimed", fails)
    job_id = uuid.uuid4()
    summary_jobs.run_in_thread(job_id=job_id, access=Access("sk-ant-not-to-be-logged"))
    for thread in threading.enumerate():
        if thread.name == f"summaries-{job_id}":
            thread.join(10)
    assert f"RuntimeError: summaries-{job_id} has Access(" in caplog.text
    assert "sk-ant-not-to-be-logged" not in caplog.text


def test_one_job_at_a_time(session: Session) -> None:
    facts = {"session": session, "options": {}, "query": "", "model": "m", "n_total": 1}
    first, new = summary_jobs.start(**facts)
    assert new
    assert summary_jobs.start(**facts) == (first, False)
    assert queue.release(SUMMARIES, claimed(first).pk, this_process())
    second, new = summary_jobs.start(**facts)
    assert new
    assert second.pk != first.pk
    first.refresh_from_db()
    assert (first.state, first.error) == ("failed", "It was interrupted.")


def test_a_job_is_only_shown_under_its_session(client: Client, session: Session) -> None:
    job = started(session)
    assert client.get(f"/s/s_other/summaries/{job.pk}/").status_code == 404
