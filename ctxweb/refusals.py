"""Bodies that are not taken: what is said about them, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve

from sessions.faults import NO_ROOM, fault_of

RETRY_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Refusal:
    """Status, heading and two sentences; ``retry_seconds`` where the same request may succeed later."""

    status: int
    heading: str
    fact: str
    next: str
    retry_seconds: int = 0


def takes_uploads(path: str) -> bool:
    """Whether a route takes files; every other takes forms only."""
    try:
        return resolve(path).view_name in settings.UPLOAD_ROUTES
    except Resolver404:
        return False


def most_bytes(path: str) -> int:
    """The largest body of a route, in bytes."""
    size: int = settings.MAX_UPLOAD_BYTES if takes_uploads(path) else settings.MAX_FORM_BYTES
    return size


def too_large(path: str) -> Refusal:
    """413: over the limit of this route."""
    n_mb = most_bytes(path) // (1024 * 1024)
    if takes_uploads(path):
        advice = "Raise CTXWEB_MAX_UPLOAD_MB, or use ctxweb ingest."
        return Refusal(413, "Upload too large", f"This upload is larger than {n_mb:,} MB.", advice)
    advice = "Add files in the library, or with ctxweb ingest."
    return Refusal(413, "Request too large", f"This address takes forms of at most {n_mb:,} MB, no files.", advice)


def too_slow(n_bytes: int, seconds: float) -> Refusal:
    """408: the rate fell below what is asked for."""
    fact = f"The data arrived too slowly: {n_bytes:,} bytes in {seconds:,.0f} s. Nothing was stored."
    advice = "Send it again over a faster connection, or raise CTXWEB_BODY_SECONDS."
    return Refusal(408, "Too slow", fact, advice)


def too_many() -> Refusal:
    """503: as many bodies are arriving as are taken in at once."""
    fact = "The server receives as many uploads as it takes at once. Nothing was stored."
    return Refusal(503, "Server busy", fact, f"Try again in {RETRY_SECONDS} s.", RETRY_SECONDS)


def no_room(error: OSError) -> Refusal:
    """507: what arrives finds no place on the disk; raises ``error`` where that is not why."""
    fault = fault_of(error)
    if fault is None or fault.status != NO_ROOM:
        raise error
    fact = "The disk of the server is full. Nothing was stored."
    return Refusal(NO_ROOM, "No space left", fact, "Free some space, then send it again.")


def response(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """A page for a browser, one line for everything else; the connection ends, because the body on it is unread."""
    if "text/html" in request.headers.get("Accept", ""):
        answer = render(request, "refused.html", {"refusal": refusal}, status=refusal.status)
    else:
        text = f"{refusal.fact} {refusal.next}\n"
        answer = HttpResponse(text, status=refusal.status, content_type="text/plain; charset=utf-8")
    if refusal.retry_seconds:
        answer["Retry-After"] = str(refusal.retry_seconds)
    return answer
