"""Rewound sessions: each branch has its own page, the library lists the session once."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions import selectors
from sessions.models import Session
from sessions.selectors.library import library_facts
from sessions.services.ingest import ingest
from tests.services.test_shared_history import data, resumed, talk
from tests.web.stored import store

REWIND = Path(__file__).parent.parent / "fixtures/transcripts/claude_code/rewind.jsonl"


@pytest.fixture
def pair(db: None, tmp_path: Path, settings: Settings) -> tuple[Session, Session]:
    """The session on its latest branch, and on the one that was left."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    latest = store(REWIND.read_bytes(), REWIND.name)
    return latest, latest.branches.get()


def test_each_branch_is_a_row_of_its_own_and_the_library_counts_one(pair: tuple[Session, Session]) -> None:
    latest, left = pair
    assert (latest.branch, left.branch) == ("a4", "a3")
    assert (latest.branch_of_id, left.branch_of_id) == (None, latest.pk)
    assert (latest.n_messages, left.n_messages) == (4, 6)
    assert (latest.n_requests, latest.usage_input) == (left.n_requests, left.usage_input)
    assert selectors.session_list().sessions == (latest,)
    facts = library_facts()
    assert facts.n_sessions == 1


def test_the_pages_lead_from_branch_to_branch(client: Client, pair: tuple[Session, Session]) -> None:
    latest, left = pair
    page = client.get(latest.get_absolute_url()).content.decode()
    assert f'<a href="{left.get_absolute_url()}">Now write it in Perl' in page
    assert "Now write it in Python (latest)" in page
    other = client.get(left.get_absolute_url()).content.decode()
    assert f'href="{latest.get_absolute_url()}"' in other
    assert "Writing the calculator in Perl." in other
    assert "rewind.jsonl --branch a3 --json" in other
    assert "--branch" not in page
    lab = client.get(reverse("sessions:replay", args=[left.pk])).content.decode()
    assert "rewind.jsonl --policy" in lab
    assert "--branch a3" in lab
    for name in ("replay_json", "session_json"):
        assert client.get(reverse(f"sessions:{name}", args=[left.pk])).status_code == 200


def test_reading_again_keeps_the_addresses(pair: tuple[Session, Session]) -> None:
    latest, left = pair
    upload = latest.upload
    upload.job.state = upload.status = "queued"
    upload.job.save()
    upload.save()
    ingest(upload_id=upload.pk)
    assert [s.pk for s in Session.objects.filter(upload=upload).order_by("position")] == [latest.pk, left.pk]


def test_a_session_without_a_rewind_has_no_selector(client: Client, session: Session) -> None:
    assert 'id="l-branch"' not in client.get(session.get_absolute_url()).content.decode()


def test_a_resumed_session_says_so(client: Client, session: Session) -> None:
    old = talk(4, "old")
    first = store(data(old))
    second = store(data(resumed(old, "new")))
    page = client.get(second.get_absolute_url()).content.decode()
    assert "8 messages and 4 requests of this session are also in" in page
    assert f'<a href="{first.get_absolute_url()}">' in page
    assert "are also in" not in client.get(first.get_absolute_url()).content.decode()
