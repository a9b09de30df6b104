"""``ctxweb fleet``: many sessions together, by what they have in common, and what another threshold would have cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from ctxweb.commands._engine import emit, read, settings
from ctxweb.commands._files import inputs
from ctxweb.commands._options import AS_JSON
from ctxweb.env import expect_data
from ctxweb.terminal import Head, Terminal, figure, progress, say, table_of, terminal, titled, words
from sessions.engine.base.errors import EngineError
from sessions.engine.base.words import counted
from sessions.engine.reading.reading import NotATranscript
from sessions.engine.sweeps.fleet.groups import add_up, fleet_document, part_document
from sessions.engine.sweeps.fleet.values import BY, NOT_RECORDED, Part

SHOWN = 40
LEAST_WIDTH = 124
"""Columns that the table takes, however narrow the terminal says it is."""
COLUMNS = (
    ("sessions", "sessions"), ("compactions", "compac-\ntions"), ("false", "false\nalarms"), ("refused", "refused"),
    ("missed", "missed"), ("thrashing", "thrash-\ning"), ("overcounted", "over-\ncounted"),
    ("tokens_again", "tokens\nre-read"),
)  # fmt: skip
MONEY = (figure("cost, recorded"), figure("above\n100K"))


@click.command("fleet")
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE]...")
@click.option("--by", type=click.Choice(BY), default=BY[0], show_default=True, help="What sessions are grouped by.")
@click.option(
    "--only",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only sessions with this agent, client, model, project or week; '-' for not recorded.",
)
@click.option("--sessions", "each", is_flag=True, help="Name every session with its figures.")
@AS_JSON
def command(files: tuple[str, ...], by: str, pairs: tuple[str, ...], *, each: bool, as_json: bool) -> None:
    """Sum up many sessions: FILES (or folders), without any the library of the dashboard.

    Subagents are not counted; of a resumed session in the library only what is its own.
    """
    wanted = {key: str(value) for key, value in settings(pairs, "--only").items()}
    if unknown := set(wanted) - set(BY):
        raise click.UsageError(f"Unknown --only {min(unknown)!r}. Keys: {', '.join(BY)}.")
    found = (part for part in (_of_files(files) if files else _of_library()) if _fits(part, wanted))
    parts = list(found) if each else []
    sums = add_up(parts if each else found, by)
    document = fleet_document(sums)
    if each:
        document["sessions"] = [part_document(part) for part in parts]
    if as_json:
        emit(document)
        return
    if not sums.total.n_sessions:
        say("No session. Name files or folders, or store some: `ctxweb ingest PATH`.")
        return
    console = terminal()
    console.width = max(console.width, LEAST_WIDTH)
    _print_groups(console, document)
    _print_thresholds(console, document)
    if each:
        _print_sessions(console, document)


def _fits(part: Part, wanted: Mapping[str, str]) -> bool:
    return all(getattr(part, key) == ("" if value == NOT_RECORDED else value) for key, value in wanted.items())


def _of_files(files: tuple[str, ...]) -> Iterator[Part]:
    """What every root session of the files adds; what cannot be read is said and left out."""
    from sessions.engine.sweeps.fleet.part import part_of
    from sessions.engine.weigh.calibration.calibrate import weigh

    for number, given in enumerate(inputs(files), 1):
        progress(f"{counted(number, 'file')} read")
        try:
            parsed = read(given.path, None, name=given.name)
        except (EngineError, OSError) as problem:
            if given.named or not isinstance(problem, NotATranscript):
                say(f"{given.shown}: {problem}")
            continue
        for transcript in parsed.transcripts:
            if transcript.parent_id is None:
                yield part_of(weigh(transcript), ident=given.shown)
    progress("")


def _of_library() -> Iterator[Part]:
    """What every stored session adds; what is not worked out yet is now."""
    from ctxweb.startup import start_django

    expect_data()
    start_django()
    from sessions import selectors
    from sessions.services import figures

    n_failed = figures.catch_up(lambda done, total: progress(f"{done:,} of {total:,} sessions" if done < total else ""))
    if n_failed:
        say(f"{counted(n_failed, 'session')} could not be worked out, so not counted: upload again.")
    return selectors.fleet_parts({})


def _print_groups(console: Terminal, document: dict[str, Any]) -> None:
    table = table_of([words(document["by"]), *(figure(heading) for _, heading in COLUMNS), *MONEY])
    table.columns[0].overflow, table.columns[0].min_width = "fold", 16
    for group in document["groups"][:SHOWN]:
        table.add_row(group["key"] or "not recorded", *_cells(group))
    if len(document["groups"]) > 1:
        table.add_row("all", *_cells(document["totals"]), style="bold")
    console.print(table)
    n_more = len(document["groups"]) - SHOWN
    if n_more > 0:
        console.print(f"{counted(n_more, 'group')} more: --json has all.")


def _cells(group: dict[str, Any]) -> tuple[str, ...]:
    cost, share = group["cost_usd"], group["share_above_100k"]
    return (
        *(f"{group[name]:,}" for name, _ in COLUMNS),
        "unknown" if cost is None else f"${cost:,.2f}",
        "unknown" if share is None else f"{100 * share:.0f}%",
    )


def _print_thresholds(console: Terminal, document: dict[str, Any]) -> None:
    if not document["thresholds"]:
        return
    n = document["n_replayed"]
    says = f" ({counted(n, 'session')} replayed, summary of 4,000 tokens; estimated)"
    console.print(titled("\nAt another threshold", says))
    table = table_of([*map(figure, ("threshold", "compactions", "cost, by rule")), Head("")])
    for row in document["thresholds"]:
        cost = row["cost_usd"]
        said = "unknown" if cost is None else f"${cost['low']:,.2f}–{cost['high']:,.2f}"
        if cost is not None and f"{cost['low']:,.2f}" == f"{cost['high']:,.2f}":
            said = f"${cost['low']:,.2f}"
        over = row["over_window"]
        mark = f"{over:,} would pass their window" if over else ""
        if row["cheapest"]:
            mark = "cheapest with at most twice the recorded compactions"
        never = "as recorded" if row["as_recorded"] else "never"
        table.add_row(never if row["tokens"] is None else f"{row['tokens']:,}", f"{row['compactions']:,}", said, mark)
    console.print(table)
    console.print("Assumes the agent sends the same messages.")


def _print_sessions(console: Terminal, document: dict[str, Any]) -> None:
    heads = (words("session"), words("week"), *(figure(heading) for _, heading in COLUMNS[1:]), figure("cost"))
    table = table_of(heads, overflow="fold")
    for one in document["sessions"]:
        cost = "unknown" if one["dollars"] is None else f"${one['dollars']:,.2f}"
        table.add_row(one["id"], one["week"], *(f"{one[name]:,}" for name, _ in COLUMNS[1:]), cost)
    console.print(table)
