"""A full disk under every address that writes: 507 with words, whether files, the database or temporary files fail."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from ctxweb.front import Front
from ctxweb.wsgi import application
from sessions.adapters import storage
from sessions.models import Session
from sessions.services.links import Terms, create_link
from tests.web.test_bodies import channel, part, scope, to_its_end
from tests.web.test_no_5xx import arguments, routes

FULL = OSError(errno.ENOSPC, "No space left on device")
FIELDS = {
    "title": "Pay", "note": "Look", "view": "replay", "state": "", "days": "7", "name": "mine", "scope": "read",
    "scopes": "read", "username": "root", "password": "a long password", "price.gpt-5.input": "1", "text": "ok",
    "who": "team", "key": "sk-ant-api03-x", "confirm": "1", "policy": "claude_code",
}  # fmt: skip
WRITING = {
    "sessions:upload", "sessions:demo", "sessions:share", "sessions:save", "sessions:tokens", "sessions:delete",
    "sessions:link_reply", "login", "api:upload", "api:make_link",
}  # fmt: skip


@pytest.fixture
def asked(session: Session, client: Client) -> Iterator[dict[str, str]]:
    """Every address by its name, for the session and an open link of it."""
    import random

    token = create_link(session=session, view="replay", terms=Terms(takes_replies=True)).token
    get_user_model().objects.create_superuser("root", password="a long password")
    known: dict[str, str] = {}
    for name, names in routes().items():
        values = arguments(names, session, random.Random(5)) | ({"token": token} if "token" in names else {})
        known[name] = reverse(name, kwargs={one: values[one] for one in names})
    return known


def posted(addresses: dict[str, str]) -> tuple[dict[str, str], set[str]]:
    """What answers wrongly to a form, a file and JSON; and who answers 507."""
    wrong: dict[str, str] = {}
    full: set[str] = set()
    for name, path in addresses.items():
        for headers in ({}, {"HX-Request": "true"}):
            client = Client(raise_request_exception=False)
            data: dict[str, Any] = FIELDS | {"files": [SimpleUploadedFile("a.jsonl", b'{"type":"x"}\n' * 9)]}
            kind = {} if not name.startswith("api:make") else {"content_type": "application/json"}
            response = client.post(path, FIELDS if kind else data, headers=headers, **kind)
            body = response.content.decode() if not response.streaming else ""
            if response.status_code >= 500 and (response.status_code != 507 or "no space" not in body.lower()):
                wrong[name] = f"{response.status_code} {body[-200:]} {getattr(response, 'exc_info', None)}"
            if response.status_code == 507:
                full.add(name)
    return wrong, full


def test_a_full_database_is_told_by_every_address_that_writes(
    asked: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = CursorWrapper.execute

    def full(self: CursorWrapper, sql: str, params: Any = None) -> Any:
        if sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "REPLACE")):
            raise OperationalError("database or disk is full")
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", full)
    wrong, told = posted(asked)
    assert not wrong
    assert told >= WRITING, WRITING - told


def test_a_full_store_is_told(asked: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "put", raising)
    wrong, told = posted(asked)
    assert not wrong
    assert told >= {"sessions:upload", "sessions:demo", "api:upload"}


def raising(*_: object, **__: object) -> None:
    raise FULL


def test_a_full_folder_of_temporary_files_is_told(asked: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", raising)
    wrong, told = posted(asked)
    assert not wrong
    assert told >= {"sessions:upload", "sessions:demo", "api:upload"}


@pytest.mark.parametrize("path", ["/uploads/", "/api/uploads", "/settings/"])
@pytest.mark.parametrize("accept", [b"text/html", b"*/*"])
def test_a_body_that_finds_no_place_is_told(
    settings: Settings, db: None, monkeypatch: pytest.MonkeyPatch, path: str, accept: bytes
) -> None:
    class Full(tempfile.SpooledTemporaryFile):  # type: ignore[type-arg]
        write = raising  # type: ignore[assignment]

    monkeypatch.setattr("ctxweb.front.tempfile.SpooledTemporaryFile", Full)
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    head = scope("POST", path.encode(), [(b"content-length", b"70000"), (b"host", b"testserver"), (b"accept", accept)])
    to_its_end(Front(application)(head, channel(part(b"x" * 70_000, more=False)), send))
    assert sent[0]["status"] == 507
    assert "The disk of the server is full. Nothing was stored." in sent[1]["body"].decode()
