"""What the library shows: rows by project, the choices above them and the columns; what is kept in sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from sessions.adapters.local import LocalFile
from sessions.adapters.synced import Progress, Synced
from sessions.engine.agents.agent import agents
from sessions.engine.base import registry
from sessions.engine.base.words import home_as_tilde
from sessions.engine.sweeps.fleet.values import NOT_RECORDED
from sessions.models import Session, Upload, viewer
from sessions.pages.library import state as urlstate
from sessions.pages.ui.addresses import Filter, Link, project_words
from sessions.pages.ui.figures import listed, plural, size
from sessions.pages.ui.labelled import format_label
from sessions.pages.ui.uploads import UploadTable
from sessions.selectors import SessionPage
from sessions.selectors.library import LibraryFacts, Project
from sessions.selectors.search import Coverage

GROUP = "group-"
"""Ids of the rows that stand for a file, before the id of the session whose place they take."""
FIRST_ROWS = 50
MORE_ROWS = 100


COLUMNS = (
    ("title", "Session", "t", "agent and model are its second line"),
    ("compactions", "What happened", "c-what", "recorded compactions, and what was wrong with them"),
    ("", "Context", "c-spark opt", "context sent at each request, against its window"),
    ("peak", "Peak", "c-peak r", "largest context, of the window"),
    ("cost", "Cost", "c-cost r", "recorded usage at list prices"),
    ("last", "Last message", "c-last r", ""),
)
"""Name of the order, words, CSS classes and title."""

ONLY_WORDS = {
    "false": "with a false alarm", "refused": "with a refused request", "missed": "with a missed compaction",
    "thrashing": "thrashing", "again": "re-reading", "above": "with a context over 100,000 tokens",
    "images": "with images",
}  # fmt: skip
"""Filters that other pages lead to."""
NOT_SAID = "not recorded"
KEPT = ("only", "sort", "by", "file", "agent", "client", "project", "week")
"""What the form keeps of an address that it has no field for."""


class Row:
    """One session, or with ``group`` the sessions of one file, which ``href`` lists; ``hits`` of a search.

    ``figures`` is what the session adds to the fleet; None while that is not worked out.
    """

    def __init__(self, state: urlstate.LibraryState, page: SessionPage, session: Session) -> None:
        self.session, self.group = session, page.groups.get(session.pk)
        self.href = urlstate.changed(state, file=self.group.key) if self.group else ""
        self.hits, self.figures = page.hits.get(session.pk), getattr(session, "figures", None)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a project under its head, ``href`` leads to all of them; without ``name`` all rows of the table."""

    rows: Sequence[Row]
    name: str = ""
    path: str = ""
    n_sessions: int = 0
    dollars: float | None = None
    n_priced: int = 0
    href: str = ""


def parts(state: urlstate.LibraryState, page: SessionPage) -> tuple[Part, ...]:
    """The table: one part, or one for each project."""
    if not page.projects:
        return (Part([Row(state, page, one) for one in page.sessions]),)
    by_id = {one.pk: one for one in page.sessions}
    return tuple(_part(state, page, one, [by_id[pk] for pk in one.ids if pk in by_id]) for one in page.projects)


def _part(state: urlstate.LibraryState, page: SessionPage, project: Project, sessions: Sequence[Session]) -> Part:
    rows = [Row(state, page, one) for one in sessions]
    n_shown = sum(row.group.n_sessions if row.group else 1 for row in rows)
    href = urlstate.changed(state, project=project.name or NOT_RECORDED) if n_shown < project.n_sessions else ""
    name, path = project_words(project.name)
    return Part(rows, name, path if path != name else "", project.n_sessions, project.dollars, project.n_priced, href)


def also_set(state: urlstate.LibraryState, page: SessionPage) -> tuple[Link, ...]:
    """The filters that another page led to, each with the address without it."""
    found = [Link(f"{name}: {NOT_SAID if value == NOT_RECORDED else value}", urlstate.changed(state, **{name: ""}))
             for name, value in state.alike.items() if value]  # fmt: skip
    if state.file:
        name = page.sessions[0].filename if page.sessions else "unknown"
        found.append(Link(f"file: {name}", urlstate.changed(state, file="")))
    if state.only in ONLY_WORDS:
        found.append(Link(ONLY_WORDS[state.only], urlstate.changed(state, only="")))
    return tuple(found)


def choices(state: urlstate.LibraryState, counts: Mapping[str, int]) -> tuple[Filter, ...]:
    """The filters with their counts."""
    words = {
        "": "All",
        "wrong": "Needs a look",
        "overcount": "Overcounted",
        "compacted": "Compacted",
    }
    return tuple(
        Filter(name, text, counts[name or "all"], urlstate.changed(state, only=name), state.only == name)
        for name, text in words.items()
        if not name or counts[name] or state.only == name
    )


def columns(state: urlstate.LibraryState) -> tuple[tuple[str, ...], ...]:
    """The heads: name ("" sorts nothing), words, CSS classes, title, where its order is or the other, ``aria-sort``."""
    direction = "ascending" if state.ascending else "descending"
    return tuple(
        (*column, urlstate.toggled(state, name), direction if name == state.column else "")
        if (name := column[0])
        else (*column, "", "")
        for column in COLUMNS
    )


