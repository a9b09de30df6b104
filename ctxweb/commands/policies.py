"""``ctxweb policies``: the compaction policies, and the parameters of one."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from ctxweb.commands._engine import entry_of, show, wrong_usage
from ctxweb.commands._options import AS_JSON
from ctxweb.terminal import Head, show_table, terminal, titled, words
from sessions.engine.base.registry import get, plugins
from sessions.engine.policies.params import specs
from sessions.engine.policies.policy import Policy


@click.command("policies")
@click.argument("name", required=False)
@AS_JSON
def command(name: str | None, *, as_json: bool) -> None:
    """All compaction policies, or what policy NAME does, its source and its parameters (`--set KEY=VALUE`)."""
    with wrong_usage():
        chosen = [get("policies", name)] if name else list(plugins("policies").values())
    if as_json or not name:
        show("policies", [_entry(policy) for policy in chosen], as_json=as_json)
    else:
        _print(chosen[0])


def _entry(policy: Policy) -> dict[str, Any]:
    params = [dataclasses.asdict(spec) for spec in specs(policy.params)]
    return entry_of(policy) | {"estimator": policy.estimator, "params": params}


def _print(policy: Policy) -> None:
    console = terminal()
    console.print(titled(policy.label, f"  {policy.name}"))
    for line in (policy.help, f"Source: {policy.source}. Trigger counts with {policy.estimator}.", *policy.caveats):
        if line:
            console.print(line, highlight=False)
    heads = (Head("parameter"), Head("default"), words("allowed"), words("what it is"))
    rows = [
        (spec.name, str(spec.default).lower() or "none", spec.bounds, ". ".join(filter(None, (spec.label, spec.help))))
        for spec in specs(policy.params)
    ]
    show_table(console, heads, rows)
    console.print(f"Try it: ctxweb replay FILE --policy {policy.name}", highlight=False)
