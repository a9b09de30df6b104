"""What the library shows: rows, the choices above them, the columns, and the facts strip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from sessions.engine import registry
from sessions.engine.agent import agents
from sessions.engine.fleet.values import NOT_RECORDED
from sessions.models import OVERCOUNTED
from sessions.pages.library import state as urlstate
from sessions.pages.ui.addresses import Filter
from sessions.pages.ui.figures import loudness
from sessions.pages.ui.labelled import format_label
from sessions.pages.ui.uploads import upload_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.models import Session, Upload
    from sessions.pages.library.state import LibraryState
    from sessions.selectors import SessionPage
    from sessions.selectors.files import FileGroup
    from sessions.selectors.library import LibraryFacts
    from sessions.selectors.search import Coverage, SessionHits

GROUP = "group-"
"""Ids of the rows that stand for a file, before the id of the session whose place they take."""
FIRST_ROWS = 50
MORE_ROWS = 100


@dataclass(frozen=True, slots=True)
class LibraryColumn:
    """One column head: its CSS classes, words that only wide screens show, ``sorted`` as ARIA says it."""

    name: str
    words: str
    wide_words: str
    css: str
    title: str
    href: str
    sorted: str


@dataclass(frozen=True, slots=True)
class More:
    """The way to the rows that are not shown yet."""

    words: str
    href: str


COLUMNS = (
    ("title", "Session", "", "grow t", "agent, model and length are its second line"),
    ("compactions", "What happened", "", "", "recorded compactions, and what was wrong with them"),
    ("overcount", "Overcount", "", "r", "bytes of the worst image ÷ its tokens"),
    ("peak", "Context", " against its window", "opt", "context sent at each request; sorts by its peak"),
    ("messages", "Messages", "", "r opt", ""),
    ("tokens", "Tokens", "", "r opt", "all messages, each once"),
    ("wire", "Bytes", "", "r mid", "size in the transcript; on the wire for captures"),
    ("images", "Images", "", "r mid", ""),
    ("last", "Last message", "", "r opt", ""),
)


ONLY_WORDS = {
    "false": "with a false alarm", "refused": "with a refused request", "missed": "with a missed compaction",
    "thrashing": "thrashing", "again": "re-reading", "above": "with a context over 100,000 tokens",
}  # fmt: skip
"""Filters that other pages lead to."""
NOT_SAID = "not recorded"


@dataclass(frozen=True, slots=True)
class Set:
    """A filter that is set and has no field: what it says, and the address without it."""

    words: str
    href: str


@dataclass(frozen=True, slots=True)
class Row:
    """One session, or with ``group`` the sessions of one file, which ``href`` lists; ``hits`` of a search."""

    session: Session
    group: FileGroup | None = None
    href: str = ""
    hits: SessionHits | None = None


def rows(state: LibraryState, page: SessionPage) -> tuple[Row, ...]:
    """The table's rows."""
    found = []
    for session in page.sessions:
        group = page.groups.get(session.pk)
        found.append(
            Row(session, group, urlstate.changed(state, file=group.key) if group else "", page.hits.get(session.pk))
        )
    return tuple(found)


def also_set(state: LibraryState, page: SessionPage) -> tuple[Set, ...]:
    """The filters that another page led to."""
    found = [Set(f"{name}: {NOT_SAID if value == NOT_RECORDED else value}", urlstate.changed(state, **{name: ""}))
             for name, value in state.alike.items() if value]  # fmt: skip
    if state.file:
        name = page.sessions[0].filename if page.sessions else "unknown"
        found.append(Set(f"file: {name}", urlstate.changed(state, file="")))
    if state.only in ONLY_WORDS:
        found.append(Set(ONLY_WORDS[state.only], urlstate.changed(state, only="")))
    return tuple(found)


def choices(state: LibraryState, counts: Mapping[str, int]) -> tuple[Filter, ...]:
    """The filters with their counts."""
    words = {
        "": "All",
        "overcount": f"Overcount ≥ {OVERCOUNTED:g},",
        "compacted": "Compacted",
        "images": "With images",
    }
    return tuple(
        Filter(name, text, counts[name or "all"], urlstate.changed(state, only=name), state.only == name)
        for name, text in words.items()
    )


def columns(state: LibraryState) -> tuple[LibraryColumn, ...]:
    """The column heads, each leading to its order or the other direction of it."""
    direction = "ascending" if state.ascending else "descending"
    return tuple(
        LibraryColumn(
            name, words, wide, css, title,
            urlstate.toggled(state, name) if name else "",
            direction if name and name == state.column else "",
        )
        for name, words, wide, css, title in COLUMNS
    )  # fmt: skip


def more(state: LibraryState, page: SessionPage) -> More | None:
    """What is left after the page: all of it where it is little, else the next hundred."""
    shown = page.start + len(page.sessions)
    left = page.total - shown
    if left <= 0 or not page.sessions:
        return None
    words = f"Load the other {left:,}" if left <= MORE_ROWS else f"Load the next {MORE_ROWS} of {left:,}"
    return More(words, urlstate.changed(state, start=shown))


def library_context(
    state: LibraryState,
    page: SessionPage,
    facts: LibraryFacts,
    coverage: Coverage | None = None,
) -> dict[str, Any]:
    """Everything that the library's table needs; ``coverage`` of the index where something is searched."""
    return {
        "coverage": coverage,
        "state": state,
        "page": page,
        "shown": page.start + len(page.sessions),
        "more": more(state, page),
        "earlier": urlstate.changed(state, start=0) if state.start else "",
        "choices": choices(state, facts.choices),
        "columns": columns(state),
        "formats": [(name, format_label(name)) for name in facts.formats],
        "models": facts.models,
        "facts": facts,
        "label": weakest(facts),
        "worst_is_alarm": facts.worst is not None and bool(loudness(facts.worst.worst_overcount)),
        "without_q": urlstate.changed(state, q=""),
        "clear": urlstate.query(urlstate.LibraryState(sort=state.sort)),
        "state_query": urlstate.changed(state),
        "also_set": also_set(state, page),
        "rows": rows(state, page),
        "kept": [
            (n, v)
            for n, v in (("only", state.only), ("sort", state.sort), ("file", state.file), *state.alike.items())
            if v
        ],
    }


def weakest(facts: LibraryFacts) -> str:
    """The label of a sum over sessions: as sure as the least sure of them."""
    if facts.n_estimated:
        return "estimated"
    return "calibrated" if facts.n_calibrated else "measured"


def place_context(uploads: tuple[Upload, ...]) -> dict[str, object]:
    """Where the library lives, and what is being read right now."""
    return {"table": upload_table(uploads), "place": f"local, {_home_as_tilde(str(settings.DATA))}"}


def _home_as_tilde(path: str) -> str:
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def first_run_context() -> dict[str, object]:
    """What the first-run page tells: formats that are read, and folders of those whose place is known."""
    kept = [(name, place.folder) for agent in agents() for name, place in agent.places.items()]
    return {
        "format_labels": [format_label(name) for name in registry.plugins("formats")],
        "folders": [{"label": format_label(name), "path": path} for name, path in kept],
    }
