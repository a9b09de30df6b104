"""``ctxweb sweep``: a transcript over a range of settings, and the one to take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, given_prices, settings, warn, write_csv, wrong_usage
from ctxweb.commands._options import AS_JSON, POLICY_HELP, PRICES, takes
from ctxweb.commands._replaying import SESSION_OPTIONS, how_replayed, opened
from ctxweb.commands._subagents import print_types, types_swept
from ctxweb.terminal import Head, Terminal, figure, patience, say, show_table, terminal, titled
from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import span, usd
from sessions.engine.quality.baseline import as_recorded
from sessions.engine.quality.columns import Lost, counts_of, losses_by
from sessions.engine.quality.index import build_index
from sessions.engine.quality.recall import recall_words
from sessions.engine.replays.replay import Replay, replay
from sessions.engine.sweeps.advice import DIED, NAMED, Pick, advise, objections
from sessions.engine.sweeps.floors import keeps, read_floors
from sessions.engine.sweeps.regret import Optimum, optimum
from sessions.engine.sweeps.report import sweep_document, sweep_table
from sessions.engine.sweeps.sweep import Sweep, grid, read_over, sweep
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.reading.texts import Texts

MAX_AXES = 2
LOSSES = ("lost", "re-reads", "still answers")
"""Headings of what settings lose: rules and things used later, and the tokens of what would be read again."""


@click.command("sweep", cls=EachFile)
@takes(
    click.option(
        "--policy", "policies", required=True, multiple=True, help=f"{POLICY_HELP} Several are set side by side."
    ),
    *SESSION_OPTIONS, *how_replayed(),
)  # fmt: skip
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
    help="A limit for what is advised: max_compactions=3, max_peak=150000, max_cost=2.",
)
@click.option("--regret", is_flag=True, help="Show each cost divided by the cheapest possible, with hindsight.")
@click.option(
    "--losses/--no-losses",
    default=True,
    help="Count rules lost, what is lost and used later, and re-reads. Without: faster, and no advice.",
)
@click.option("--subagents", is_flag=True, help="Sweep the session's subagents by type: how many, peak, what to set.")
@PRICES
@AS_JSON
@click.option("--csv", "as_csv", is_flag=True, help="The rows as CSV on standard output.")
def command(  # noqa: PLR0917
    file: Path, overs: tuple[str, ...], floors: tuple[str, ...], regret: bool, prices: tuple[str, ...], as_json: bool,
    as_csv: bool, subagents: bool, **options: Any,
) -> None:  # fmt: skip
    """Replay FILE at every setting of a grid. Assumes the agent sends the same messages.

    Three settings are advised, each held against the session as recorded: Safe loses least, Balanced weighs cost
    against losses, Cheapest costs least within the limits.
    """
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    if len(overs) > MAX_AXES or not (overs or len(options["policies"]) > 1):
        raise click.UsageError("sweep takes --over once or twice, or several --policy")
    if subagents and (as_csv or regret):
        raise click.UsageError("--subagents goes neither with --csv nor with the cheapest possible")
    with wrong_usage():
        limits = read_floors(settings(floors, "--recommend"))
        if subagents:
            by_type = types_swept(file, options, lambda one, own: _swept(one, own, overs, prices, options)[0], limits)
            (emit if as_json else print_types)(by_type)
            return
        weighed, texts = opened(file, options)
        with texts:
            result, lost = _swept(weighed, texts, overs, prices, options)
            found = advise(result, limits)
            best = _optimum(result, options["window"]) if regret else None
            named = {pick.name: lost(_replayed(result, pick, texts, options)) for pick in found.picks} if lost else {}
    by_name = (lambda pick: named[pick.name]) if named else None
    document = sweep_document(result, advice=found, floors=limits, best=best, lost=by_name)
    if as_json:
        emit(document)
    elif as_csv:
        write_csv(sweep_table(document["rows"]))
    else:
        _print(document, result)
        warn(result.weighed.warnings)


def _swept(
    weighed: Weighed, texts: Texts, overs: tuple[str, ...], prices: tuple[str, ...], options: dict[str, Any]
) -> tuple[Sweep, Callable[[Replay], Lost] | None]:
    """The sweep, and what names its losses where they are counted."""
    lost = losses_by(weighed, build_index(weighed.transcript, texts.of)) if options["losses"] else None
    axes, points = grid(
        options["policies"], [read_over(text) for text in overs], params=settings(options["pairs"]),
        window=options["window"],
    )  # fmt: skip
    with patience(f"Replaying {counted(len(points), 'setting')}"):
        columns = counts_of(lost) if lost else None
        own = given_prices(weighed, prices)
        return sweep(weighed, points, axes, **_shared(texts, options), prices=own, columns=columns), lost


def _shared(texts: Texts, options: dict[str, Any]) -> dict[str, Any]:
    """What all settings have in common, as the engine takes it."""
    return {name: options[name] for name in ("base", "estimator", "summarizer", "fail", "start")} | {"texts": texts}


def _replayed(result: Sweep, pick: Pick, texts: Texts, options: dict[str, Any]) -> Replay:
    if pick.as_recorded:
        return as_recorded(result.weighed)
    setting = pick.row.setting
    own: dict[str, Any] = {"params": dict(setting.params), "window": setting.window}
    return replay(result.weighed, setting.policy, **_shared(texts, options), **own)


def _optimum(result: Sweep, window: int | None) -> Optimum | None:
    """The cheapest schedule within the window, the largest one where windows are swept."""
    best = optimum(
        result.weighed, summarizer=result.summarizer, prices=result.prices,
        window=max((row.setting.window for row in result.rows if row.setting.window), default=window),
    )  # fmt: skip
    if best is None:
        say("Warning: the cheapest possible is unknown: no price is known, or nothing fits the window")
    return best


def _print(document: dict[str, Any], result: Sweep) -> None:
    keys = [axis["key"] for axis in document["axes"]]
    console = terminal()
    facts = (
        f" on {document['session']}: {counted(len(document['rows']), 'setting')}, "
        f"summaries {document['summarizer']}. Assumes the agent sends the same messages."
    )
    console.print(titled(", ".join(document["policies"]), facts))
    above = (figure("÷ cheapest possible"),) if document["optimum"] else ()
    lost = LOSSES if document["rows"] and "rules_gone" in document["rows"][0] else ()
    heads = (
        *(Head(key, right=key != "policy") for key in keys), figure("compactions"), figure("peak"),
        figure("tokens sent"), figure("cost"), *above, *map(figure, lost),
        Head(""),
    )  # fmt: skip
    rows, why_not = [], objections(result)
    for row, made in zip(document["rows"], result.rows, strict=True):
        sent = row["input_tokens"] + row["cache_read_tokens"] + row["cache_write_tokens"]
        peak = f"{row['peak_context_tokens']:,}"
        numbers = (f"{row['compactions']:,}", peak, f"{sent:,}", _dollars(row))
        limits = "" if keeps(made, document["floors"]) else "over limits"
        mark = _name_of(row, document) or why_not[id(made)] or limits
        against = ("" if row["regret"] is None else f"{row['regret']:.2f}",) if above else ()
        gone = f"{row['rules_gone'] + row['needs_gone']:,}"
        losses = (gone, f"{row['read_again_tokens']:,.0f}", recall_words(made.recall)) if lost else ()
        rows.append((*(_said(row[key]) for key in keys), *numbers, *against, *losses, mark))
    show_table(console, heads, rows)
    if not all(row["fits"] for row in document["rows"]):
        console.print("Over the window: such a request could not be sent.")
    if document["optimum"] is not None:
        _print_optimum(console, document["optimum"])
    _print_advice(console, document)


def _name_of(row: dict[str, Any], document: dict[str, Any]) -> str:
    """What a row is advised as: "Balanced"."""
    return next((", ".join(one["names"]) for one in document["advice"]["settings"] if one["row"] == row), "")


def _print_advice(console: Terminal, document: dict[str, Any]) -> None:
    """The answer, then each setting with its cost, what it loses by name and why."""
    advice, held = document["advice"], document["recorded"]
    console.print(titled("Advice:", f" {advice['sentence']}{'' if advice['sentence'].endswith('.') else '.'}"))
    things = f", {counted(held['rules_gone'] + held['needs_gone'], 'thing')} lost" if "rules_gone" in held else ""
    died = "" if held["fits"] else f" {DIED}."
    console.print(f"  As recorded: {_dollars(held)}, {counted(held['compactions'], 'compaction')}{things}.{died}")
    if document["recorded_usage"]:
        console.print(f"  {document['recorded_usage']}")
    for pick in advice["settings"]:
        _print_pick(console, pick, document)


def _print_pick(console: Terminal, pick: dict[str, Any], document: dict[str, Any]) -> None:
    row, first = pick["row"], f"{pick['first']}. " if pick["first"] else ""
    keys = [axis["key"] for axis in document["axes"]]
    where = "as recorded" if pick["as_recorded"] else ", ".join(f"{key} {_said(row[key])}" for key in keys)
    best = document["recommended"]
    mark = " (recommended)" if best is not None and best["names"] == pick["names"] else ""
    console.print(titled(f"  {', '.join(pick['names'])}: {where}{mark}.", f" {first}{pick['reason']}"))
    if not pick["as_recorded"]:
        often, again = counted(row["compactions"], "compaction"), row["read_again_tokens"]
        console.print(f"    {_dollars(row)}, {often}, re-reads {again:,.0f} tokens.")
    lost = [*pick["lost"]["rules"], *pick["lost"]["things"]] if "lost" in pick else []
    if lost and not pick["as_recorded"]:
        more = f"; and {len(lost) - NAMED:,} more" if len(lost) > NAMED else ""
        console.print(f"    Loses: {'; '.join(name.rstrip('.') for name in lost[:NAMED])}{more}.")


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
