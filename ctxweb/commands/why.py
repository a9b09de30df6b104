"""``ctxweb why``: why a session was compacted; asked for, the account of it and the triggers of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, read
from ctxweb.commands._files import latest_file
from ctxweb.commands._options import AS_JSON, BRANCH, FORMAT, LATEST, TOKENS, files_argument, takes
from ctxweb.terminal import Head, Terminal, patience, print_evidence, table_of, terminal, titled
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.document import gates_of, story_of, why_document
from sessions.engine.why.headline import order
from sessions.engine.why.overcount import over_count
from sessions.engine.why.steps import STEPS
from sessions.engine.why.verdicts import verdicts_of

RIGHT_ALIGNED = frozenset({"threshold", "fires", "false", "for media", "late", "false by", "counted", "actual"})
EVENT_HEADS, TRIGGER_HEADS = (
    [Head(heading, heading in RIGHT_ALIGNED, flows=True) for heading in headings]
    for headings in (
        ("event", "request", "cause", "certainty", "counted", "actual"),
        ("trigger", "threshold", "first", "fires", "false", "false by", "for media", "late", "missed", "without usage"),
    )
)
WORDS = {"compaction": "compacted", "error": "refused", "missing": "not compacted"}
SHOWN = "The figures behind it"
NAMED = 4
"""Requests that a row names."""


@click.command("why", cls=EachFile)
@takes(files_argument(required=False), FORMAT, BRANCH, LATEST)
@click.option("--window", type=TOKENS, help="Context window in tokens for the triggers.")
@click.option("--evidence", is_flag=True, help="The account of every event, in four steps.")
@click.option("--triggers", is_flag=True, help="What the triggers of known agents would do.")
@AS_JSON
def command(  # noqa: PLR0917
    file: Path | None, format_name: str | None, branch: str | None, window: int | None, evidence: bool, triggers: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Why FILE was compacted, refused or not compacted; without FILE, your latest session."""
    file = file or latest_file()
    parsed = read(file, format_name, branch)
    if as_json:
        with patience("Finding causes"):
            document = why_document(parsed, window=window)
        emit(document)
        return
    console = terminal()
    told = []
    for transcript in parsed.transcripts:
        with patience("Finding causes"):
            weighed = weigh(transcript)
            verdicts = verdicts_of(weighed)
            gates = gates_of(over_count(weighed, window=window)) if triggers else {}
            told.append((order(verdicts, len(transcript.requests)), story_of(weighed, verdicts), gates))
    for _, session, gates in sorted(told, key=lambda one: one[0]):
        aside = f"  window {gates['window']:,} tokens" if gates else ""
        console.print(titled(f"\n{session['title'] or session['id']}", aside))
        console.print(titled(session["headline"]))
        if evidence:
            _print_events(console, session)
        if gates:
            _print_triggers(console, gates)
    if not evidence and not triggers:
        console.print("More: --evidence for the account of it, --triggers for what other agents would do.")


def _withheld(gate: dict[str, Any] | None) -> str:
    """What the trigger does when no usage is known."""
    if gate is None or not gate["n_firings"]:
        return ""
    false = f", {gate['n_false']} false" if gate["n_false"] else ""
    return f"{gate['n_firings']}{false}"


def _print_events(console: Terminal, session: dict[str, Any]) -> None:
    """One row for equal events, the one of the headline first, then the account of each row's first."""
    if not session["events"]:
        return
    rows = []
    for event in session["events"]:
        first = session["verdicts"][event["verdicts"][0]]
        requests = ", ".join(f"{request:,}" for request in event["requests"][:NAMED])
        more = f" + {event['n'] - NAMED}" if event["n"] > NAMED else ""
        count = f"{event['tries']} × " if event["tries"] > 1 else ""
        figures = (f"{first[key]:,}" if first[key] is not None else "unknown" for key in ("saw", "true"))
        trigger = f", {event['trigger']}" if event["trigger"] else ""
        what = f"{count}{WORDS[event['what']]}{trigger}"
        rows.append((what, requests + more, event["cause_label"], event["certainty"], *figures))
    console.print(table_of(EVENT_HEADS, rows))
    for event in session["events"]:
        first = session["verdicts"][event["verdicts"][0]]
        console.print(f"\n  request {first['request']:,}: {event['cause_label']}")
        for step, name in STEPS.items():
            console.print(f"  {name}")
            print_evidence(console, [row for row in first["account"] if row["step"] == step])
        console.print(f"  {SHOWN}")
        print_evidence(console, first["evidence"])


def _print_triggers(console: Terminal, session: dict[str, Any]) -> None:
    """One row per trigger that fires or should, then the messages behind its false alarms."""
    rows = []
    shown = [gate for gate in session["gates"] if gate["firings"] or gate["missed"]]
    for gate in shown:
        first = gate["firings"][0] if gate["firings"] else None
        by = f"{gate['threshold'] - first['reference']:,}" if first and first["verdict"] == "false" else ""
        rows.append((
            gate["label"], f"{gate['operator']} {gate['threshold']:,}",
            f"request {first['request']:,}" if first else "", str(gate["n_firings"]), str(gate["n_false"] or ""), by,
            str(gate["n_for_media"] or ""), str(gate["n_late"] or ""),
            f"request {gate['missed']['request']:,}" if gate["missed"] else "", _withheld(gate["withheld"]),
        ))  # fmt: skip
    if shown:
        console.print(table_of(TRIGGER_HEADS, rows))
    n_gates, n_quiet = len(session["gates"]), len(session["gates"]) - len(shown)
    console.print(f"{n_quiet} of {n_gates} triggers never fire.")
    for gate in shown:
        for culprit in gate["firings"][0]["culprits"] if gate["firings"] else ():
            factor = f"×{culprit['factor']:,}" if culprit["factor"] else ""
            said = f"{gate['label']}: message {culprit['message']}, {culprit['size']:,} {gate['unit']} for "
            console.print(f"{said}{culprit['tokens']:,} tokens {factor}. {culprit['sentence']}")
