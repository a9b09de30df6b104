"""What came after each recorded compaction, as the Why page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.why.aftermath import WHEN
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import message_place
from sessions.pages.ui.windows import WINDOW, first_link, window_links

if TYPE_CHECKING:
    from sessions.engine.why.aftermath import Aftermath
    from sessions.pages.ui.windows import WindowLink
    from sessions.runs.overview import Overview

MOST, NAMED, SOURCES = 20, 3, 3
TARGET_CHARS = 48


@dataclass(frozen=True, slots=True)
class AgainPlace:
    """A file or command that was asked for again, and the message that did."""

    target: str
    href: str


@dataclass(frozen=True, slots=True)
class AftermathRow:
    """One compaction: ``after`` and ``tokens_again`` in tokens, ``sources`` what it held ``when``, largest first."""

    number: int
    href: str
    thrashing: bool
    after: int | None
    label: str
    n_requests: int | None
    minutes: int | None
    when: str
    sources: str
    n_actions: int | None
    places: tuple[AgainPlace, ...]
    n_more: int
    tokens_again: int
    weak: str


@dataclass(frozen=True, slots=True)
class AftermathTable:
    """The rows shown, and where the others are."""

    rows: tuple[AftermathRow, ...]
    others: tuple[WindowLink, ...]


def build_aftermath(session_id: str, view: Overview, start: int | None = None) -> AftermathTable:
    """One row per compaction: the window from ``start`` on, else the first few."""
    base, url = reverse("sessions:session", args=[session_id]), reverse("sessions:why_aftermath", args=[session_id])
    every = view.aftermaths
    shown = every[:MOST] if start is None else every[start : start + WINDOW]
    links = first_link(url, len(shown), len(every)) if start is None else window_links(url, start, len(every))
    return AftermathTable(tuple(_row(base, one, str(view.weighed.weak_label)) for one in shown), links)


def end_of(target: str) -> str:
    """The end of a long target: files differ there.  It begins with a folder where one begins early in it."""
    if len(target) <= TARGET_CHARS:
        return target
    end = target[1 - TARGET_CHARS :]
    return f"…{end[max(end.find('/', 0, TARGET_CHARS // 2), 0) :]}"


def _row(base: str, one: Aftermath, weak: str) -> AftermathRow:
    again = sorted(one.again, key=lambda row: -row.tokens)
    return AftermathRow(
        number=one.compaction + 1,
        href=message_place(base, one.message),
        thrashing=one.thrashing,
        after=one.after,
        label=one.label,
        n_requests=one.n_requests,
        minutes=None if one.minutes is None else round(one.minutes),
        when=WHEN[one.until],
        sources=", ".join(f"{name} {figures.count(tokens)}" for name, tokens in one.refilled[:SOURCES]),
        n_actions=one.actions,
        places=tuple(AgainPlace(end_of(row.target), message_place(base, row.message)) for row in again[:NAMED]),
        n_more=max(0, len(again) - NAMED),
        tokens_again=one.tokens_again,
        weak=weak,
    )
