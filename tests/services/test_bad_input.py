"""Hostile and broken files: each gets a clear message or is kept as opaque, and nothing else is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings

from sessions import selectors
from sessions.adapters import storage
from sessions.engine.base import limits
from sessions.models import Job, Media, Session, State, Upload
from sessions.services.ingest import ingest
from tests.services.claude_lines import Lines, png, session
from tests.services.conftest import Ingest

pytestmark = pytest.mark.django_db


def with_line(bad: bytes, *, at: int = 3) -> bytes:
    """A good session with one more line."""
    lines = session(3).splitlines()
    return b"\n".join([*lines[:at], bad, *lines[at:]]) + b"\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"Dear diary, today I met a bear.\n", "JSON"),
        (b"\x00" * 1000, ""),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, ""),
        (b'{"unrelated": true}\n', ""),
        (b"[" * 100_000 + b"]" * 100_000, ""),
    ],
    ids=["empty", "prose", "zeros", "binary", "unknown", "deep"],
)
def test_what_cannot_be_read_fails_with_a_place_and_is_kept(ingested: Ingest, data: bytes, words: str) -> None:
    upload = ingested(data)
    assert upload.status == upload.job.state == State.FAILED
    assert "line 1, byte" in upload.error
    assert words in upload.error
    assert "fault of ctxweb" not in upload.error
    assert not Session.objects.exists()
    with storage.open_blob(upload.sha256) as file:
        assert file.read() == data


@pytest.mark.parametrize(
    "bad",
    [
        b'{"type":"user","message":{"role":"user","content":"cut off he',
        b"[" * 100_000 + b"]" * 100_000,
        b"not json at all",
    ],
    ids=["truncated", "deep", "prose"],
)
def test_a_bad_line_is_skipped_with_its_place(ingested: Ingest, bad: bytes) -> None:
    data = with_line(bad)
    upload = ingested(data)
    assert upload.status == State.DONE
    assert upload.n_skipped == 1
    line, offset, reason = upload.skipped[0]
    assert line == 4
    start = data.index(bad)
    assert start <= offset <= start + len(bad)
    assert reason
    assert Session.objects.get().n_requests == 3


def test_a_truncated_last_line_loses_only_itself(ingested: Ingest) -> None:
    upload = ingested(session(3)[:-200])
    assert upload.n_skipped == 1
    assert Session.objects.get().n_requests == 3


def test_a_line_beyond_the_limit_is_counted_not_read(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 50_000)
    lines = Lines().prompt("Go").turn("x" * 60_000).turn("fine").turn("good")
    upload = ingested(lines.bytes())
    assert upload.status == State.DONE
    stored = Session.objects.get()
    assert stored.n_requests == 3
    assert upload.n_skipped or stored.wire_bytes > 60_000


@pytest.mark.parametrize(
    "text",
    [
        b'"lone \\ud83d surrogate"',
        b'"broken \xff\xfe utf-8"',
        json.dumps(" " * 1_000_000).encode(),
        json.dumps("<|endoftext|>" * 50).encode(),
        b'"nul \\u0000 inside"',
    ],
    ids=["surrogate", "utf-8", "million-spaces", "special-token", "nul"],
)
def test_odd_text_is_counted_and_stored(ingested: Ingest, text: bytes) -> None:
    data = session(3).replace(b'"Find out why the test fails"', text)
    upload = ingested(data)
    assert (upload.status, upload.error) == (State.DONE, "")
    stored = Session.objects.get()
    assert (stored.n_messages, stored.n_requests) == (7, 3)
    (content,) = selectors.message_contents(stored, 0)
    assert len(content.text) > 5
    assert stored.wire_bytes >= 9


def test_impossible_figures_and_names_are_kept_within_bounds(ingested: Ingest) -> None:
    data = session(3, session="nul \0 in a name").replace(b'"input_tokens":4', b'"input_tokens":' + b"9" * 30)
    data = data.replace(b'"claude-sonnet-4-5-20250929"', json.dumps("claude\0" + "x" * 300).encode())
    upload = ingested(data)
    assert (upload.status, upload.error) == (State.DONE, "")
    stored = Session.objects.get()
    assert (stored.n_requests, len(stored.model)) == (3, 100)
    assert "\0" not in stored.native_id + stored.model
    assert stored.usage_input is None or 0 <= stored.usage_input < 2**63


def test_an_image_that_claims_too_much_is_priced_from_a_clamped_header(ingested: Ingest) -> None:
    upload = ingested(Lines().prompt("Look").turn(png(4_000_000_000, 60_000)).turn("fine").bytes())
    assert upload.status == State.DONE
    media = Media.objects.get()
    assert max(media.width, media.height) <= limits.MAX_SIDE_PIXELS
    weighed = selectors.load_weighed(Session.objects.get().pk)
    assert 0 < weighed.tokens[2] < 10_000


def test_base64_that_is_none_is_kept(ingested: Ingest) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "***"}
    lines = Lines().prompt("Look")
    lines.emit("user", message={"role": "user", "content": [{"type": "image", "source": source}]})
    upload = ingested(lines.turn("fine").bytes())
    assert upload.status == State.DONE
    assert Session.objects.get().n_images == 1
    assert not Media.objects.exists()


def test_stored_bytes_that_are_gone_or_changed_are_said(ingested: Ingest) -> None:
    upload = ingested(session(2))
    place = Path(settings.MEDIA_ROOT) / storage.blob_name(upload.sha256)
    for damage, words in ((lambda: place.write_bytes(b"{}"), "have changed"), (place.unlink, "are missing")):
        damage()
        Upload.objects.filter(pk=upload.pk).update(status=State.QUEUED)
        Job.objects.filter(upload=upload).update(state=State.QUEUED)
        again = ingest(upload_id=upload.pk)
        assert again.status == State.FAILED
        assert words in again.error
        assert "fault of ctxweb" not in again.error
