"""``ctxweb aftermath``: what came after every compaction that a transcript records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, given_prices, read
from ctxweb.commands._files import latest_file
from ctxweb.commands._options import AS_JSON, BRANCH, FORMAT, LATEST, files_argument, takes
from ctxweb.terminal import Head, Terminal, patience, table_of, terminal, titled
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.aftermath import WHEN, aftermath_document

if TYPE_CHECKING:
    from sessions.engine.quality.index import Index
    from sessions.engine.reading.texts import Texts

MOST = 4
"""Sources, files and commands that a row names."""
AGAIN_HEADS = [
    Head(text, text in ("message", "tokens", "before"), flows=True)
    for text in ("  again", "message", "tokens", "before", "what")
]


@click.command("aftermath", cls=EachFile)
@takes(files_argument(required=False), FORMAT, BRANCH, LATEST, AS_JSON)
def command(file: Path | None, format_name: str | None, branch: str | None, as_json: bool) -> None:
    """What came after every compaction that FILE records: when at 80% of the threshold again, by what, and re-reads."""
    path = file or latest_file()
    parsed = read(path, format_name, branch)
    with patience("Following what came after"):
        sessions = [_session(weigh(transcript), path, parsed.format) for transcript in parsed.transcripts]
    if as_json:
        emit({"schema": "ctxweb.aftermath/1", "format": parsed.format, "sessions": sessions})
        return
    console = terminal()
    shown = [session for session in sessions if session["compactions"]]
    for session in shown:
        console.print(titled(f"\n{session['title'] or session['id']}"))
        for one in session["compactions"]:
            _print(console, one)
        _print_totals(console, session["totals"])
    if not shown:
        console.print("No compaction is recorded.")


def _session(weighed: Weighed, path: Path, format_name: str) -> dict[str, Any]:
    """One entry of ``sessions[]``; of a compaction whose originals are in the file, what may be read again too."""
    document = aftermath_document(weighed)
    if not document["compactions"]:
        return document
    from sessions.engine.quality.assess import assess_recorded
    from sessions.engine.quality.document import likely_document
    from sessions.engine.quality.index import build_index
    from sessions.engine.reading.texts import Texts

    prices = given_prices(weighed, ())
    with Texts(lambda: path.open("rb"), format_name) as texts:
        index = build_index(weighed.transcript, texts.of)
        add_rules(document, weighed, texts, index)
    found = {one.number: likely_document(one.likely, prices) for one in assess_recorded(weighed, index)}
    for one in document["compactions"]:
        one["likely_again"] = found.get(one["compaction"])
    return document


def _print(console: Terminal, one: dict[str, Any]) -> None:
    after = f"{one['after']:,} tokens ({one['label']})" if one["after"] is not None else "unknown"
    thrash = ", thrashing" if one["thrashing"] else ""
    console.print(f"Compaction {one['compaction'] + 1}, request {one['request']:,}{thrash}: context after it {after}")
    if one["full_at"] is not None:
        n = one["n_requests"]
        minutes = f", {one['minutes']:,.0f} minutes" if one["minutes"] is not None else ""
        requests = f"{n} {'request' if n == 1 else 'requests'}"
        console.print(f"  80% of {one['threshold']:,} again after {requests}{minutes}, at request {one['full_at']:,}")
    sources = ", ".join(f"{row['source']} {row['tokens']:,}" for row in one["refilled"][:MOST])
    console.print(f"  {WHEN[one['until']]}: {sources} tokens")
    if one["actions"] is not None:
        console.print(f"  Tool calls before the first edit: {one['actions']}")
    likely = one.get("likely_again")
    if likely and likely["words"]:
        said = f"{likely['words']}; shares from {likely['source']}"
        console.print(f"  Expected: {said}", highlight=False, soft_wrap=True)
    for line in rule_lines(one["rules"]):
        console.print(f"  {line}", soft_wrap=True)
    if one["again"]:
        console.print(table_of(AGAIN_HEADS, [
            (f"  {again['what']}", *(f"{again[key]:,}" for key in ("message", "tokens", "first")), again["target"])
            for again in sorted(one["again"], key=lambda row: -row["tokens"])[:MOST]
        ]))  # fmt: skip


def _print_totals(console: Terminal, totals: dict[str, Any]) -> None:
    dollars = "" if totals["dollars_again"] is None else f", ${totals['dollars_again']:,.2f}"
    console.print(
        f"Re-read: {totals['files_again']} files, {totals['commands_again']} commands, "
        f"{totals['tokens_again']:,} tokens{dollars}. Thrashing: {totals['thrashing']} of {totals['compactions']}."
    )


CHARS = 160
"""Characters shown of a rule, or of a text that addresses the summariser; the document has all."""


def add_rules(document: dict[str, Any], weighed: Weighed, texts: Texts, index: Index) -> None:
    """Put ``rules`` into each compaction of ``ctxweb.aftermath/1``: null where its originals are not in the file."""
    from sessions.engine.quality.broken import rules_after, rules_document

    found = {one.compaction: rules_document(one) for one in rules_after(weighed, texts.of, index)}
    for one in document["compactions"]:
        one["rules"] = found.get(one["compaction"])


def rule_lines(rules: dict[str, Any] | None) -> Iterator[str]:
    """What is said of the rules at one compaction."""
    if rules is None:
        return
    if rules["n_rules"]:
        yield f"Rules lost: {rules['n_lost']:,} of {rules['n_rules']:,}."
    for one in rules["broken"]:
        again = " The agent may send this memory file again." if one["may_stand"] else ""
        yield (
            f"Broken after: message {one['said_at']:,} says \N{LEFT DOUBLE QUOTATION MARK}{_cut(one['text'])}"
            f"\N{RIGHT DOUBLE QUOTATION MARK}; message {one['broken_at']:,} does {_cut(one['broken_by'])}.{again}"
        )
    for one in rules["steering"]:
        yield (
            f"Can steer it: message {one['message']:,}, a tool result, says \N{LEFT DOUBLE QUOTATION MARK}"
            f"{_cut(one['text'])}\N{RIGHT DOUBLE QUOTATION MARK}."
        )


def _cut(text: str) -> str:
    return text if len(text) <= CHARS else f"{text[: CHARS - 1]}\N{HORIZONTAL ELLIPSIS}"
