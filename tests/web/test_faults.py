"""Faults of the surroundings on the page: a full disk, a database that does not answer, bytes that are gone."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from sessions.adapters import storage
from sessions.models import Session, Upload
from sessions.services import uploads

pytestmark = pytest.mark.django_db


def raising(error: Exception) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


def test_a_full_disk_answers_507_and_keeps_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads.storage, "put", raising(OSError(errno.ENOSPC, "No space left on device")))
    file = SimpleUploadedFile("a.jsonl", b"{}\n")
    response = client.post(reverse("sessions:upload"), {"files": [file]})
    assert response.status_code == 507
    assert "No space is left" in response.content.decode()
    assert not Upload.objects.exists()


def test_a_full_disk_is_told_to_htmx_as_a_note(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads.storage, "put", raising(OSError(errno.EDQUOT, "Quota")))
    file = SimpleUploadedFile("a.jsonl", b"{}\n")
    response = client.post(reverse("sessions:upload"), {"files": [file]}, headers={"HX-Request": "true"})
    assert response.status_code == 507
    assert "data-error-text" in response.content.decode()
    assert "<html" not in response.content.decode()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("database is locked", "another process writes"),
        ("database disk image is malformed", "is damaged"),
        ("attempt to write a readonly database", "cannot be written"),
        ("connection refused", "does not answer"),
    ],
)
def test_a_database_that_fails_is_named(client: Client, monkeypatch: pytest.MonkeyPatch, said: str, words: str) -> None:
    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", raising(OperationalError(said)))
    response = client.get("/")
    assert response.status_code == 503
    assert words in response.content.decode()
    assert response["Retry-After"]
    assert client.get("/sessions.json").json()["error"]


def test_a_database_that_fails_under_the_login_wall_tells_nobody_unknown_its_place(
    monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    settings.REQUIRE_LOGIN = True  # type: ignore[attr-defined]
    monkeypatch.setattr("django.contrib.auth.middleware.get_user", raising(OperationalError("database is locked")))
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 503
    assert "Tell whoever runs this server." in response.content.decode()
    assert "The database" not in response.content.decode()


def test_a_fault_of_ours_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", raising(ZeroDivisionError()))
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert "Something broke" in response.content.decode()


def test_pages_whose_bytes_are_gone_say_so(session: Session, client: Client) -> None:
    storage.remove(session.upload.sha256)
    pages = ["session", "replay", "diff", "quality", "why", "sweep", "share", "apply", "share_removed", "share_file"]
    for name in pages:
        response = client.get(reverse(f"sessions:{name}", args=[session.pk]))
        body = response.content.decode()
        assert response.status_code < 500 or "Stored bytes are missing" in body, name
        assert str(Path(body)).count("Traceback") == 0
