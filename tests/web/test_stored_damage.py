"""A session whose stored bytes or facts are missing or damaged: every address of it says so, with what to do."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions import selectors
from sessions.adapters import storage
from sessions.engine.base.errors import EngineError
from sessions.faults import GONE
from sessions.models import Media, Session, SessionFacts
from sessions.services.ingest import ingest
from sessions.services.links import Terms, create_link
from sessions.services.uploads import receive
from tests.every import EVERY
from tests.web.stored import pressed
from tests.web.test_no_5xx import routes

NOT_OF_A_SESSION = {"user_id", "invitation_id", "token_id", "view_id", "name", "run_id", "job_id"}


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _garbled(data: bytes) -> bytes:
    middle = len(data) // 3
    return data[:middle] + bytes(255 - byte for byte in data[middle : 2 * middle]) + data[2 * middle :]


def _replaced(data: bytes) -> bytes:
    return b'{"type": "summary"}\n' * 400


def _blob(change: Callable[[bytes], bytes] | None) -> Callable[[Session], None]:
    def damage(session: Session) -> None:
        for sha256 in {session.text_sha256, session.upload.sha256} - {""}:
            if change is None:
                storage.remove(sha256)
            else:
                place = Path(default_storage.path(storage.blob_name(sha256)))
                place.write_bytes(change(place.read_bytes()))

    return damage


def _facts(change: Callable[[bytes], bytes] | None) -> Callable[[Session], None]:
    def damage(session: Session) -> None:
        found = SessionFacts.objects.filter(pk=session.pk)
        if change is None:
            found.delete()
        else:
            found.update(packed=change(bytes(found.get().packed)))

    return damage


TELL_OF_TEXT = {
    "sessions:transcript", "sessions:inspector", "sessions:message_raw", "sessions:export", "sessions:upload_download",
    "sessions:share_file", "sessions:share_report", "sessions:quality", "api:export", "api:probe",
}  # fmt: skip
"""Addresses that need the text; what others show of it is left out."""
TELL_OF_FACTS = {
    *TELL_OF_TEXT, "sessions:session", "sessions:replay", "sessions:sweep", "sessions:why", "sessions:diff",
    "sessions:apply", "sessions:session_json", "sessions:messages_csv", "sessions:link", "api:replay", "api:inspect",
    "api:why",
} - {"sessions:upload_download"}  # fmt: skip
DAMAGES = {
    "blob missing": _blob(None), "blob cut": _blob(_cut), "blob garbled": _blob(_garbled),
    "blob replaced": _blob(_replaced), "facts missing": _facts(None), "facts cut": _facts(_cut),
    "facts garbled": _facts(_garbled),
}  # fmt: skip


def _stored(packed: bool) -> Session:
    data, name = pressed(6), "pay.jsonl"
    if packed:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a/pay.jsonl", data)
            archive.writestr("a/other.jsonl", pressed(2))
        data, name = out.getvalue(), "pay.zip"
    upload = ingest(upload_id=receive(file=io.BytesIO(data), filename=name).upload.pk)
    return Session.objects.roots().filter(upload=upload).order_by("-n_messages")[0]


def _addresses(session: Session) -> list[tuple[str, str]]:
    """Every address that leads to the session: its own, its links', the API's, its upload's, its pictures'."""
    values: dict[str, Any] = {
        "session_id": session.pk, "index": 1, "upload_id": session.upload_id, "sha256": Media.objects.all()[0].pk,
        "number": 0, "target": "jsonl", "suffix": "jsonl",
    }  # fmt: skip
    links = [create_link(session=session, view=view, terms=Terms()) for view in ("replay", "session", "diff")]
    found = []
    for name, names in routes().items():
        if not names or NOT_OF_A_SESSION & set(names):
            continue
        for link in links if {"token", "link_id"} & set(names) else links[:1]:
            known = values | {"token": link.token, "link_id": link.link.pk}
            found.append((name, reverse(name, kwargs={one: known[one] for one in names})))
    return found


def _asked(client: Client, path: str, data: dict[str, str], headers: dict[str, str]) -> tuple[int, str]:
    """The status and the whole text of an answer; one that breaks off raises."""
    response = client.get(path, data, headers=headers)
    body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
    return response.status_code, body.decode("utf-8", "replace")


def _is_told(name: str, body: str) -> bool:
    """What is missing and what to do; whoever holds a link learns only whom to tell."""
    if name.startswith("sessions:link"):
        return "is missing or damaged" in body and "Tell whoever runs this server" in body
    return ("cannot be read" in body or "cannot be used" in body) and "ctxweb doctor --deep" in body


QUICK = {("blob missing", True), ("blob garbled", False), ("facts missing", False)}
KINDS = [
    pytest.param(damage, packed, marks=[] if (damage, packed) in QUICK else [pytest.mark.exhaustive])
    for damage in DAMAGES
    for packed in (False, True)
]
WAYS = list(product(({}, {"HX-Request": "true"}), ({}, {"policy": "claude_code", "tab": "parsed"})))
"""Headers and a query: each with each for the quick kinds, and for all with ``CTXWEB_EVERY=1``."""


@pytest.mark.parametrize(("damage", "packed"), KINDS)
def test_every_address_says_what_is_missing(
    db: None, tmp_path: Path, settings: Settings, damage: str, packed: bool
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    session = _stored(packed)
    addresses = _addresses(session)
    DAMAGES[damage](session)
    selectors.weighed_cache.clear()
    client, wrong, told = Client(raise_request_exception=False), {}, set()
    ways = WAYS if EVERY or (damage, packed) in QUICK else WAYS[:1]
    for (name, path), (headers, data) in product(addresses, ways):
        try:
            status, body = _asked(client, path, data, headers)
        except (OSError, EngineError) as error:
            wrong[name] = f"breaks off: {error!r}"
            continue
        if status >= 500 or (status == GONE and not _is_told(name, body)):
            wrong[name] = f"{status} {body[-300:]}"
        if status == GONE or _is_told(name, body):
            told.add(name)
    assert not wrong
    assert told >= (TELL_OF_FACTS if damage.startswith("facts") else TELL_OF_TEXT)
