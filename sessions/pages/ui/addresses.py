"""Where the fragments of replay and diff lead: to the session's own pages, or to those of a link; paths as shown."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from django.urls import reverse

from sessions.engine.base.words import home_as_tilde
from sessions.runs import replay_state as urlstate

SHOWN_MEDIA = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
WINDOW = 150
"""Rows of a table that is asked for by itself: a session may have thousands of compactions."""
T = TypeVar("T")
DIFF_ONLY: dict[str, object] = {"rows": None, "between": None, "only": ""}
"""What the diff alone looks at, as a replay leaves it."""
TRAVELS = frozenset(urlstate.names_of(urlstate.REPLAYED)) - {"params"} | {"event", "request", "m"}
"""Parts of an address that mean the same on every tab of a session; parameters of the policy go with them."""


def travels(name: str) -> bool:
    """Whether a tab carries this part of the address to another."""
    return name in TRAVELS or name.startswith("p.")


@dataclass(frozen=True, slots=True)
class Urls:
    """Paths of the replay and of the diff.

    ``message`` is the pattern of a message's page, ``step`` the part that shows one request; "" where there is none.
    ``beside`` is what the diff's address says of a second replay.
    ``frozen``: the replay's state is fixed (a link), so that addresses carry only what is looked at; ``kept`` is what
    every one of them says besides.
    """

    replay: str
    diff: str
    message: str = ""
    step: str = ""
    beside: str = ""
    frozen: bool = False
    kept: str = ""

    def to_replay(self, state: urlstate.ReplayState, **changes: object) -> str:
        return self._with_query(self.replay, state, DIFF_ONLY | changes)

    def to_diff(self, state: urlstate.ReplayState, **changes: object) -> str:
        address = self._with_query(self.diff, state, {"at": None} | changes)
        if not self.beside:
            return address
        return f"{address}{'&' if '?' in address else '?'}{self.beside}"

    def to_message(self, index: int | None) -> str:
        """The page of an original message, "" where it cannot be opened."""
        if not self.message or index is None:
            return ""
        return self.message.removesuffix("0/") + f"{index}/"

    @property
    def messages(self) -> str:
        """What the pages of messages begin with, "" where there are none."""
        return self.message.removesuffix("0/")

    def _with_query(self, path: str, state: urlstate.ReplayState, changes: dict[str, object]) -> str:
        if not path:
            return ""
        query = urlstate.looked_at(state, **changes) if self.frozen else urlstate.query(state, **changes)
        return with_query(path, "&".join(part for part in (query, self.kept) if part))


class Link(NamedTuple):
    """Words, and where they lead."""

    words: str
    href: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several views of a page: its words, where it leads, and whether it is the one shown."""

    words: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter above a list: its words, how many rows it leaves, where it leads."""

    name: str
    words: str
    total: int
    href: str
    current: bool


def whole(text: str | None, digits: int = 8) -> int | None:
    """The whole number of an address, of at most so many digits; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


def uuids(texts: Iterable[str]) -> list[uuid.UUID]:
    """The ids that are well formed, in order."""
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(uuid.UUID(text))
    return found


def with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def media_url(kind: str, sha256: str, media_type: str) -> str:
    """Where an image is shown, "" for what a browser may not show: that is only offered with its upload."""
    shown = kind == "image" and sha256 and media_type in SHOWN_MEDIA
    return reverse("sessions:media", args=[sha256]) if shown else ""


def small_url(media_url: str) -> str:
    """Where the thumbnail of an image is, by where the image is; "" without one."""
    return f"{media_url}small/" if media_url else ""


def message_href(session_id: str, message: int | None) -> str:
    """Where a message of a session stands, "" where there is none."""
    page = reverse("sessions:session", args=[session_id])
    return "" if message is None else f"{page}?m={message}#m-{message}"


def session_urls(session_id: str) -> Urls:
    message = reverse("sessions:session", args=[session_id]) + "m/0/"
    return Urls(
        reverse("sessions:replay", args=[session_id]), reverse("sessions:diff", args=[session_id]), message,
        reverse("sessions:step", args=[session_id]),
    )  # fmt: skip


def shown_part(href: str, rows: Sequence[T], n_first: int, start: int | None) -> tuple[Sequence[T], tuple[Link, ...]]:
    """Rows of a table of compactions: the window from ``start`` on, else the first few; and the ways to others."""
    total = len(rows)
    if start is None:
        n_more = min(total, WINDOW) - n_first
        words = f"Show {n_more:,} {'other compaction' if n_more == 1 else 'other compactions'}"
        return rows[:n_first], (Link(words, href),) if n_more > 0 else ()
    places = [max(0, at) for at in (start - WINDOW, start + WINDOW) if -WINDOW < at < total]
    ends = [(at, min(at + WINDOW, total)) for at in places]
    links = (Link(f"Compactions {at + 1:,} to {end:,}", f"{href}?start={at}") for at, end in ends)
    return rows[start : start + WINDOW], tuple(links)


def project_words(folder: str) -> tuple[str, str]:
    """How a project is called, by the end of its folder, and the folder's path as it is shown; "" for none."""
    path = home_as_tilde(folder)
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path or "No project", path
