"""``ctxweb policies``: the compaction policies and their parameters."""

from __future__ import annotations

import dataclasses

import click
from rich.table import Table

from ctxweb.commands._listing import show
from ctxweb.terminal import terminal
from sessions.engine.params import specs
from sessions.engine.registry import plugins


@click.command("policies")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(as_json: bool) -> None:
    """Compaction policies and their parameters (`--set KEY=VALUE`)."""
    policies = plugins("policies").values()
    entries = [
        {
            "name": p.name,
            "label": p.label,
            "source": p.source,
            "estimator": p.estimator,
            "params": [dataclasses.asdict(spec) for spec in specs(p.params)],
        }
        for p in policies
    ]
    show("policies", entries, as_json=as_json)
    if as_json:
        return
    table = Table(box=None, pad_edge=False, title="Parameters", title_justify="left")
    for heading in ("policy", "parameter", "default", "range", "what it is"):
        table.add_column(heading)
    for policy in policies:
        for spec in specs(policy.params):
            default = str(spec.default).lower() or "none"
            table.add_row(policy.name, spec.name, default, spec.bounds, spec.help or spec.label)
    terminal().print(table)
