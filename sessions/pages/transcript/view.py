"""The transcript to read: what the agent read, with the weight of each message and the cuts of compactions."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.search.terms import read_query
from sessions.models import Session
from sessions.pages.transcript import context as shown
from sessions.pages.ui import exports
from sessions.pages.ui.addresses import session_urls, travels, whole, with_query
from sessions.pages.ui.causes import false_ones
from sessions.pages.ui.view import command_file, session_or_404
from sessions.runs.overview import Overview, overview
from sessions.runs.replay_state import own_way
from sessions.selectors.search import in_session


@require_safe
def transcript(request: HttpRequest, session_id: str) -> HttpResponse:
    """Thirty messages around ``?m=``, or from ``?start=``; ``?q=`` marks and counts what it finds."""
    found = session_or_404(session_id)
    view, state = overview(found.pk), parse(request.GET)
    carried = [(name, str(value)) for name, value in request.GET.items() if travels(name)]
    context: dict[str, Any] = {
        "session": found,
        "tab": "transcript",
        "share_view": "session",
        "cli": shlex.join(["ctxweb", "export", command_file(found), "--to", "jsonl"]),
        "exports": exports.choices(found),
        "state": state,
        "view": view,
        "own_way": own_way(view.weighed),
        "kept": [pair for pair in carried if pair[0] != "m"],
        "urls": session_urls(found.pk),
    }
    try:
        with contextlib.closing(selectors.load_texts(found)) as texts:
            context |= _read(found, view, state, carried, texts.of)
    except UnreadableInput as error:
        context["problem"] = str(error)
    return render(request, "sessions/transcript/page.html", context)


def _read(
    found: Session, view: Overview, state: TranscriptState, carried: list[tuple[str, str]], read: shown.Read
) -> dict[str, Any]:
    path = reverse("sessions:transcript", args=[found.pk])

    def to(**changes: object) -> str:
        return address(path, state, carried, **changes)

    def place_of(message: int) -> str:
        return f"{to(m=message, start=None)}#m-{message}"

    marks = shown.cuts(view, false_ones(view.verdicts))
    query = read_query(state.q)
    matches, has_more = shown.matching(view, query, read, in_session(found, query))
    start = _start(state, matches, len(view.messages))
    stop = min(start + shown.PAGE, len(view.messages))
    turns = shown.turns(view, range(start, stop), read, marks, query, found=frozenset(matches), words=state.words)
    ahead = next((i for i in matches if state.m is not None and i > state.m), matches[0] if matches else None)
    return {
        "turns": turns,
        "start": start,
        "left": len(view.messages) - stop,
        "earlier": to(m=None, start=max(start - shown.PAGE, 0)) if start else "",
        "later": to(m=None, start=stop) if stop < len(view.messages) else "",
        "places": [(place, f"{to(m=place.message, start=None)}{place.anchor}") for place in shown.places(view, marks)],
        "heaviest": [(place, place_of(place.message)) for place in shown.heaviest(view)],
        "matches": matches,
        "has_more_matches": has_more,
        "next_match": place_of(ahead) if ahead is not None else "",
        "all_href": to(words=False),
        "words_href": to(words=True),
        "clear_href": to(q=""),
    }


def _start(state: TranscriptState, matches: Sequence[int], total: int) -> int:
    if state.start is not None:
        return min(state.start, max(total - 1, 0))
    wanted = state.m if state.m is not None else matches[0] if matches else 0
    return max(0, min(wanted - shown.LEAD, max(total - shown.PAGE, 0)))


LONGEST = 200
"""Characters of a search."""


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """``m`` is the message to begin near, ``start`` the first one shown where that is asked for; ``q`` is searched."""

    m: int | None = None
    start: int | None = None
    q: str = ""
    words: bool = False


def parse(query: Mapping[str, str]) -> TranscriptState:
    """What makes no sense is left out, never an error."""
    return TranscriptState(
        whole(query.get("m")), whole(query.get("start")), query.get("q", "").strip()[:LONGEST],
        query.get("show") == "words",
    )  # fmt: skip


def address(path: str, state: TranscriptState, carried: list[tuple[str, str]], **changes: object) -> str:
    """The page with ``changes``; ``carried`` is what the other tabs need."""
    values: dict[str, object] = {"m": state.m, "start": state.start, "q": state.q} | changes
    shown = changes.get("words", state.words)
    pairs = [(name, str(value)) for name, value in values.items() if name != "words" and value not in (None, "")]
    pairs += [("show", "words")] if shown else []
    return with_query(path, urlencode(pairs + [pair for pair in carried if pair[0] != "m"], safe=":,"))
