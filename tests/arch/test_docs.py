"""The documentation says what the code offers."""

from __future__ import annotations

import re

import pytest

from scripts import registry_docs
from tests.arch.repository import ROOT, files, relative


@pytest.mark.parametrize("name", registry_docs.FILES)
def test_tables_are_what_the_registry_holds(name):
    """After adding one: python scripts/registry_docs.py."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == registry_docs.written(text)


def test_links_lead_somewhere():
    """Relative links between the documents, after a move too."""
    broken = [
        f"{relative(path)}: {target}"
        for path in files(".md")
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert not broken, broken


def test_every_table_is_somewhere():
    """A table that no file shows is not documentation."""
    shown = {
        table
        for name in registry_docs.FILES
        for table in re.findall(r"<!-- table: (\w+) -->", (ROOT / name).read_text(encoding="utf-8"))
    }
    assert shown == set(registry_docs.TABLES)
