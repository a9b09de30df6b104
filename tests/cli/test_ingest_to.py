"""``ctxweb ingest --to``: files sent to another server, as a build does it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from ctxweb.commands import _sending, ingest
from sessions.models import Session, Upload
from sessions.services.tokens import make_token
from tests.web.stored import pressed


@pytest.fixture
def file(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("CTXWEB_TOKEN", raising=False)
    path = tmp_path / "session.jsonl"
    path.write_bytes(pressed(6))
    return path


def sent(*words: str) -> Result:
    return CliRunner().invoke(ingest.command, list(words))


def test_a_file_is_sent_read_and_recognised(live_server: LiveServer, file: Path) -> None:
    for status in ("new", "duplicate"):
        result = sent(str(file), "--to", live_server.url, "--json")
        assert result.exit_code == 0, result.output
        [one] = json.loads(result.stdout)["uploads"]
        assert (one["status"], one["format"]) == (status, "claude_code")
        assert one["sessions"] == [Session.objects.get().pk]


def test_a_team_asks_for_a_token(live_server: LiveServer, file: Path, settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    refused = sent(str(file), "--to", live_server.url)
    assert refused.exit_code == 1
    assert "CTXWEB_TOKEN" in refused.output
    alice = User.objects.create_user("alice")
    made = make_token(name="ci", scopes=["upload"], owner_id=alice.pk)
    result = sent(str(file), "--to", f"{live_server.url}/", "--token", made.secret, "--mine")
    assert result.exit_code == 0, result.output
    found = Session.objects.get()
    assert (found.upload.owner_id, found.private) == (alice.pk, True)


def test_what_is_stored_but_cannot_be_followed_has_not_failed(
    live_server: LiveServer, file: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the server is an older one, or goes away meanwhile."""
    monkeypatch.setattr("sessions.tasks.wake", lambda n: None)
    asked = _sending.Server._ask

    def refused(server: _sending.Server, path: str, *more: object) -> object:
        if path != "api/uploads":
            raise click.ClickException("the server answered 403")
        return asked(server, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(_sending.Server, "_ask", refused)
    result = sent(str(file), "--to", live_server.url)
    assert result.exit_code == 0, result.output
    assert "The file is stored. How far it is read is not known: the server answered 403" in result.stderr
    assert "stored, not read yet" in result.stderr
    assert Upload.objects.count() == 1


def test_what_cannot_work_says_why(file: Path) -> None:
    gone = sent(str(file), "--to", "http://127.0.0.1:9/")
    assert gone.exit_code == 1
    assert "cannot be reached" in gone.output
    assert sent(str(file), "--to", "ctxweb.example.org").exit_code == 2
    assert sent(str(file), "--mine").exit_code == 2
