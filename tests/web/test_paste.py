"""A pasted text, and what the page knows of the server's limit."""

from __future__ import annotations

import html

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions.engine.reading.reading import EXAMPLE
from sessions.models import Upload

WRONG = b'{"foo": 1, "bar": [1, 2]}'


@pytest.mark.parametrize(
    ("data", "words"),
    [(WRONG, "JSON, but no known transcript format"), (b"hello", "Text, not JSON"), (b"", "No file in the request")],
)
def test_a_wrong_paste_is_told_before_it_is_stored(client: Client, db: None, data: bytes, words: str) -> None:
    pasted = SimpleUploadedFile("pasted.jsonl", data)
    response = client.post(reverse("sessions:upload"), {"pasted": "1", "files": [pasted]})
    assert response.status_code in {400, 422}
    assert words in response.content.decode() or not data
    assert response["Content-Type"].startswith("text/")
    assert not Upload.objects.exists()
    assert client.post(reverse("sessions:upload"), {"files": [SimpleUploadedFile("a.jsonl", WRONG)]}).status_code < 400


def test_the_shape_that_a_wrong_paste_is_shown_is_read(client: Client, db: None) -> None:
    page = client.get("/").content.decode()
    assert html.escape(EXAMPLE) in page
    pasted = SimpleUploadedFile("pasted.jsonl", EXAMPLE.encode())
    response = client.post(reverse("sessions:upload"), {"pasted": "1", "files": [pasted]})
    assert response.status_code < 400
    assert Upload.objects.get().filename == "pasted.jsonl"


def test_the_page_knows_the_limit_and_its_setting(client: Client, db: None, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 5 * 1024 * 1024
    page = client.get("/").content.decode()
    assert 'data-most="5242880"' in page
    assert "This upload is larger than 5 MB. Raise CTXWEB_MAX_UPLOAD_MB" in page
