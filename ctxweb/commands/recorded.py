"""``ctxweb recorded``: the compactions a transcript records, beside what a policy would have done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import choose, emit, read, settings, warn, wrong_usage
from ctxweb.commands._options import AS_JSON, FORMAT, SESSION, SETTINGS, WINDOW, files_argument, takes
from ctxweb.commands._replaying import START
from ctxweb.terminal import Head, Terminal, figure, patience, show_table, terminal, titled, words
from sessions.engine.base.words import counted
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why import recorded


@click.command("recorded", cls=EachFile)
@files_argument()
@click.option("--policy", help="Compaction policy; default: what the client that wrote FILE does.")
@takes(FORMAT, SESSION, WINDOW, SETTINGS, START)
@click.option("--calibrate", is_flag=True, help="Say which thresholds and known settings explain the recording.")
@AS_JSON
def command(file: Path, policy: str | None, calibrate: bool, as_json: bool, **options: Any) -> None:
    """Compare each compaction that FILE records with what a policy does there."""
    parsed = read(file, options["format_name"])
    with wrong_usage():
        weighed = weigh(choose(parsed, options["session"]))
        with patience("Comparing with the policy"):
            comparison = recorded.compare(
                weighed, policy, params=settings(options["pairs"]), window=options["window"], calibrate=calibrate,
                start=options["start"],
            )  # fmt: skip
    if as_json:
        emit(recorded.recorded_document(comparison))
        return
    _print(terminal(), comparison)
    if calibrate:
        terminal().print(_explained(comparison.consistent), highlight=False)
    warn(comparison.warnings)


def _print(console: Terminal, comparison: recorded.Comparison) -> None:
    since = f", {comparison.as_recorded}" if comparison.as_recorded else ""
    console.print(
        titled(comparison.policy, f"{since}, window {comparison.window:,} tokens, along the recorded context.")
    )
    if not comparison.compared:
        console.print("This session records no compaction.")
        return
    show_table(console, HEADS, [_row(one) for one in comparison.compared])
    for one in comparison.compared:
        for reason in one.reasons:
            console.print(f"compaction {one.index + 1}: {reason}", highlight=False)
    console.print(
        f"Matched: {_share(comparison.recall)} of the automatic compactions, {_share(comparison.precision)} of the "
        f"policy's. {counted(comparison.n_false_alarms, 'false alarm')}, {comparison.n_by_hand:,} manual (not counted)."
    )


HEADS = (
    figure("compaction"), figure("request"), Head("started"), figure("recorded before"), Head("trigger counted"),
    words("outcome"), figure("policy fires at"),
)  # fmt: skip


def _row(one: recorded.ComparedCompaction) -> tuple[str, ...]:
    gate = one.gate
    asked = f"{gate.measure:,} {gate.operator} {gate.threshold:,} {gate.unit}" if gate else "not asked"
    before = "not reported" if one.recorded_before is None else f"{one.recorded_before:,} tokens"
    fired = "nowhere" if one.fired_at is None else str(one.fired_at)
    return str(one.index + 1), f"{one.request:,}", one.trigger or "unknown", before, asked, one.outcome, fired


def _share(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.0f}%"


def _explained(consistent: recorded.ConsistentThresholds | None) -> str:
    if consistent is None:
        return "No automatic compaction to calibrate on."
    unit = consistent.unit
    if not consistent.possible:
        return f"No one threshold explains it: not compacted at {consistent.above:,} {unit}, compacted at " \
               f"{consistent.up_to:,} {unit}."  # fmt: skip
    words = f"A threshold over {consistent.above:,} and up to {consistent.up_to:,} {unit} explains every automatic one."
    named = [f"The recording is consistent with {setting}." for setting, _ in consistent.settings]
    return "\n".join([words, *(named or ["No known setting has such a threshold."])])
