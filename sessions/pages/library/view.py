"""The library: every session, what to filter and sort it by, and where to drop more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.escaping import csv_lines
from sessions.pages.library import context as listing
from sessions.pages.library import state as urlstate
from sessions.pages.ui.view import asks_fragment
from sessions.selectors.library import library_facts
from sessions.selectors.search import coverage
from sessions.selectors.uploads import open_uploads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest

    from sessions.pages.library.state import LibraryState
    from sessions.selectors import SessionPage


EXPORT_ROWS = 10_000
EXPORTED = (
    "id", "title", "format", "model", "n_messages", "n_requests", "n_images", "n_tool_calls", "tokens", "tokens_label",
    "wire_bytes", "pressure_bytes", "worst_overcount", "worst_message", "n_compactions", "peak_context", "peak_label",
    "window", "usage_input", "usage_cache_read", "usage_cache_write", "usage_output", "started_at", "ended_at",
)  # fmt: skip


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """The table and its filters; the first-run page while nothing was ever uploaded; fragments for htmx."""
    state = urlstate.parse(request.GET)
    page = _rows(state, listing.MORE_ROWS if state.start else listing.FIRST_ROWS, grouped=True)
    covered = coverage() if state.q else None
    context = listing.library_context(state, page, library_facts(), covered)
    template = _template(request, context)
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _rows(state: LibraryState, limit: int, *, grouped: bool = False) -> SessionPage:
    """The sessions of the state from its start; ``grouped``: those of one file as one row."""
    return selectors.session_list(
        search=state.q, only=state.only, format=state.format, model=state.model,
        alike=state.alike, sort=state.sort, file=state.file, grouped=grouped,
        start=state.start, limit=limit,
    )  # fmt: skip


def _template(request: HttpRequest, context: dict[str, Any]) -> str:
    if asks_fragment(request):
        trigger, target = request.headers.get("HX-Trigger"), request.headers.get("HX-Target")
        context |= {"fragment": True, "refreshed": trigger == "sessions"}
        if (target or "").startswith(listing.GROUP):
            context |= {"of": target}
            return "sessions/library/_group_rows.html"
        return f"sessions/library/_{'session_next' if target == 'lib-more' else 'sessions'}.html"
    uploads = open_uploads()
    context |= listing.place_context(uploads)
    if context["facts"].n_sessions or any(not upload.finished for upload in uploads):
        return "sessions/library/page.html"
    context |= listing.first_run_context()
    return "sessions/library/empty.html"


def _exported(request: HttpRequest) -> Iterator[dict[str, object]]:
    page = _rows(urlstate.parse(request.GET), EXPORT_ROWS)
    return ({name: getattr(session, name) for name in EXPORTED} for session in page.sessions)


@require_safe
def sessions_json(request: HttpRequest) -> JsonResponse:
    """The table as one JSON document, filtered and sorted as the page is."""
    state = urlstate.parse(request.GET)
    rows = list(_exported(request))
    return JsonResponse({"schema": "ctxweb.sessions/1", "state": urlstate.query(state), "sessions": rows})


@require_safe
def sessions_csv(request: HttpRequest) -> HttpResponse:
    """The table as CSV."""
    rows = [EXPORTED, *(tuple(row.values()) for row in _exported(request))]
    response = HttpResponse("".join(csv_lines(rows)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="sessions.csv"'
    return response
