"""The script that makes a new database names every migration of ours."""

from __future__ import annotations

from tests.arch.repository import ROOT


def test_the_script_of_a_new_database_knows_every_migration() -> None:
    """After a new migration: ``python scripts/schema.py``.  tests/cli/test_schema.py looks at what it makes."""
    head = (ROOT / "ctxweb" / "schema.sql").read_text(encoding="utf-8").split("\n", 1)[0]
    ours = {name.removeprefix("agent_sessions.") for name in head.split() if name.startswith("agent_sessions.")}
    assert ours == {path.stem for path in (ROOT / "sessions" / "migrations").glob("[!_]*.py")}
