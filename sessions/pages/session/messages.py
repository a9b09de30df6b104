"""The rows of a session's message list, and which page of them is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Kind, Message
from sessions.pages.session import state as urlstate
from sessions.pages.session.inspector import reply_to
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Filter, Link
from sessions.pages.ui.message import MessageFigures
from sessions.runs.overview import LARGE_TOKENS, Overview

PAGE = 100
DRAWN_AGAIN = 3
LEAD = 4
"""Rows shown above a message that a link leads to."""


class ListRow(MessageFigures):
    """One message as the list shows it; ``mono`` where its preview is a program's words, not a person's."""

    def __init__(self, session_id: str, view: Overview, index: int, *, selected: bool = False) -> None:
        super().__init__(view, index)
        message = self.message
        self.role, self.preview = speaker(message), message.preview or _nothing(message)
        self.mono = not message.typed and str(message.role) == "user"
        self.note, self.pair = _note(message), view.pairs[index].strip()
        self.over = self.factor is not None and self.factor >= OVERCOUNTED
        self.request, self.context, self.context_label = reply_to(view, index)
        self.selected, self.href = selected, reverse("sessions:inspector", args=[session_id, index])


class ListPage:
    """Rows ``start`` to ``stop`` of ``total`` that match, and the ways to the rows before and after."""

    def __init__(
        self, rows: Sequence[ListRow], start: int, total: int, later: Link | None = None, earlier: Link | None = None
    ) -> None:
        self.rows, self.start, self.stop, self.total = rows, start, start + len(rows), total
        self.later, self.earlier = later, earlier


@dataclass(frozen=True, slots=True)
class ListGrowth:
    """A list that was shown up to some message, after the session grew: rows to draw again, and the rows after them."""

    again: tuple[ListRow, ...]
    page: ListPage


class Part:
    """What a part of the session comes to: its messages, its requests and the largest context among these."""

    def __init__(self, view: Overview, within: Sequence[int], whole_url: str) -> None:
        found = [view.contexts[index] for index in within if index in view.contexts]
        self.first, self.last, self.whole_url = within[0], within[-1], whole_url
        self.n_messages = self.last + 1 - self.first
        self.n_requests = len({request for request, _, _ in found})
        self.tokens, self.label = sum(view.weighed.tokens[index] for index in within), view.tokens_label
        peak: tuple[int | None, str] = max(((tokens, str(label)) for _, tokens, label in found), default=(None, ""))
        self.peak, self.peak_label = peak


def part(view: Overview, state: urlstate.SessionState, base: str) -> Part | None:
    """The part that the state is limited to; None where it is not, or where no message is."""
    within = listed(view, replace(state, only=""))
    if state.between is None or not within:
        return None
    return Part(view, within, base + urlstate.query(state, between=None, start=None))


def listed(view: Overview, state: urlstate.SessionState) -> Sequence[int]:
    """The messages that pass the filter, of the part that the state is limited to."""
    found: Sequence[int] = view.only[state.only] if state.only else range(len(view.messages))
    if state.between is None:
        return found
    return found[bisect_left(found, state.between[0]) : bisect_right(found, state.between[1])]


def filters(view: Overview, state: urlstate.SessionState, base: str) -> tuple[Filter, ...]:
    """The filters with their counts."""
    words = {"": "All", "overcount": "Overcounted", "large": f"Over {LARGE_TOKENS:,} tokens"}
    wanted = ((text, replace(state, only=name, start=None)) for name, text in words.items())
    return tuple(
        Filter(one.only, text, len(listed(view, one)), base + urlstate.query(one), state.only == one.only)
        for text, one in wanted
    )


def page(session_id: str, view: Overview, state: urlstate.SessionState, until: int | None = None) -> ListPage:
    """The page from ``start``, else with message ``m``, else the first; ``until`` ends it where rows are shown."""
    indices = listed(view, state)
    start = min(_start(indices, state), max(len(indices) - 1, 0))
    if state.start is None and state.m is not None:  # a page that opens near the end is a whole one
        start = min(start, max(len(indices) - PAGE, 0))
    shown = indices[start : min(start + PAGE, until if until is not None else start + PAGE)]
    base = reverse("sessions:messages", args=[session_id])
    before = min(start, PAGE)
    words = f"Load the {before:,} before" if before != start else f"Load the first {before:,}"
    earlier = Link(words, base + urlstate.query(state, start=start - before, until=start, m=None))
    return ListPage(
        tuple(ListRow(session_id, view, i, selected=i == state.m) for i in shown), start, len(indices),
        later=_following(base, state, start + len(shown), len(indices)) if until is None else None,
        earlier=earlier if before else None,
    )  # fmt: skip


def grown(
    session_id: str, view: Overview, state: urlstate.SessionState, first: int, after: int, *, whole: bool
) -> ListGrowth:
    """What follows the rows of messages ``first`` to ``after`` (exclusive), and the last of these: they may have grown.

    New rows only where the list was shown to its end (``whole``); else only the way to them.
    """
    indices = listed(view, state)
    n_shown = bisect_left(indices, after)
    again = [i for i in indices[max(0, n_shown - DRAWN_AGAIN) : n_shown] if i >= first]
    shown = indices[n_shown : n_shown + PAGE] if whole else ()
    base = reverse("sessions:messages", args=[session_id])
    rows = tuple(ListRow(session_id, view, i) for i in shown)
    page = ListPage(rows, n_shown, len(indices), _following(base, state, n_shown + len(shown), len(indices)))
    return ListGrowth(tuple(ListRow(session_id, view, i) for i in again), page)


def _following(base: str, state: urlstate.SessionState, start: int, total: int) -> Link | None:
    left = total - start
    if left <= 0:
        return None
    words = f"Load {'the other' if left <= PAGE else 'the next'} {min(left, PAGE):,} of {left:,}"
    return Link(words, base + urlstate.query(state, start=start, until=None, m=None))


def _start(indices: Sequence[int], state: urlstate.SessionState) -> int:
    if state.start is not None:
        return state.start
    if state.m is None or state.m not in indices:
        return 0
    at = indices.index(state.m)
    return 0 if at < PAGE - LEAD else at - LEAD


def _note(message: Message) -> str:
    if message.attachment:
        return message.attachment
    if message.meta:
        return "meta"
    return "re-attached after a compaction" if message.compaction is not None and not message.summary else ""


def _nothing(message: Message) -> str:
    for leaf in message.leaves():
        if leaf.media:
            size = f", {leaf.media.width} × {leaf.media.height}" if leaf.media.width else ""
            return f"{leaf.kind} {leaf.media.media_type}{size}"
        if leaf.name:
            return f"{leaf.name} {leaf.target}".strip()
        if leaf.kind is Kind.THINKING and not leaf.n_chars:
            return f"thinking not shown by the provider, signature of {figures.count(leaf.n_payload)} bytes"
    return "no text"
