"""The documentation says what the code offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import registry_docs

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", registry_docs.FILES)
def test_tables_are_what_the_registry_holds(name):
    """After adding one: python scripts/registry_docs.py."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == registry_docs.written(text)


def test_every_table_is_somewhere():
    """A table that no file shows is not documentation."""
    shown = {
        table
        for name in registry_docs.FILES
        for table in re.findall(r"<!-- table: (\w+) -->", (ROOT / name).read_text(encoding="utf-8"))
    }
    assert shown == set(registry_docs.TABLES)
