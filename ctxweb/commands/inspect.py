"""``ctxweb inspect``: what fills a transcript's context."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, read, write_csv
from ctxweb.commands._options import AS_JSON, BRANCH, FORMAT, Amount, files_argument, takes
from ctxweb.terminal import Head, Terminal, figure, patience, print_evidence, show_table, terminal, titled, words
from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import cost_sentences, stated_sentences
from sessions.engine.reading.byte_breakdown import sentence
from sessions.engine.reading.encodings import clearing_words, event_words, refusal_words
from sessions.engine.reading.texts import Texts
from sessions.engine.reports.report import inspect_document
from sessions.engine.transcript.recorded_events import RecordedEvent
from sessions.engine.transcript.types import ProviderError, RecordedClearing
from sessions.engine.weigh.calibration.hidden import HISTORY_LABEL

DEFAULT_TOP = 12


@click.command("inspect", cls=EachFile)
@takes(files_argument(), FORMAT, BRANCH)
@click.option(
    "--train-fraction", type=Amount(0, 1, whole=False, share_of=1), default=1.0, show_default=True,
    help="Calibrate on the usage of the first share of the requests.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Every message, not only the heaviest.")
@click.option("--top", type=click.IntRange(min=1), default=DEFAULT_TOP, show_default=True, help="How many messages.")
@click.option("--sort", type=click.Choice(("tokens", "bytes")), help="The largest first; default: the session's order.")
@click.option("--csv", "as_csv", is_flag=True, help="The messages as CSV on standard output.")
@AS_JSON
def command(  # noqa: PLR0917
    file: Path, format_name: str | None, branch: str | None, train_fraction: float, top: int, sort: str | None,
    *, everything: bool, as_csv: bool, as_json: bool,
) -> None:  # fmt: skip
    """What every message of FILE weighs in bytes and in tokens."""
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    parsed = read(file, format_name, branch)
    texts = Texts(lambda: file.open("rb"), parsed.format)
    with patience("Weighing messages"):
        document = inspect_document(parsed, train_fraction=train_fraction, texts=texts)
    if as_json:
        emit(document)
        return
    limit = None if everything else top
    if as_csv:
        is_given = click.get_current_context().get_parameter_source("top") is not ParameterSource.DEFAULT
        write_csv(_csv_rows(document, sort or "", limit if is_given else None))
        return
    console = terminal()
    console.print(titled(file.name, f"  {document['format']}: {document['format_reason']}"))
    if parsed.gaps:
        gaps = " ".join(f"{gap.text}." for gap in parsed.gaps)
        report = f"To report it without its texts: ctxweb skeleton {shlex.quote(str(file))}"
        console.print(titled("Not fully understood. ", f"{gaps} Figures may be too low. {report}", style="yellow"))
    if breakdown := sentence(parsed.fates):
        console.print(breakdown)
    for session in document["sessions"]:
        _print_session(console, session, sort or "", limit)


HEADS = (
    figure("message"), Head("role"), words("kinds"), figure("tokens"), Head("known"), figure("transcript bytes"),
    Head("overcount"),
)  # fmt: skip


def _overcounts(message: dict[str, Any]) -> list[float]:
    return [image["overcount"] for image in message["images"] if image["overcount"]]


def _row(message: dict[str, Any]) -> tuple[str, ...]:
    overcounts = _overcounts(message)
    return (
        f"#{message['index']}", message["role"], " ".join(message["kinds"]), f"{message['tokens']:,}",
        message["label"], f"{message['wire_bytes']:,}", f"×{max(overcounts):,.0f}" if overcounts else "",
    )  # fmt: skip


def _history(session: dict[str, Any]) -> str:
    tokens, label = session["history_tokens"], session["overhead_label"]
    return f"{HISTORY_LABEL}: {tokens:,} tokens ({label}), " if tokens else ""


def _print_session(console: Terminal, session: dict[str, Any], sort: str, top: int | None) -> None:
    total = session["totals"]
    facts = (
        f"  {session['model'] or 'model not recorded'}\n"
        f"{counted(session['n_messages'], 'message')}, {counted(session['n_requests'], 'request')}, "
        f"{counted(session['n_images'], 'image')}, {counted(session['n_tool_calls'], 'tool call')}, "
        f"{counted(len(session['recorded_compactions']), 'recorded compaction')}\n"
        f"{total['tokens']:,} tokens ({total['label']}), {total['wire_bytes']:,} transcript bytes, "
        f"{total['pressure_bytes']:,} adjusted bytes; fixed overhead {session['overhead_tokens']:,} tokens "
        f"({session['overhead_label']}), {_history(session)}window {session['window']:,} ({session['window_source']})"
    )
    console.print(titled(f"\n{session['title'] or session['id']}", facts))
    if session["image_rule"]:
        console.print(f"Image rule: {session['image_rule']}")
    for line in (*stated_sentences(session["stated_usd"]), *cost_sentences(session["cost"])):
        console.print(line)
    print_verdicts(console, session)
    print_events(console, session)
    show_table(console, HEADS, [_row(message) for message in heaviest(session["messages"], sort, top)])
    for branch in session.get("branches", ()):
        mark = "selected" if branch["selected"] else f"--branch {branch['leaf']}"
        console.print(f"Branch {branch['preview']!r}: {counted(branch['n_messages'], 'message')}, {mark}")
    for warning in session["warnings"]:
        console.print(titled("Warning: ", warning, style="yellow"))


def print_verdicts(console: Terminal, session: dict[str, Any]) -> None:
    """The headline, then every verdict with its evidence."""
    console.print(titled(session["headline"]))
    for verdict in session["verdicts"]:
        also = f"; or {', '.join(verdict['also'])}" if verdict["also"] else ""
        console.print(f"  request {verdict['request']}: {verdict['cause']} ({verdict['certainty']}{also})")
        print_evidence(console, verdict["evidence"])


def print_events(console: Terminal, session: dict[str, Any]) -> None:
    """What each recorded compaction's record leaves out, then refusals and clearings with their place."""
    for number, compaction in enumerate(session["recorded_compactions"], 1):
        if compaction["not_recorded"]:
            console.print(f"  compaction {number} does not record: {', '.join(compaction['not_recorded'])}")
    for refusal in session["refusals"]:
        description = refusal_words(ProviderError(**refusal | {"status": refusal["status"] or 0}))
        console.print(f"  request {refusal['request']}: {description}")
    for event in session["recorded_events"]:
        description = event_words(RecordedEvent(**event | {"status": event["status"] or 0}))
        console.print(f"  request {event['request']}: {description}")
    for clearing in session["recorded_clearings"]:
        console.print(f"  request {clearing['request']}: {clearing_words(RecordedClearing(**clearing))}")


def heaviest(messages: Iterable[dict[str, Any]], sort: str, top: int | None) -> list[dict[str, Any]]:
    """The ``top`` messages with most of ``sort``, or all: in their order or, where sorted, the largest first."""
    key = "tokens" if sort == "tokens" else "wire_bytes"
    heavy = sorted(messages, key=lambda m: (-m[key], m["index"]))[:top]
    return heavy if sort else sorted(heavy, key=lambda m: m["index"])


def _csv_rows(document: dict[str, Any], sort: str, top: int | None) -> list[tuple[object, ...]]:
    """A row per message of every session, under a heading."""
    rows: list[tuple[object, ...]] = [
        ("session", "message", "role", "kinds", "tokens", "known", "transcript_bytes", "overcount")
    ]
    for session in document["sessions"]:
        rows += [
            (session["id"], message["index"], message["role"], " ".join(message["kinds"]), message["tokens"],
             message["label"], message["wire_bytes"], max(_overcounts(message), default=""))
            for message in heaviest(session["messages"], sort, top)
        ]  # fmt: skip
    return rows
