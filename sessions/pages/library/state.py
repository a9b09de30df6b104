"""The library's address: what is searched, filtered and sorted, and from which row on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from sessions.pages.ui.addresses import whole

MAX_START = 1_000_000
"""Rows; a larger start is a typing mistake, and some databases refuse a huge offset."""
MAX_WORDS = 200
"""Characters of a search; the rest is cut."""
MAX_FILE = 1_200
"""Characters of an upload's id and a path in it."""

NATURAL_ASCENDING = frozenset({"title", "format", "model"})
"""Orders that run up by themselves; all others start with the largest or newest."""
DEFAULT_SORT = "last"


@dataclass(frozen=True, slots=True)
class LibraryState:
    """``q`` searches, ``only`` names a filter, ``sort`` a column (``-`` in front reverses its natural direction).

    ``file`` leaves the sessions of one file (``selectors.files.key``).  ``by`` is "none" where they are not grouped by
    project, "project" where ``start`` counts projects.
    """

    q: str = ""
    only: str = ""
    format: str = ""
    model: str = ""
    agent: str = ""
    client: str = ""
    project: str = ""
    week: str = ""
    file: str = ""
    sort: str = ""
    by: str = ""
    start: int = 0

    @property
    def by_project(self) -> bool:
        """Whether rows stand under their projects: the newest first, of all or of what a filter leaves."""
        if self.q or self.sort or self.file or self.project:
            return False
        return self.by == "project" or not (self.by or self.start)

    @property
    def filtered(self) -> bool:
        """Whether fewer than all sessions may be shown."""
        return bool(self.n_filters)

    @property
    def n_filters(self) -> int:
        """How many of search, filter, format, model, file and what sessions have in common are set."""
        return sum(map(bool, (self.q, self.only, self.format, self.model, self.file, *self.alike.values())))

    @property
    def alike(self) -> dict[str, str]:
        """What the sessions shown have in common, without the model."""
        return {name: getattr(self, name) for name in ("agent", "client", "project", "week")}

    @property
    def column(self) -> str:
        """The column sorted by; "" where what was searched for comes by relevance."""
        return self.sort.removeprefix("-") or ("" if self.q else DEFAULT_SORT)

    @property
    def ascending(self) -> bool:
        """Whether the smallest, oldest or first letter comes first."""
        return (self.column in NATURAL_ASCENDING) != self.sort.startswith("-")


def parse(query: Mapping[str, str]) -> LibraryState:
    """The state that a query string asks for; what makes no sense is left out, never an error."""
    return LibraryState(
        q=query.get("q", "").replace("\x00", "").strip()[:MAX_WORDS],
        only=query.get("only", "")[:20],
        format=query.get("format", "").replace("\x00", "")[:40],
        model=query.get("model", "").replace("\x00", "")[:100],
        **{name: query.get(name, "").replace("\x00", "")[:255] for name in ("agent", "client", "project", "week")},
        file=query.get("file", "").replace("\x00", "")[:MAX_FILE],
        sort=query.get("sort", "")[:20],
        by=by if (by := query.get("by", "")) in ("none", "project") else "",
        start=min(whole(query.get("start")) or 0, MAX_START),
    )


def query(state: LibraryState) -> str:
    """The shortest query string of the state, with its "?"; empty for the default."""
    pairs = [(f.name, getattr(state, f.name)) for f in fields(state) if getattr(state, f.name)]
    return f"?{urlencode(pairs)}" if pairs else ""


def changed(state: LibraryState, **changes: str | int) -> str:
    """The query string with ``changes``; any change starts again at the first row unless it names one."""
    return query(replace(state, **{"start": 0, **changes}))  # type: ignore[arg-type]  # names are checked by replace


def toggled(state: LibraryState, column: str) -> str:
    """The query string that a click on a column head leads to: that column, or the other direction of it."""
    same = state.column == column
    sort = column if not same or state.sort.startswith("-") else f"-{column}"
    return changed(state, sort="" if sort == DEFAULT_SORT and not state.q else sort)
