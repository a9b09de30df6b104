"""``ctxweb inspect``: what fills a transcript's context."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, files_argument, read
from ctxweb.terminal import terminal, titled
from sessions.engine.calibration.history import NAME
from sessions.engine.cost_report import cost_sentences
from sessions.engine.encodings import clearing_words, refusal_words
from sessions.engine.fates import sentence
from sessions.engine.report import inspect_document
from sessions.engine.texts import Texts
from sessions.engine.types import ProviderError, RecordedClearing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ctxweb.terminal import Terminal

HEAVIEST = 12


@click.command("inspect", cls=EachFile)
@files_argument()
@click.option("--format", "format_name", help="Transcript format, instead of sniffing.")
@click.option("--branch", metavar="LEAF", help="A branch that a rewind left; default: the latest.")
@click.option(
    "--train-fraction", type=click.FloatRange(0, 1), default=1.0, show_default=True,
    help="Calibrate on the usage of the first share of the requests.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(file: Path, format_name: str | None, branch: str | None, train_fraction: float, as_json: bool) -> None:
    """What every message of FILE weighs in bytes and in tokens."""
    parsed = read(file, format_name, branch)
    texts = Texts(lambda: file.open("rb"), parsed.format)
    document = inspect_document(parsed, train_fraction=train_fraction, texts=texts)
    if as_json:
        emit(document)
        return
    console = terminal()
    console.print(titled(file.name, f"  {document['format']}: {document['format_reason']}"))
    if parsed.gaps:
        found = " ".join(f"{gap.text}." for gap in parsed.gaps)
        report = (
            f"{found} Figures may be too low. To report it without its texts: ctxweb skeleton {shlex.quote(str(file))}"
        )
        console.print(titled("Not fully understood. ", report, style="yellow"))
    if said := sentence(parsed.fates):
        console.print(said)
    for session in document["sessions"]:
        _print_session(console, session)


def _history(session: dict[str, Any]) -> str:
    tokens, label = session["history_tokens"], session["overhead_label"]
    return f"{NAME}: {tokens:,} tokens ({label}), " if tokens else ""


def _print_session(console: Terminal, session: dict[str, Any]) -> None:
    """Facts of one session, then its heaviest messages."""
    total = session["totals"]
    facts = (
        f"  {session['model'] or 'model not recorded'}\n"
        f"{session['n_messages']:,} messages, {session['n_requests']:,} requests, {session['n_images']:,} images, "
        f"{session['n_tool_calls']:,} tool calls, {len(session['recorded_compactions'])} recorded compactions\n"
        f"{total['tokens']:,} tokens ({total['label']}), {total['wire_bytes']:,} transcript bytes, "
        f"{total['pressure_bytes']:,} pressure bytes; overhead {session['overhead_tokens']:,} tokens "
        f"({session['overhead_label']}), {_history(session)}window {session['window']:,} ({session['window_source']})"
    )
    console.print(titled(f"\n{session['title'] or session['id']}", facts))
    if session["image_rule"]:
        console.print(f"Image rule: {session['image_rule']}")
    for line in cost_sentences(session["cost"]):
        console.print(line)
    print_verdicts(console, session)
    print_events(console, session)
    table = Table(box=None, pad_edge=False)
    for heading in ("message", "role", "kinds", "tokens", "known", "transcript bytes", "over-count"):
        table.add_column(heading, justify="right" if heading in {"message", "tokens", "transcript bytes"} else "left")
    for message in _heaviest(session["messages"]):
        factors = [image["overcount"] for image in message["images"] if image["overcount"]]
        table.add_row(
            str(message["index"]), message["role"], " ".join(message["kinds"]), f"{message['tokens']:,}",
            message["label"], f"{message['wire_bytes']:,}", f"×{max(factors):,.0f}" if factors else "",
        )  # fmt: skip
    console.print(table)
    for branch in session.get("branches", ()):
        mark = "selected" if branch["selected"] else f"--branch {branch['leaf']}"
        console.print(f"Branch {branch['preview']!r}: {branch['n_messages']:,} messages, {mark}")
    for warning in session["warnings"]:
        console.print(titled("Warning: ", warning, style="yellow"))


def print_verdicts(console: Terminal, session: dict[str, Any]) -> None:
    """The headline, then every verdict with its evidence."""
    console.print(titled(session["headline"]))
    for verdict in session["verdicts"]:
        also = f"; or {', '.join(verdict['also'])}" if verdict["also"] else ""
        known = f"{verdict['certainty']}, {verdict['confidence']:.2f}"
        console.print(f"  request {verdict['request']}: {verdict['cause']} ({known}{also})")
        for row in verdict["evidence"]:
            label = f" ({row['label']})" if row["label"] else ""
            console.print(f"    - {row['text']}{label}")


def print_events(console: Terminal, session: dict[str, Any]) -> None:
    """What each recorded compaction's record leaves out, then refusals and clearings with their place."""
    for number, compaction in enumerate(session["recorded_compactions"], 1):
        if compaction["not_recorded"]:
            console.print(f"  compaction {number} does not record: {', '.join(compaction['not_recorded'])}")
    for refusal in session["refusals"]:
        words = refusal_words(ProviderError(**refusal | {"status": refusal["status"] or 0}))
        console.print(f"  request {refusal['request']}: {words}")
    for clearing in session["recorded_clearings"]:
        console.print(f"  request {clearing['request']}: {clearing_words(RecordedClearing(**clearing))}")


def _heaviest(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with most transcript bytes, in their order."""
    heavy = sorted(messages, key=lambda m: (-m["wire_bytes"], m["index"]))[:HEAVIEST]
    return sorted(heavy, key=lambda m: m["index"])
