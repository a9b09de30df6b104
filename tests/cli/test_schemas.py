"""The published schemas hold what the commands print."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from scripts.schemas import COMMANDS, FOLDER, PLAIN, SLOW, documents, fixtures
from tests.arch.repository import ROOT


@pytest.mark.parametrize("command", [*COMMANDS, *PLAIN])
def test_what_is_printed_is_as_published(command: str) -> None:
    validator = jsonschema_rs.validator_for(json.loads((FOLDER / f"{command}.json").read_text(encoding="utf-8")))
    demo, *small = fixtures()
    printed = documents(command, [demo, *small[3 :: 1 if command in SLOW else 16]][:12])
    assert printed
    for one in printed:
        assert [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(one)] == []


def test_a_field_that_goes_is_noticed() -> None:
    published: dict[str, Any] = json.loads((FOLDER / "formats.json").read_text(encoding="utf-8"))
    [found] = documents("formats", [])
    del found["formats"][0]["label"]
    assert not jsonschema_rs.validator_for(published).is_valid(found)


def test_every_schema_belongs_to_a_command() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*COMMANDS, *PLAIN}
    assert FOLDER == ROOT / "docs" / "schemas"
