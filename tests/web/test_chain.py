"""Saved transcripts of a pipeline that compacts are linked file to file."""

from __future__ import annotations

import io
import json

import pytest
from django.urls import reverse

from sessions.models import Session
from sessions.services.ingest import ingest
from sessions.services.uploads import receive

pytestmark = pytest.mark.django_db


def stored(name: str, *lines: tuple[str, str]) -> Session:
    """Ingest one file of {role, content} lines."""
    text = "".join(json.dumps({"role": role, "content": content}) + "\n" for role, content in lines)
    received = receive(file=io.BytesIO(text.encode()), filename=name)
    return ingest(upload_id=received.upload.pk).sessions.get()


SUMMARY = "[Conversation compressed. Transcript: /home/me/app/.transcripts/transcript_100.jsonl]\n\nAll is well."


def test_files_of_a_chain_lead_to_each_other(client):
    second = stored("transcript_200.jsonl", ("user", SUMMARY), ("assistant", "Going on."))
    page = client.get(reverse("sessions:session", args=[second.pk])).content.decode()
    assert "transcript_100.jsonl</code>, which is not in the library" in page
    first = stored("transcript_100.jsonl", ("user", "Read everything."), ("assistant", "I have."))
    page = client.get(reverse("sessions:session", args=[second.pk])).content.decode()
    assert f'Goes on from <a href="{first.get_absolute_url()}">transcript_100.jsonl</a>' in page
    page = client.get(reverse("sessions:session", args=[first.pk])).content.decode()
    assert f'Compacted into <a href="{second.get_absolute_url()}">transcript_200.jsonl</a>' in page


def test_a_session_alone_says_nothing(client):
    alone = stored("notes.jsonl", ("user", "Hello."), ("assistant", "Hello."))
    page = client.get(reverse("sessions:session", args=[alone.pk])).content.decode()
    assert "Goes on from" not in page
    assert "Compacted into" not in page
