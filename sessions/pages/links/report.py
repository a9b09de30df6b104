"""A replay as Markdown for an issue tracker: verdict, evidence, setting, compactions, losses, how to reproduce it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxweb.version import ctxweb_version
from sessions.engine.cost_report import span
from sessions.engine.words import counted
from sessions.pages.links.redaction import cleaned
from sessions.pages.ui.labelled import format_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.redact import Choice
    from sessions.engine.why.verdicts import Verdict

MOST_ROWS = 20
MOST_TEXT, MOST_LINE = 160, 1_000
"""Characters of a cell, and of a line of its own."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def report_markdown(
    document: dict[str, Any],
    verdicts: Sequence[Verdict],
    *,
    title: str,
    note: str,
    choice: Choice,
    label: str,
    command: str,
    skeleton: str = "",
) -> str:
    """The report of a ``ctxweb.handout/1`` document, its texts redacted.

    ``command`` makes the replay again; ``label`` says how its tokens are known; ``skeleton`` how its skeleton fares.
    """
    session, data = document["session"], cleaned({**document, "positions": ()}, choice)
    position = document["positions"][document["chosen"]]
    about = ", ".join(
        (
            format_label(session["format"]),
            session["model"] or "model not recorded",
            counted(session["messages"], "message"),
            counted(session["requests"], "request"),
        )
    )
    parts = [f"# {_text(cleaned(title, choice))}", about + "."]
    parts += [f"> {_text(line, MOST_LINE)}" for line in cleaned(note, choice).splitlines() if line.strip()]
    parts += ["## Verdict", _text(data["headline"], MOST_LINE), *_evidence(cleaned(tuple(verdicts), choice))]
    parts += [f"## Setting: {_text(document['policy']['label'])}", f"```sh\n{_fenced(cleaned(command, choice))}\n```"]
    parts += [_totals(document, position, label), *_compactions(position), *_losses(data)]
    parts += ["## Reproduce", skeleton] if skeleton else []
    parts += [f"Made with ctxweb {ctxweb_version()}. Tokens: {label}. Assumes the agent sends the same messages."]
    return "\n\n".join(parts) + "\n"


def _evidence(verdicts: Sequence[Verdict]) -> list[str]:
    """What happened where, why, and how sure; with the sentences that support the first."""
    if not verdicts:
        return []
    rows = [
        (verdict.point, _count(verdict.saw), _count(verdict.true), _count(verdict.threshold), verdict.because,
         verdict.certainty)
        for verdict in verdicts[:MOST_ROWS]
    ]  # fmt: skip
    heads = ("What happened", "Counted, tokens", "Actual, tokens", "Threshold, tokens", "Why", "How sure")
    found = [_table(heads, rows), *_left(len(verdicts), "cause")]
    proofs = [f"* {_text(proof.text, MOST_LINE)}" for proof in verdicts[0].evidence]
    return [*found, "\n".join(proofs)] if proofs else found


def _totals(document: dict[str, Any], position: dict[str, Any], label: str) -> str:
    cost = "no price" if position["cost"] is None else span(*position["cost"])
    rows = [
        ("Compacts at", "–" if position["threshold"] is None else f"{position['threshold']:,} {position['unit']}"),
        ("Context window, tokens", f"{document['session']['window']:,}"),
        ("Compactions", f"{position['compactions']:,}, recorded {document['session']['compactions']:,}"),
        (f"Peak context, tokens ({label})", f"{position['peak']:,}"),
        ("Cost, US dollars (estimated)", cost),
        ("Lost", _lost(position)),
    ]
    return _table(("Measure", "Value"), rows)


def _compactions(position: dict[str, Any]) -> list[str]:
    if not position["events"]:
        return ["No compaction."]
    rows = [
        (
            str(event["event"] + 1), f"{event['request']:,}", f"{event['measure']:,} {position['unit']}",
            f"{event['before']:,} → {event['after']:,}",
            f"{event['messages_before']:,} → {event['messages_after']:,}", _lost(event),
        )
        for event in position["events"][:MOST_ROWS]
    ]  # fmt: skip
    heads = ("Compaction", "Request", "Counted", "Context, tokens", "Messages", "Lost")
    return ["## Compactions", _table(heads, rows), *_left(position["compactions"], "compaction")]


def _losses(data: dict[str, Any]) -> list[str]:
    """Rules and things used later that the chosen compaction lost, in their own words."""
    found = data["losses"]
    if not found or not (found["rules"] or found["gone"]):
        return []
    rows = [("rule", rule["text"], f"#{rule['message']}", _broken(rule)) for rule in found["rules"][:MOST_ROWS]]
    rows += [
        (need["kind"], need["text"], f"#{need['message']}", f"used at #{need['used_at']}")
        for need in found["gone"][:MOST_ROWS]
    ]
    n = len(found["rules"]) + len(found["gone"])
    head = f"## What compaction {data['event']['event'] + 1} lost"
    return [head, _table(("What", "Text", "Message", "Later"), rows), *([f"{n:,} in all."] if n > len(rows) else [])]


def _broken(rule: dict[str, Any]) -> str:
    return "–" if rule["broken_at"] is None else f"broken at #{rule['broken_at']}"


def _lost(one: dict[str, Any]) -> str:
    if one["open"] and not one["rules"] + one["gone"]:
        return f"depends on the summary: {counted(one['open'], 'thing')}"
    return f"{counted(one['rules'], 'rule')}, {one['gone']:,} used later"


def _left(n: int, what: str) -> list[str]:
    return [f"The first {MOST_ROWS} of {counted(n, what)}."] if n > MOST_ROWS else []


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(words: str, most: int = MOST_TEXT) -> str:
    """Words of a transcript as one line that no Markdown reader takes for anything else."""
    line = " ".join(words.split())
    cut = line if len(line) <= most else line[:most].rstrip() + "…"
    return _SPECIAL.sub(r"\\\1", cut).replace("@", "&#64;")


def _fenced(words: str) -> str:
    return words.replace("```", "'''")


def _count(n: int | None) -> str:
    return "unknown" if n is None else f"{n:,}"
