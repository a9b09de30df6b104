"""A replay as one HTML file that opens anywhere and asks for nothing else, and as Markdown for an issue tracker."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from ctxweb.version import ctxweb_version
from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import span
from sessions.engine.quality.calls import strings_of
from sessions.engine.redact import Choice, Kind, redact
from sessions.engine.redact.escaping import Markdown
from sessions.engine.why.verdicts import Verdict
from sessions.pages.links.redaction import cleaned
from sessions.pages.ui.labelled import format_label

TABLES = ("positions", "recorded")
"""Parts of the document that hold figures alone."""
GROUPS = (("Dropped", ("dropped",)), ("Written or changed", ("inserted", "edited", "moved")), ("Kept", ("kept",)))

MOST_OPEN = 25


@dataclass(frozen=True, slots=True)
class Handout:
    """A ``ctxweb.handout/1`` document with its title, a note, and what is taken out of all texts.

    ``label`` says how its tokens are known, ``verdicts`` why the session compacted, ``command`` makes the replay again.
    """

    document: dict[str, Any]
    title: str
    note: str
    choice: Choice
    label: str
    verdicts: Sequence[Verdict]
    command: str


class Group:
    """The lines of one fate; ``n_tokens`` is what they weigh: before where they stood, else after.

    ``open``: short enough to stand open.
    """

    def __init__(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        self.name, self.rows, self.open = name, rows, len(rows) <= MOST_OPEN
        self.n_tokens = sum(row["before"] or row["after"] for row in rows)


def handout_html(made: Handout) -> str:
    """The page of a handout, its texts redacted."""
    choice = made.choice
    data = {key: part if key in TABLES else cleaned(part, choice) for key, part in made.document.items()}
    shown = {key: data[key] for key in ("session", "n_each", "recorded", "chosen", "positions")}
    event = data["event"]
    context = {
        "title": redact(made.title, choice).text,
        "note": redact(made.note, choice).text,
        "data": data,
        "format": format_label(data["session"]["format"]),
        "made": dt.datetime.now(tz=dt.UTC).strftime("%Y-%m-%d"),
        "version": ctxweb_version(),
        "event_number": None if event is None else event["event"] + 1,
        "groups": () if event is None else groups(event["rows"]),
        "n_left": 0 if event is None else event["n_rows"] - len(event["rows"]),
        "removed": _removed(made.document, choice),
        "label": made.label,
        "shown": shown,
    }
    return render_to_string("sessions/links/file.html", context)


def groups(rows: Sequence[dict[str, Any]]) -> tuple[Group, ...]:
    """The lines of a before and after list by what became of them."""
    for row in rows:
        row["shown_before"] = f"{row['before']:,}" if row["op"] != "inserted" else "–"
        row["shown_after"] = f"{row['after']:,}" if row["op"] != "dropped" else "–"
    found = (Group(name, [row for row in rows if row["op"] in ops]) for name, ops in GROUPS)
    return tuple(group for group in found if group.rows)


def _removed(document: dict[str, Any], choice: Choice) -> str:
    """What was taken out of the texts of the document, in words."""
    counts: Counter[Kind] = Counter()
    for key, part in document.items():
        if key not in TABLES:
            for text in strings_of(part):
                counts.update(redact(text, choice).counts)
    return ", ".join(f"{n:,} {kind.noun(n)}" for kind, n in counts.items()) or "no secret was found"


MOST_ROWS = 20


def report_markdown(made: Handout, skeleton: str = "") -> str:
    """The report of a handout, its texts redacted; ``skeleton`` says how its skeleton fares."""
    document, label = made.document, made.label
    session, position = document["session"], document["positions"][document["chosen"]]
    out = Markdown(made.choice)
    out.heading(1, made.title)
    about = (
        format_label(session["format"]),
        session["model"] or "model not recorded",
        counted(session["messages"], "message"),
        counted(session["requests"], "request"),
    )
    out.paragraph(", ".join(about) + ".")
    out.quote(made.note)
    out.heading(2, "Verdict")
    out.paragraph(document["headline"])
    _evidence(out, made.verdicts)
    out.heading(2, f"Setting: {document['policy']['label']}")
    out.code(made.command)
    _totals(out, document, position, label)
    _compactions(out, position)
    _losses(out, document)
    if skeleton:
        out.heading(2, "Reproduce")
        out.paragraph(skeleton)
    out.paragraph(f"Made with ctxweb {ctxweb_version()}. Tokens: {label}. Assumes the agent sends the same messages.")
    return str(out)


def _evidence(out: Markdown, verdicts: Sequence[Verdict]) -> None:
    """What happened where, why, and how sure; with the sentences that support the first."""
    if not verdicts:
        return
    rows = [
        (verdict.point, _count(verdict.saw), _count(verdict.true), _count(verdict.threshold), verdict.because,
         verdict.certainty)
        for verdict in verdicts[:MOST_ROWS]
    ]  # fmt: skip
    heads = ("What happened", "Counted, tokens", "Actual, tokens", "Threshold, tokens", "Why", "How sure")
    out.table(heads, rows)
    _left(out, len(verdicts), "cause")
    out.bullets(proof.text for proof in verdicts[0].evidence)


def _totals(out: Markdown, document: dict[str, Any], position: dict[str, Any], label: str) -> None:
    cost = "no price" if position["cost"] is None else span(*position["cost"])
    rows = [
        ("Compacts at", "–" if position["threshold"] is None else f"{position['threshold']:,} {position['unit']}"),
        ("Context window, tokens", f"{document['session']['window']:,}"),
        ("Compactions", f"{position['compactions']:,}, recorded {document['session']['compactions']:,}"),
        (f"Peak context, tokens ({label})", f"{position['peak']:,}"),
        ("Cost, US dollars (estimated)", cost),
        ("Lost", _lost(position)),
    ]
    out.table(("Measure", "Value"), rows)


def _compactions(out: Markdown, position: dict[str, Any]) -> None:
    if not position["events"]:
        out.paragraph("No compaction.")
        return
    rows = [
        (
            str(event["event"] + 1), f"{event['request']:,}", f"{event['measure']:,} {position['unit']}",
            f"{event['before']:,} → {event['after']:,}",
            f"{event['messages_before']:,} → {event['messages_after']:,}", _lost(event),
        )
        for event in position["events"][:MOST_ROWS]
    ]  # fmt: skip
    out.heading(2, "Compactions")
    out.table(("Compaction", "Request", "Counted", "Context, tokens", "Messages", "Lost"), rows)
    _left(out, position["compactions"], "compaction")


def _losses(out: Markdown, document: dict[str, Any]) -> None:
    """Rules and things used later that the chosen compaction lost, in their own words."""
    found = document["losses"]
    if not found or not (found["rules"] or found["gone"]):
        return
    rows = [
        ("rule", rule["text"], f"#{rule['message']}",
         "–" if rule["broken_at"] is None else f"broken at #{rule['broken_at']}")
        for rule in found["rules"][:MOST_ROWS]
    ]  # fmt: skip
    rows += [
        (need["kind"], need["text"], f"#{need['message']}", f"used at #{need['used_at']}")
        for need in found["gone"][:MOST_ROWS]
    ]
    n = len(found["rules"]) + len(found["gone"])
    out.heading(2, f"What compaction {document['event']['event'] + 1} lost")
    out.table(("What", "Text", "Message", "Later"), rows)
    if n > len(rows):
        out.paragraph(f"{n:,} in all.")


def _lost(one: dict[str, Any]) -> str:
    if one["open"] and not one["rules"] + one["gone"]:
        return f"depends on the summary: {counted(one['open'], 'thing')}"
    return f"{counted(one['rules'], 'rule')}, {one['gone']:,} used later"


def _left(out: Markdown, n: int, what: str) -> None:
    if n > MOST_ROWS:
        out.paragraph(f"The first {MOST_ROWS} of {counted(n, what)}.")


def _count(n: int | None) -> str:
    return "unknown" if n is None else f"{n:,}"
