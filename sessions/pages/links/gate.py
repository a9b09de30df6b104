"""What every answer to a stranger has in common: headers, one 404 for all that is gone, the password."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from sessions import selectors
from sessions.engine.redact import redact
from sessions.models import ReplayLink
from sessions.pages.links import locked
from sessions.pages.links.opened import COMPACT_AT
from sessions.pages.ui.view import asks_fragment
from sessions.services import links as service

Answer = Callable[..., HttpResponse]

MOST_MOVES, MINUTE = 300, 60
"""Answers at another threshold that one address gets from one link in a minute, whatever it asks with."""


def for_strangers(*, counted: bool) -> Callable[[Answer], Callable[..., HttpResponse]]:
    """Headers of every answer under /l/: no referrer, no index, no cache; and one 404 for revoked and unknown alike.

    It is the outermost decorator but for the methods: what a view allows itself, such as a frame, is not allowed here.

    ``counted``: opening it is a view; parts that an open page asks for are not.
    """

    def wrapped(view: Answer) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answered(request: HttpRequest, token: str, **more: str) -> HttpResponse:
            found = service.find_link(token=token)
            if found is None:
                response = gone(request)
            elif not locked.is_open(request, found):
                response = _ask_password(request, token, found)
            else:
                if counted and request.method == "GET" and not asks_fragment(request):
                    service.count_view(found)
                selectors.notice(found.session)
                response = _limited(request, found) or view(request, token, _redacted(found), **more)
            response.setdefault("Referrer-Policy", "no-referrer")
            response["X-Robots-Tag"] = "noindex, nofollow"
            response["Cache-Control"] = "private, no-store"
            return response

        return answered

    return wrapped


def gone(request: HttpRequest) -> HttpResponse:
    """The one answer for what is not there, or not shown."""
    return render(request, "sessions/links/gone.html", status=404)


def _limited(request: HttpRequest, found: ReplayLink) -> HttpResponse | None:
    """A 429 for an address that moves the slider too often: each place of it is a replay that this server works out.

    Asked of every method: a reply names its threshold in the form.
    """
    moved = COMPACT_AT in request.GET or COMPACT_AT in request.POST
    if not moved or not found.moves or locked.count("move", request, found, MINUTE) <= MOST_MOVES:
        return None
    response = render(request, "sessions/links/often.html", {"most": MOST_MOVES}, status=429)
    response["Retry-After"] = str(MINUTE)
    return response


def _redacted(found: ReplayLink) -> ReplayLink:
    """The link with the words of its sender, or of who replied, cleaned as the session is; nothing is stored."""
    choice = found.choice
    for one in (found, found.reply_to):
        if one is not None:
            one.title, one.note, one.author = (redact(t, choice).text for t in (one.title, one.note, one.author))
    found.remarks = [[index, redact(text, choice).text] for index, text in found.remarks]
    return found


def _ask_password(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The form for the password, and its answer: in, wrong (403), or a pause after five wrong ones (429).

    Its referrer stays within this server: a form of a page without one is sent as from nowhere, and refused.
    """
    response = _password_answer(request, token, found)
    response["Referrer-Policy"] = "same-origin"
    return response


def _password_answer(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    context: dict[str, Any] = {"token": token}
    if locked.paused(request, found):
        return render(request, "sessions/links/locked.html", context | {"paused": True}, status=429)
    if request.method != "POST":
        return render(request, "sessions/links/locked.html", context, status=401)
    if not locked.opens(request, found, request.POST.get("password", "")):
        return render(request, "sessions/links/locked.html", context | {"wrong": True}, status=403)
    response = redirect("sessions:link", token)
    locked.remember(request, response, found)
    return response