def more(state: urlstate.LibraryState, page: SessionPage) -> Link | None:
    """What is left after the page: all of it where it is little, else the next hundred, or the next projects."""
    if page.projects:
        start = page.start + len(page.projects)
        return Link("More projects", urlstate.changed(state, by="project", start=start)) if start < page.total else None
    shown = page.start + len(page.sessions)
    left = page.total - shown
    if left <= 0 or not page.sessions:
        return None
    words = f"Load the other {left:,}" if left <= MORE_ROWS else f"Load the next {MORE_ROWS} of {left:,}"
    return Link(words, urlstate.changed(state, start=shown))


def library_context(
    state: urlstate.LibraryState,
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
        "without_q": urlstate.changed(state, q=""),
        "clear": urlstate.query(urlstate.LibraryState(sort=state.sort)),
        "state_query": urlstate.changed(state),
        "also_set": also_set(state, page),
        "parts": parts(state, page),
        "kept": [(name, value) for name in KEPT if (value := getattr(state, name))],
    }


def place_context(uploads: tuple[Upload, ...]) -> dict[str, object]:
    """Where the library lives, for whoever runs the server, and what is being read right now."""
    place = f"local, {home_as_tilde(str(settings.DATA))}" if viewer().is_admin else ""
    return {"table": UploadTable(uploads), "place": place}


def first_run_context() -> dict[str, object]:
    """What the first-run page tells: formats that are read, and folders of those whose place is known."""
    kept = [(name, place.folder) for agent in agents() for name, place in agent.places.items()]
    return {
        "format_labels": [format_label(name) for name in registry.plugins("formats")],
        "folders": [{"label": format_label(name), "path": path} for name, path in kept],
    }


@dataclass(frozen=True, slots=True)
class Found:
    """Sessions of agents on this computer: ``words`` as "22 Claude Code and 6 Codex", and how many in all."""

    words: str
    n_files: int


@dataclass(frozen=True, slots=True)
class Kept:
    """An agent to choose, with its folders where it has one for each project, or such a folder: its path is its name.

    ``holds``: what it has, in words.
    """

    name: str
    label: str
    holds: str
    chosen: bool
    folders: tuple[Kept, ...] = ()


READING_SECONDS, QUIET_SECONDS = 1, 5
"""Between two looks at how far it is: while files are read, and later."""


def found_words(files: Sequence[LocalFile]) -> Found | None:
    """What was found, the agent with most sessions first; None without any."""
    counts = Counter(one.agent.label for one in files).most_common()
    return Found(listed(f"{n:,} {label}" for label, n in counts), len(files)) if files else None


def to_choose(files: Sequence[LocalFile], synced: Synced) -> tuple[Kept, ...]:
    """Every agent that keeps sessions here, as far as it was chosen before."""
    return tuple(
        Kept(name, some[0].agent.label, _holds(some), name in synced.agents, _folders(some, synced))
        for name, some in _grouped(files, lambda one: one.agent.name)
    )


def _grouped(files: Sequence[LocalFile], by: Callable[[LocalFile], str]) -> list[tuple[str, list[LocalFile]]]:
    groups: dict[str, list[LocalFile]] = {}
    for one in files:
        groups.setdefault(by(one), []).append(one)
    return [*groups.items()]


def _folders(files: Sequence[LocalFile], synced: Synced) -> tuple[Kept, ...]:
    found = _grouped(files, lambda one: str(one.folder))
    if len(found) < 2:
        return ()
    return tuple(Kept(path, home_as_tilde(path), _holds(some), path in synced.folders) for path, some in found)


def other_folders(files: Iterable[LocalFile], synced: Synced) -> tuple[str, ...]:
    """Chosen folders that are of no agent."""
    known = {str(one.folder) for one in files}
    return tuple(path for path in synced.folders if path not in known)


def _holds(files: Sequence[LocalFile]) -> str:
    number, unit = size(sum(one.size for one in files))
    return f"{plural(len(files), 'session')}, {number} {unit}"


class Line:
    """The line above the list: where the keeping in sync stands, how far reading is, and what asks again.

    ``seen`` is what the page has seen of the files, ``n_new`` came since it was opened.
    """

    def __init__(self, synced: Synced, reached: Progress, *, seen: str, n_new: int) -> None:
        self.n_files, self.n_read = reached.n_files, min(reached.n_read, reached.n_files)
        self.is_paused, self.poll = synced.paused, seen
        self.is_reading = not synced.paused and self.n_read < self.n_files
        files = plural(self.n_files, "file")
        if synced.paused:
            self.words = f"Paused. {files} stay as they were read."
        elif self.is_reading:
            self.words = f"Reading {files}, {self.n_read:,} done. New ones appear by themselves."
        elif not self.n_files:
            self.words = "Looking for sessions."
        else:
            self.words = f"{files}. New ones appear by themselves."
        if reached.n_failed and not synced.paused:
            self.words += f" {reached.n_failed:,} could not be read."
        if n_new:
            self.words += f" {n_new:,} came since this page was opened."
        busy = not self.n_files or self.n_read < self.n_files
        self.seconds = READING_SECONDS if busy else QUIET_SECONDS
