"""``ctxweb estimators``: the definitions of a block's size."""

from __future__ import annotations

import click

from ctxweb.commands._engine import entry_of, show
from ctxweb.commands._options import AS_JSON
from sessions.engine.base.registry import plugins


@click.command("estimators")
@AS_JSON
def command(as_json: bool) -> None:
    """Estimators: each gives a block its size under one definition."""
    entries = [entry_of(e) | {"unit": e.unit} for e in plugins("estimators").values()]
    show("estimators", entries, as_json=as_json)
