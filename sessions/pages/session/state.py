"""The session page's address: filter, page, selected message, byte measure and the inspector's tab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from sessions.pages.ui.addresses import whole

FILTERS = ("", "overcount", "large")
MEASURES = ("wire_bytes", "pressure_bytes")
FOLLOWS = ("", "on", "off")
TABS = ("parsed", "sizes", "raw")


@dataclass(frozen=True, slots=True)
class SessionState:
    """``m`` is the selected message's index, ``start`` the first row shown, counted within the filter.

    ``until`` is one past the last row wanted, where the rows from there on are shown already; ``between`` are the
    first and the last message of a part that was dragged over on the chart.  ``follow`` is "on" or
    "off" where the reader chose; else a session is followed whose watched file has just changed.
    """

    only: str = ""
    measure: str = "wire_bytes"
    m: int | None = None
    start: int | None = None
    until: int | None = None
    tab: str = "parsed"
    follow: str = ""
    between: tuple[int, int] | None = None


def parse(query: Mapping[str, str]) -> SessionState:
    """The state that a query string asks for; what makes no sense is left out, never an error."""
    only, measure, tab = query.get("only", ""), query.get("measure", ""), query.get("tab", "")
    follow = query.get("follow", "")
    return SessionState(
        only=only if only in FILTERS else "",
        measure=measure if measure in MEASURES else "wire_bytes",
        m=whole(query.get("m")),
        start=whole(query.get("start")),
        until=whole(query.get("until")),
        tab=tab if tab in TABS else "parsed",
        follow=follow if follow in FOLLOWS else "",
        between=near(query),
    )


def near(query: Mapping[str, str]) -> tuple[int, int] | None:
    """The first and the last place that a reader has zoomed to; None where the query does not say, or not so."""
    first, last = whole(query.get("from")), whole(query.get("to"))
    return None if first is None or last is None or first > last else (first, last)


def query(state: SessionState, **changes: str | int | tuple[int, int] | None) -> str:
    """The shortest query string of the state with ``changes``, with its "?"; empty for the default."""
    wanted = replace(state, **changes)  # type: ignore[arg-type]  # names are checked by replace
    plain = (f for f in fields(wanted) if f.name != "between")
    pairs = [(f.name, v) for f in plain if (v := getattr(wanted, f.name)) != f.default]
    pairs += zip(("from", "to"), wanted.between or (), strict=False)
    return f"?{urlencode(pairs)}" if pairs else ""
