"""``ctxweb search``: what it prints for people and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _library(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr("ctxweb.startup.start_django", lambda: None)
    lines = Lines().prompt("Fix it").turn("Traceback in billing_worker.py line 3")
    ingest(upload_id=receive(file=io.BytesIO(lines.bytes()), filename="a.jsonl").upload.pk)


def test_what_is_not_indexed_yet_is_and_a_hit_names_its_message() -> None:
    result = CliRunner().invoke(cli, ["search", "billing_worker.py"])
    assert result.exit_code == 0
    assert "message 2: Traceback in billing_worker.py line 3" in result.stdout
    assert "1 of 1 session, 1 message." in result.stdout


def test_nothing_found_is_said_and_no_failure() -> None:
    result = CliRunner().invoke(cli, ["search", "nobody", "wrote", "this"])
    assert result.exit_code == 0
    assert "No stored session has all of these words" in result.stderr


def test_the_document_leads_to_the_message() -> None:
    found = json.loads(CliRunner().invoke(cli, ["search", "Traceback", "--json"]).stdout)
    [one] = found["sessions"]
    assert (one["n_messages"], one["message"], one["path"]) == (1, 2, f"/s/{one['id']}/?m=2#m-2")
    assert found["searchable"] == {"n_searchable": 1, "n_sessions": 1, "n_problems": 0}


def test_words_are_asked_for() -> None:
    assert CliRunner().invoke(cli, ["search"]).exit_code == 2
