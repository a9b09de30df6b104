"""Following a session whose file is watched: a stream that says when it grew, and the parts of the page that changed.

The stream only announces; the page then asks for what changed, as it does when it polls.  Each stream holds a thread of
the server while it lasts, so there are few of them, and whoever comes later is told to poll.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.reading import jsonio
from sessions.models import Viewer, seen_as, viewer
from sessions.models.viewer import as_now
from sessions.pages.session import messages
from sessions.pages.session import state as urlstate
from sessions.pages.session.chart import pressure_json
from sessions.pages.session.view import head_context, session
from sessions.pages.ui.addresses import whole
from sessions.pages.ui.view import asks_fragment, session_or_404, varied
from sessions.runs.overview import overview

LOOK_SECONDS = 0.3
HEARTBEAT_SECONDS = 5.0
"""A comment this often keeps proxies from closing the stream, and finds out that the reader has gone."""

LIFETIME_SECONDS = 300.0
"""Then the stream ends and the browser opens another, so that no thread is lost for good."""

RETRY_MS = 1_000

streams = threading.BoundedSemaphore(max(1, settings.FOLLOW_STREAMS))
"""Streams that this process may still start."""


@require_safe
def events(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """Server-sent events of one session: ``grew`` with {version, messages}, ``full``: poll, ``ended``: not watched.

    ``?version=`` (or the browser's Last-Event-ID) is the version the page shows; a newer one is announced at once.
    """
    session_or_404(session_id)
    known = request.headers.get("Last-Event-ID") or request.GET.get("version", "")
    response = StreamingHttpResponse(_stream(session_id, known, viewer()), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _stream(session_id: str, known: str, who: Viewer) -> Iterator[str]:
    """Waits for a place first and gives it back however it ends; the server closes it when the reader has gone."""
    if not streams.acquire(blocking=False):
        yield _event("full")
        return
    try:
        yield f"retry: {RETRY_MS}\n{_event('following')}"
        yield from _announcements(session_id, known, who)
    finally:
        streams.release()


def _announcements(session_id: str, known: str, who: Viewer) -> Iterator[str]:
    started = beat = time.monotonic()
    while (now := time.monotonic()) - started < LIFETIME_SECONDS:
        with seen_as(as_now(who)):  # the request is over by now, and what it was allowed may be, too
            found = selectors.session_version(session_id)
        if found is None or not found.watched:
            yield _event("ended")
            return
        if found.version != known:
            known, beat = found.version, now
            yield f"id: {known}\n{_event('grew', version=known, messages=found.n_messages)}"
        elif now - beat >= HEARTBEAT_SECONDS:
            beat = now
            yield ": nothing new\n\n"
        time.sleep(LOOK_SECONDS)


def _event(name: str, **facts: Any) -> str:
    return f"event: {name}\ndata: {jsonio.dumps(facts)}\n\n"


@require_safe
def growth(request: HttpRequest, session_id: str) -> HttpResponse:
    """What changed since ``?version=``, as out-of-band fragments for htmx; 204 where nothing did.

    ``first`` and ``after`` are the indices of the first row shown and one past the last; ``whole=1`` says that the
    list is shown to its end, so that new rows are appended.  A plain GET gets the page.
    """
    if not asks_fragment(request):
        return session(request, session_id)
    found = session_or_404(session_id)
    if request.GET.get("version") == found.version:
        return HttpResponse(status=204)
    view, state = overview(found.pk), urlstate.parse(request.GET)
    first, after = (whole(request.GET.get(name)) or 0 for name in ("first", "after"))
    limited = "to" in request.GET  # a list of a range stays as it is
    to_end = limited or request.GET.get("whole") == "1"
    base = reverse("sessions:session", args=[found.pk])
    context = {
        "session": found,
        "state": state,
        "view": view,
        **head_context(found, view),
        "figure": pressure_json(view, state.measure),
        "filters": messages.filters(view, state, base),
        "grown": () if limited else messages.grown(found.pk, view, state, first, after, whole=to_end),
        "whole": to_end,
        "oob": True,
    }
    return varied(render(request, "sessions/session/_growth.html", context))
