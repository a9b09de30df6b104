"""``ctxweb formats``: the transcript formats that can be read."""

from __future__ import annotations

import dataclasses

import click

from ctxweb.commands._engine import entry_of, show
from ctxweb.commands._options import AS_JSON
from sessions.engine.base.registry import plugins
from sessions.engine.reading.formats import UNKNOWN, Coverage, Records


@click.command("formats")
@AS_JSON
def command(as_json: bool) -> None:
    """Transcript formats that can be read; `--format NAME` overrides sniffing."""
    entries = [entry_of(f) | {"coverage": _told(getattr(f, "coverage", UNKNOWN))} for f in plugins("formats").values()]
    show("formats", entries, as_json=as_json)


def _told(coverage: Coverage) -> dict[str, object]:
    told = dataclasses.asdict(coverage)
    records = {field.name: told.pop(field.name) for field in dataclasses.fields(Records)}
    return told | {"records": records}
