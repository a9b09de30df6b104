"""A replay as one HTML file that opens anywhere: nothing in it asks for anything else."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from ctxweb.version import ctxweb_version
from sessions.engine.redact import Choice, redact
from sessions.pages.links.redaction import cleaned
from sessions.pages.ui.labelled import format_label

TABLES = ("positions", "recorded")
"""Parts of the document that hold figures alone."""
GROUPS = (("Dropped", ("dropped",)), ("Written or changed", ("inserted", "edited", "moved")), ("Kept", ("kept",)))

MOST_OPEN = 25


@dataclass(frozen=True, slots=True)
class Group:
    """The lines of one fate, with the tokens they weigh."""

    name: str
    rows: tuple[dict[str, Any], ...]

    @property
    def open(self) -> bool:
        """Whether it is short enough to stand open."""
        return len(self.rows) <= MOST_OPEN

    @property
    def n_tokens(self) -> int:
        """What they weigh: before where they stood, else after."""
        return sum(row["before"] or row["after"] for row in self.rows)


def handout_html(document: dict[str, Any], *, title: str, note: str, choice: Choice, label: str) -> str:
    """The page of a ``ctxweb.handout/1`` document, its texts redacted; ``label`` says how its tokens are known."""
    data = {key: part if key in TABLES else cleaned(part, choice) for key, part in document.items()}
    shown = {key: data[key] for key in ("session", "n_each", "recorded", "chosen", "positions")}
    event = data["event"]
    context = {
        "title": redact(title, choice).text,
        "note": redact(note, choice).text,
        "data": data,
        "format": format_label(data["session"]["format"]),
        "made": dt.datetime.now(tz=dt.UTC).strftime("%Y-%m-%d"),
        "version": ctxweb_version(),
        "event_number": None if event is None else event["event"] + 1,
        "groups": () if event is None else groups(event["rows"]),
        "n_left": 0 if event is None else event["n_rows"] - len(event["rows"]),
        "removed": _removed(document, choice),
        "label": label,
        "shown": shown,
    }
    return render_to_string("sessions/links/file.html", context)


def groups(rows: Sequence[dict[str, Any]]) -> tuple[Group, ...]:
    """The lines of a before and after list by what became of them."""
    for row in rows:
        row["shown_before"] = f"{row['before']:,}" if row["op"] != "inserted" else "–"
        row["shown_after"] = f"{row['after']:,}" if row["op"] != "dropped" else "–"
    found = (Group(name, tuple(row for row in rows if row["op"] in ops)) for name, ops in GROUPS)
    return tuple(group for group in found if group.rows)


def _removed(document: dict[str, Any], choice: Choice) -> str:
    """What was taken out of the texts of the document, in words."""
    counts: Counter[str] = Counter()
    for key, part in document.items():
        if key not in TABLES:
            for text in _texts(part):
                counts.update(redact(text, choice).counts)
    return ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "no secret was found"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
