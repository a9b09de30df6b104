"""Downloads of message lists: the whole session, one request's list, both sides of an event."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions.adapters import storage
from sessions.engine.reading.jsonio import loads
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Transcript
from sessions.models import Session
from tests.web.stored import store_pair

SUFFIXES = {"jsonl": "ctxweb_jsonl", "anthropic.json": "anthropic_messages", "openai.json": "openai_chat"}


def body(client: Client, session: Session, suffix: str, query: str = "") -> bytes:
    response = client.get(reverse("sessions:export", args=[session.pk, suffix]) + (f"?{query}" if query else ""))
    assert response.status_code == 200
    assert response.streaming
    name = response["Content-Disposition"]
    assert name.startswith(f'attachment; filename="{session.pk}')
    assert name.endswith(f'.{suffix}"')
    return b"".join(response.streaming_content)  # type: ignore[arg-type]


def parsed(data: bytes) -> Transcript:
    (transcript,) = read_transcripts(io.BytesIO(data), "export").transcripts
    return transcript


def whole(client: Client, address: str) -> bytes:
    """An answer, read to its end."""
    response = client.get(address)
    assert response.status_code == 200, address
    return b"".join(response.streaming_content)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_a_session_is_read_back_from_each_download(client: Client, session: Session, suffix: str) -> None:
    transcript = parsed(body(client, session, suffix))
    assert transcript.format == SUFFIXES[suffix]
    assert transcript.n_tool_calls == session.n_tool_calls
    assert transcript.n_images == session.n_images == 1


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_each_session_of_an_archive_has_its_own_words(
    client: Client, db: None, suffix: str, tmp_path: Path, settings: Settings
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    pair = store_pair()
    for word, session in pair.items():
        (other,) = pair.keys() - {word}
        page = whole(client, f"/s/{session.pk}/export.{suffix}")
        answer = whole(client, f"/api/sessions/{session.pk}/export/{suffix.partition('.')[0]}")
        for data in (page, answer):
            assert f"Look for {word}".encode() in data
            assert f"{word} found".encode() in data
            assert other.encode() not in data
            assert parsed(data).n_tool_calls == session.n_tool_calls == 1


def test_both_sides_of_an_event(client: Client, session: Session) -> None:
    query = "policy=sliding_window&window=8000"
    events = client.get(reverse("sessions:replay_json", args=[session.pk]) + f"?{query}").json()["events"]
    assert events
    for side in ("before", "after"):
        found = parsed(body(client, session, "jsonl", f"{query}&event=0&side={side}"))
        assert len(found.messages) == events[0][side]["messages"]
    inserted = [m for m in found.messages if m.id.startswith("e0.")]
    assert len(inserted) == events[0]["inserted"]


def test_the_list_of_a_request(client: Client, session: Session) -> None:
    first = loads(body(client, session, "anthropic.json", "request=0"))
    assert [message["role"] for message in first["messages"]] == ["user"]
    fifth = loads(body(client, session, "anthropic.json", "request=5"))
    assert len(fifth["messages"]) == 11


@pytest.mark.parametrize(
    "query",
    [
        "side=after&policy=none",
        "side=left",
        "request=999",
        "side=after&event=99&policy=sliding_window",
        "side=after&policy=x",
    ],
)
def test_a_list_that_is_not_there_is_refused_with_the_reason(client: Client, session: Session, query: str) -> None:
    response = client.get(reverse("sessions:export", args=[session.pk, "jsonl"]) + f"?{query}")
    assert response.status_code == 400
    assert response.json()["errors"]


def test_an_unknown_target_and_a_missing_upload_are_not_found(client: Client, session: Session) -> None:
    assert client.get(f"/s/{session.pk}/export.yaml").status_code == 404
    default_storage.delete(storage.blob_name(session.upload.sha256))
    assert client.get(f"/s/{session.pk}/export.jsonl").status_code == 410


def test_the_menus_offer_them(client: Client, session: Session) -> None:
    page = client.get(session.get_absolute_url()).content.decode()
    for suffix in SUFFIXES:
        assert f'href="/s/{session.pk}/export.{suffix}"' in page
    diff = client.get(reverse("sessions:diff", args=[session.pk]) + "?policy=sliding_window&window=8000")
    for side in ("before", "after"):
        assert f"/export.jsonl?side={side}&amp;policy=sliding_window&amp;window=8000" in diff.content.decode()
    none = client.get(reverse("sessions:diff", args=[session.pk]) + "?policy=none").content.decode()
    assert "export." not in none
