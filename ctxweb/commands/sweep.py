"""``ctxweb sweep``: a transcript over a range of settings, and the one to take."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, given_prices, price_option, settings, warn, write_csv
from ctxweb.commands._patience import patience
from ctxweb.commands._replaying import opened, sweep_options
from ctxweb.terminal import Head, figure, say, show_table, terminal, titled
from sessions.engine.cost_report import span, usd
from sessions.engine.errors import BadParameter, UnknownName
from sessions.engine.sweeps.recommend import read_floors, recommend
from sessions.engine.sweeps.regret import optimum
from sessions.engine.sweeps.report import sweep_document, sweep_table
from sessions.engine.sweeps.sweep import grid, read_over, sweep
from sessions.engine.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ctxweb.terminal import Terminal
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.replay import Replay
    from sessions.engine.sweeps.regret import Optimum
    from sessions.engine.sweeps.sweep import Sweep
    from sessions.engine.texts import Texts

MAX_AXES = 2
LOSSES = (("rules_gone", "rules lost"), ("needs_gone", "lost, used later"), ("read_again_tokens", "re-reads"))
"""Columns of losses in a row of the document, with their headings."""


@click.command("sweep", cls=EachFile)
@sweep_options
@click.option(
    "--over",
    "overs",
    multiple=True,
    metavar="KEY=A:B:N",
    help="N values from A to B of a parameter or of the window; twice for a table of both.",
)
@click.option(
    "--recommend",
    "floors",
    multiple=True,
    metavar="LIMIT=N",
    help="What the recommended setting has to meet: max_compactions=3, max_peak=150000, max_cost=2.",
)
@click.option("--regret", is_flag=True, help="Show each cost divided by the cheapest possible, with hindsight.")
@click.option("--losses", is_flag=True, help="Add rules lost, what is lost and used later, and re-reads. Slower.")
@price_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="The rows as CSV on standard output.")
def command(  # noqa: PLR0917
    file: Path, overs: tuple[str, ...], floors: tuple[str, ...], regret: bool, prices: tuple[str, ...], as_json: bool,
    as_csv: bool, **options: Any,
) -> None:  # fmt: skip
    """Replay FILE at every setting of a grid. Assumes the agent sends the same messages.

    A best trade-off is a setting that no other beats on cost, compactions and peak at once.
    """
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    if len(overs) > MAX_AXES or not (overs or len(options["policies"]) > 1):
        raise click.UsageError("sweep takes --over once or twice, or several --policy")
    try:
        limits = read_floors(settings(floors, "--recommend"))
        result = _run(file, overs, prices, options)
    except (BadParameter, UnknownName) as error:
        raise click.UsageError(str(error)) from error
    found = recommend(result, limits)
    best = _optimum(result, options["window"]) if regret else None
    document = sweep_document(result, recommendation=found, floors=limits, best=best)
    if as_json:
        emit(document)
    elif as_csv:
        write_csv(sweep_table(document["rows"]))
    else:
        _print(document, found is None)
        warn(result.weighed.warnings)


def _run(file: Path, overs: tuple[str, ...], prices: tuple[str, ...], options: dict[str, Any]) -> Sweep:
    weighed, texts = opened(file, options)
    axes, points = grid(
        options["policies"], [read_over(text) for text in overs], params=settings(options["pairs"]),
        window=options["window"],
    )  # fmt: skip
    with closing(texts), patience(f"Replaying {counted(len(points), 'setting')}"):
        return sweep(
            weighed,
            points,
            axes,
            base=options["base"],
            estimator=options["estimator"],
            summarizer=options["summarizer"],
            prices=given_prices(weighed, prices),
            texts=texts,
            fail=options["fail"],
            start=options["start"],
            columns=_losses(weighed, texts) if options["losses"] else None,
        )


def _losses(weighed: Weighed, texts: Texts) -> Callable[[Replay], Mapping[str, float]]:
    from sessions.engine.quality.columns import loss_columns
    from sessions.engine.quality.index import build_index

    return loss_columns(weighed, build_index(weighed.transcript, texts.of))


def _optimum(result: Sweep, window: int | None) -> Optimum | None:
    """The cheapest schedule within the window, the largest one where windows are swept."""
    best = optimum(
        result.weighed, summarizer=result.summarizer, prices=result.prices,
        window=max((row.setting.window for row in result.rows if row.setting.window), default=window),
    )  # fmt: skip
    if best is None:
        say("Warning: the cheapest possible is unknown: no price is known, or nothing fits the window")
    return best


def _print(document: dict[str, Any], nothing_kept: bool) -> None:
    keys = [axis["key"] for axis in document["axes"]]
    console = terminal()
    facts = (
        f" on {document['session']}: {counted(len(document['rows']), 'setting')}, "
        f"summaries {document['summarizer']}. Assumes the agent sends the same messages."
    )
    console.print(titled(", ".join(document["policies"]), facts))
    above = (figure("÷ cheapest possible"),) if document["optimum"] else ()
    lost = LOSSES if document["rows"] and LOSSES[0][0] in document["rows"][0] else ()
    heads = (
        *(Head(key, right=key != "policy") for key in keys), figure("compactions"), figure("peak"),
        figure("tokens sent"), figure("from cache"), figure("cost"), *above, *(figure(label) for _, label in lost),
        Head(""),
    )  # fmt: skip
    rows = []
    for row in document["rows"]:
        sent = row["input_tokens"] + row["cache_read_tokens"] + row["cache_write_tokens"]
        peak = f"{row['peak_context_tokens']:,}"
        numbers = (f"{row['compactions']:,}", peak, f"{sent:,}", f"{row['cache_read_tokens']:,}", _dollars(row))
        mark = "best trade-off" if row["pareto"] else "" if row["fits"] else "over the window"
        against = ("" if row["regret"] is None else f"{row['regret']:.2f}",) if above else ()
        losses = (f"{row[key]:,.0f}" for key, _ in lost)
        rows.append((*(_said(row[key]) for key in keys), *numbers, *against, *losses, mark))
    show_table(console, heads, rows)
    if not all(row["fits"] for row in document["rows"]):
        console.print("Over the window: such a request could not be sent.")
    if document["optimum"] is not None:
        _print_optimum(console, document["optimum"])
    recommended = document["recommended"]
    if recommended is not None:
        where = ", ".join(f"{key} {_said(recommended['row'][key])}" for key in keys)
        console.print(titled(f"Recommended: {where}.", f" {recommended['reason']}"))
        for near in recommended["neighbours"]:
            broken = "" if near["keeps"] else ", exceeds a limit"
            console.print(
                f"  {near['key']} {_said(near['value'])}: cost {near['change']:+.1%}, "
                f"{counted(near['compactions'], 'compaction')}{broken}"
            )
    elif nothing_kept:
        console.print(titled("Nothing to recommend:", " no setting fits the window and meets the limits."))


def _print_optimum(console: Terminal, best: dict[str, Any]) -> None:
    events, cost = best["events"], best["totals"]["cost_usd"]
    cold = sum(event["cost"]["cold_cache"] for event in events)
    free = sum(event["cost"]["free"] for event in events)
    console.print(
        f"Cheapest possible, with hindsight: {usd(cost['low'])}, {counted(len(events), 'compaction')} "
        f"({cold:,} after the cache expired, {free:,} paid off at once), peak "
        f"{best['totals']['peak_context_tokens']:,} tokens."
    )


def _dollars(row: dict[str, Any]) -> str:
    cost = row["cost_usd"]
    return "no price" if cost is None else span(cost["low"], cost["high"])


def _said(value: Any) -> str:
    """A swept value with at most one decimal."""
    return value if isinstance(value, str) else f"{round(value, 1):,}"
