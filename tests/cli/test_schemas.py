"""The published schemas hold what the commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pytest_django import Settings

from ctxweb.commands import delete, ingest
from scripts.schemas import COMMANDS, FOLDER, PLAIN, SLOW, STORED, documents, fixtures, stored
from tests.arch.repository import ROOT


@pytest.mark.parametrize("command", [*COMMANDS, *PLAIN])
def test_what_is_printed_is_as_published(command: str) -> None:
    validator = jsonschema_rs.validator_for(json.loads((FOLDER / f"{command}.json").read_text(encoding="utf-8")))
    demo, *small = fixtures()
    printed = documents(command, [demo, *small[3 :: 1 if command in SLOW else 16]][:12])
    assert printed
    for one in printed:
        assert [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(one)] == []


@pytest.mark.django_db
def test_what_is_printed_of_stored_sessions_is_as_published(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT, settings.ANTHROPIC_API_KEY = tmp_path / "blobs", ""
    for module in (ingest, delete):
        monkeypatch.setattr(module, "start_django", lambda: None)
    printed = stored(tmp_path)
    assert set(printed) == set(STORED)
    for command, found in printed.items():
        assert found, command
        validator = jsonschema_rs.validator_for(json.loads((FOLDER / f"{command}.json").read_text(encoding="utf-8")))
        for one in found:
            assert [f"{e.instance_path}: {e.message}" for e in validator.iter_errors(one)] == [], command


def test_a_field_that_goes_is_noticed() -> None:
    published: dict[str, Any] = json.loads((FOLDER / "formats.json").read_text(encoding="utf-8"))
    [found] = documents("formats", [])
    del found["formats"][0]["label"]
    assert not jsonschema_rs.validator_for(published).is_valid(found)


def test_every_schema_belongs_to_a_command() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*COMMANDS, *PLAIN, *STORED}
    assert FOLDER == ROOT / "docs" / "schemas"
