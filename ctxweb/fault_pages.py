"""Faults of the surroundings as a page; it touches neither the database nor the session: these may be what fails."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.defaults import server_error

from ctxweb.middleware import OPEN_PREFIXES
from sessions.api import access
from sessions.api.access import ProblemError, problem
from sessions.faults import GONE, NO_ROOM, UNAVAILABLE, WRONG, Fault, fault_of
from sessions.models import Session, viewer
from sessions.pages.ui.view import NO_SESSION

RETRY_SECONDS = 10
BROKEN = "Something broke"
TITLES = {
    NO_ROOM: "No space left", UNAVAILABLE: "Not available", GONE: "Stored data is missing or damaged",
    WRONG: "Not understood", 404: "Not here", 403: "Not allowed",
}  # fmt: skip
NOTHING_HERE = "Nothing is at this address. It may have been typed wrong, or the session was removed."
log = logging.getLogger(__name__)


def faults(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: a view that ends in a fault answers with its words."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    middleware.process_exception = answer_to  # type: ignore[attr-defined]  # Django looks for it here
    return middleware


def answer_to(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """The answer to a fault, None for one of ctxweb."""
    return _answer(request, error, is_admin=viewer().is_admin)


def _answer(request: HttpRequest, error: Exception, *, is_admin: bool) -> HttpResponse | None:
    """Whoever needs no account, and a member of a team, learns no path and no address of ours."""
    if isinstance(error, Session.DoesNotExist):  # deleted while its page was made
        return handler404(request, Http404(NO_SESSION))
    fault = fault_of(error)
    if fault is None:
        return None
    log.error("%s %s: %s", request.method, request.path, fault.words, exc_info=error)
    may_know = fault.status in {GONE, WRONG} and request.path_info.startswith(access.PREFIX)
    is_open = request.path_info.startswith(OPEN_PREFIXES) and not may_know
    if is_open or not (is_admin or fault.status == WRONG):
        fault = Fault(f"{TITLES.get(fault.status, BROKEN)}.", "Tell whoever runs this server.", fault.status)
    return fault_page(request, fault)


def handler500(request: HttpRequest) -> HttpResponse:
    """What Django answers an exception with that no view raised (a middleware did): the fault's words, if it is one."""
    error = sys.exc_info()[1]
    is_admin = not settings.REQUIRE_LOGIN  # who it is may be what could not be found out
    found = _answer(request, error, is_admin=is_admin) if isinstance(error, Exception) else None
    return found or server_error(request)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What is not here: in the words of whoever looked for it."""
    said = exception.args[0] if exception.args else ""
    has_words = isinstance(said, str) and said and not said.endswith("matches the given query.")
    return _not_for_you(request, said if has_words else NOTHING_HERE, 404)


def handler403(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What is not allowed: in the words of whoever forbade it."""
    return _not_for_you(request, str(exception) or "The server refused this request.", 403)


def _not_for_you(request: HttpRequest, words: str, status: int) -> HttpResponse:
    if _wants_page(request):
        return HttpResponse(render_to_string(f"{status}.html", {"reason": words}, request), status=status)
    return fault_page(request, Fault(words, "", status))


def _is_data(request: HttpRequest) -> bool:
    return request.path.endswith((".json", ".jsonl", ".csv"))


def _wants_page(request: HttpRequest) -> bool:
    is_part = request.headers.get("HX-Request") == "true"
    return not is_part and not _is_data(request) and not request.path_info.startswith(access.PREFIX)


def fault_page(request: HttpRequest, fault: Fault) -> HttpResponse:
    """A page; JSON for an address of data; a problem for the API; a note for htmx, which shows it beside what asked."""
    response: HttpResponse
    if request.path_info.startswith(access.PREFIX):
        response = problem(request, ProblemError(fault.status, fault.words))
    elif _is_data(request):
        response = JsonResponse({"error": fault.words}, status=fault.status)
    else:
        name = "fault.html" if _wants_page(request) else "sessions/ui/_error.html"
        context = {
            "error": fault.what, "next": fault.next_step, "title": TITLES.get(fault.status, BROKEN),
            "is_kept": fault.status in {NO_ROOM, UNAVAILABLE}, "leads_back": fault.status in {404, GONE},
        }  # fmt: skip
        response = HttpResponse(render_to_string(name, context), status=fault.status)
    response["Cache-Control"] = "no-store"
    if fault.status == UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
