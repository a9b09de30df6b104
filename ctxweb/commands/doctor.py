"""``ctxweb doctor``: what is wrong with the stored data, one line each, and what mends it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._options import PRINTS_JSON
from ctxweb.env import expect_data
from ctxweb.terminal import say, tell_json
from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from sessions.services.doctor import Finding

MOST_ROUNDS = 2
"""With ``--mend`` a pending migration hides the data: it is mended, then the data is looked at."""


@click.command("doctor")
@click.option("--mend", is_flag=True, help="Mend what can be mended.")
@click.option("--deep", is_flag=True, help="Also read every stored file, compare its hash, and read all facts.")
@PRINTS_JSON
def command(*, mend: bool, deep: bool, as_json: bool) -> None:
    """Check the data folder, the database, the stored files, the queue and the counts.

    Without --mend nothing is changed. The status is 0 where nothing is wrong or everything was mended, else 1.
    """
    from ctxweb.startup import load_django

    expect_data()
    load_django()
    entries: list[dict[str, Any]] = []
    for _ in range(MOST_ROUNDS):
        again = False
        from sessions.services.doctor import examine

        for finding in examine(deep=deep):
            entry = _entry(finding, mend=mend)
            entries.append(entry)
            again |= entry["kind"] == "migrations" and entry["mended"]
            if not as_json:
                say(_line(entry))
        if not again:
            break
    left = sum(not entry["mended"] for entry in entries)
    if as_json:
        tell_json({"schema": "ctxweb.doctor/1", "deep": deep, "findings": entries, "left": left})
    else:
        say(_sum(entries, left, mend=mend))
    sys.exit(1 if left else 0)


def _entry(finding: Finding, *, mend: bool) -> dict[str, Any]:
    entry = {"kind": finding.kind, "text": finding.text, "action": finding.action, "mended": False, "error": None}
    entry["mendable"] = finding.mend is not None
    if mend and finding.mend is not None:
        try:
            finding.mend()
            entry["mended"] = True
        except OSError as error:
            entry["error"] = str(error)
    return entry


def _line(entry: dict[str, Any]) -> str:
    if entry["error"]:
        return f"{entry['text']} Not mended: {entry['error']}."
    if entry["mended"]:
        return f"{entry['text']} Mended: {entry['action']}."
    return f"{entry['text']} {'--mend ' if entry['mendable'] else 'To do: '}{entry['action']}."


def _sum(entries: list[dict[str, Any]], left: int, *, mend: bool) -> str:
    if not entries:
        return "Nothing is wrong."
    found = counted(len(entries), "finding")
    if mend:
        return f"{found}, {len(entries) - left:,} mended, {left:,} left."
    n = sum(entry["mendable"] for entry in entries)
    return f"{found}. `ctxweb doctor --mend` mends {n:,} of them." if n else f"{found}."
