"""``ctxweb replay``: a transcript under a compaction policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, given_prices, warn
from ctxweb.commands._options import AS_JSON, PRICES
from ctxweb.commands._replaying import replay_options, run_replay
from ctxweb.terminal import Head, Terminal, figure, show_table, terminal, titled
from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import cost_sentences, span
from sessions.engine.reports.report import replay_document


@click.command("replay", cls=EachFile)
@replay_options
@PRICES
@AS_JSON
def command(file: Path, prices: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Replay FILE under a policy. Assumes the agent sends the same messages."""
    result = run_replay(file, **options)
    document = replay_document(result, prices=given_prices(result.weighed, prices))
    if as_json:
        emit(document)
        return
    console = terminal()
    facts = (
        f" on {document['session']}: {counted(len(document['events']), 'compaction')}. "
        f"Window {document['window']:,} tokens ({document['window_source']}), trigger counts with "
        f"{document['estimator']}, summaries {document['summarizer']}. Assumes the agent sends the same messages."
    )
    console.print(titled(document["policy"], facts))
    if document["as_recorded"]:
        console.print(f"The client {document['as_recorded']}.", highlight=False)
    if document["events"]:
        show_table(console, HEADS, [_row(number, event) for number, event in enumerate(document["events"], 1)])
    _print_totals(console, document, given=bool(prices))
    for line in cost_sentences(document["recorded_cost"]):
        console.print(line)
    warn(result.warnings)


HEADS = (
    figure("compaction"), figure("request"), Head("trigger counted"), figure("tokens before"), figure("after"),
    figure("kept"), figure("edited"), figure("dropped"), figure("inserted"), Head("pays off after"),
)  # fmt: skip


def _row(number: int, event: dict[str, Any]) -> tuple[str, ...]:
    trigger = f"{event['measure']:,} {event['operator']} {event['threshold']:,} {event['unit']}"
    fates = (f"{event[name]:,}" for name in ("kept", "edited", "dropped", "inserted"))
    before, after = event["before"]["tokens"], event["after"]["tokens"]
    return str(number), f"{event['request']:,}", trigger, f"{before:,}", f"{after:,}", *fates, _paid(event)


def _paid(event: dict[str, Any]) -> str:
    """Requests until the compaction has paid for itself, its own the first."""
    cost = event["cost"]
    if cost is None or cost["break_even_calls"] is None:
        return "no price" if cost is None else "never"
    cold = ", cache expired" if cost["cold_cache"] else ""
    return ("at once" if cost["free"] else f"{cost['break_even_calls']:,.1f} requests") + cold


def _print_totals(console: Terminal, document: dict[str, Any], *, given: bool) -> None:
    totals, around = document["totals"], document["cost_range_usd"]
    cost = totals["cost_usd"]
    source = "prices as given" if given else "list prices"
    price = "no price known"
    if cost is not None:
        error = f"with the estimate's own error {span(around['least'], around['most'])}"
        price = f"{span(cost['low'], cost['high'])} (estimated, {source}; {error})"
    console.print(
        f"Peak {totals['peak_context_tokens']:,} tokens. Cost: {price}.\n"
        f"Input {totals['input_tokens']:,}, cache read {totals['cache_read_tokens']:,}, cache write "
        f"{totals['cache_write_tokens']:,}, output {totals['output_tokens']:,} tokens, "
        f"{counted(totals['summary_calls'], 'summary call')}."
    )
    held = document["baseline"]
    paid = held["cost_usd"]
    console.print(
        f"As recorded: {'no price known' if paid is None else span(paid['low'], paid['high'])}, "
        f"{counted(held['compactions'], 'compaction')}, peak {held['peak_context_tokens']:,} tokens."
    )
