"""What every answer to a stranger has in common: headers, one 404 for all that is gone, the password."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import get_script_prefix
from django.views.decorators.http import require_http_methods

from ctxweb.address import network
from sessions import selectors
from sessions.adapters.memory import ask
from sessions.engine.redact import redact
from sessions.models import ReplayLink
from sessions.pages.links.opened import COMPACT_AT
from sessions.pages.ui.view import asks_fragment
from sessions.runs.recognised import with_known
from sessions.services import links as service

Answer = Callable[..., HttpResponse]

MOST_MOVES, MINUTE = 300, 60
"""Answers at another threshold that one address gets from one link in a minute, whatever it asks with."""


def for_strangers(*methods: str, counted: bool = False) -> Callable[[Answer], Callable[..., HttpResponse]]:
    """Headers of every answer under /l/: no referrer, no index, no cache; and one 404 for revoked and unknown alike.

    It is the outermost decorator but for the methods: what a view allows itself, such as a frame, is not allowed here.

    ``methods``: GET and HEAD where none is named.  ``counted``: opening it is a view; parts of an open page are not.
    """

    def wrapped(view: Answer) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answered(request: HttpRequest, token: str, **more: str) -> HttpResponse:
            found = service.find_link(token=token)
            if found is None:
                response = gone(request)
            elif not _is_open(request, found):
                response = _ask_password(request, token, found)
                response["Referrer-Policy"] = "same-origin"  # a form of a page without one is refused, as from nowhere
            else:
                if counted and request.method == "GET" and not asks_fragment(request):
                    service.count_view(found)
                selectors.notice(found.session)
                response = _limited(request, found) or view(request, token, _redacted(found), **more)
            response.setdefault("Referrer-Policy", "no-referrer")
            response["X-Robots-Tag"] = "noindex, nofollow"
            response["Cache-Control"] = "private, no-store"
            return response

        return require_http_methods(methods or ("GET", "HEAD"))(answered)

    return wrapped


def gone(request: HttpRequest) -> HttpResponse:
    """The one answer for what is not there, or not shown."""
    return render(request, "sessions/links/gone.html", status=404)


def _limited(request: HttpRequest, found: ReplayLink) -> HttpResponse | None:
    """A 429 for an address that moves the slider too often: each place of it is a replay that this server works out.

    Asked of every method: a reply names its threshold in the form.
    """
    moved = COMPACT_AT in request.GET or COMPACT_AT in request.POST
    if not moved or not found.moves or count("move", request, found, MINUTE) <= MOST_MOVES:
        return None
    response = render(request, "sessions/links/often.html", {"most": MOST_MOVES}, status=429)
    response["Retry-After"] = str(MINUTE)
    return response


def _redacted(found: ReplayLink) -> ReplayLink:
    """The link with the words of its sender, or of who replied, cleaned as the session is; nothing is stored."""
    choice = with_known(found.choice, found.session)
    for one in (found, found.reply_to):
        if one is not None:
            one.title, one.note, one.author = (redact(t, choice).text for t in (one.title, one.note, one.author))
    found.remarks = [[index, redact(text, choice).text] for index, text in found.remarks]
    return found


def _ask_password(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The form for the password, and its answer: in, wrong (403), or a pause after five wrong ones (429)."""
    context: dict[str, Any] = {"token": token}
    if int(ask("counted", _key(TRY, request, found))) >= TRIES:  # wrong passwords from this address
        return render(request, "sessions/links/locked.html", context | {"paused": True}, status=429)
    if request.method != "POST":
        return render(request, "sessions/links/locked.html", context, status=401)
    if not _opens(request, found, request.POST.get("password", "")):
        return render(request, "sessions/links/locked.html", context | {"wrong": True}, status=403)
    response = redirect("sessions:link", token)
    remember(request, response, found)
    return response


def count(what: str, request: HttpRequest, link: ReplayLink, seconds: int) -> int:
    """How often the visitor's address has done ``what`` with the link in the last ``seconds``, this time included."""
    return int(ask("count", _key(what, request, link), seconds))


def _key(what: str, request: HttpRequest, link: ReplayLink) -> str:
    return f"link-{what}:{link.token_hash}:{network(request.META.get('REMOTE_ADDR', ''))}"


TRY = "try"
TRIES, PAUSE = 5, 15 * 60
"""Wrong passwords from one address before a pause, and its seconds."""
HOURS_OPEN = 12


def _is_open(request: HttpRequest, link: ReplayLink) -> bool:
    """Whether this browser may see the link: there is no password, or it was typed here within 12 hours."""
    if not link.password:
        return True
    found = request.get_signed_cookie(_name(link), default="", salt=link.password, max_age=HOURS_OPEN * 3600)
    return found == link.token_hash


def _opens(request: HttpRequest, link: ReplayLink, password: str) -> bool:
    """Whether the password is right; each try is counted before it is looked at, so that many at once gain nothing."""
    if count(TRY, request, link, PAUSE) > TRIES or not check_password(password, link.password):
        return False
    ask("forgive", _key(TRY, request, link))
    return True


def remember(request: HttpRequest, response: HttpResponse, link: ReplayLink) -> None:
    """Let this browser in for 12 hours; a new address or password ends that."""
    response.set_signed_cookie(
        _name(link),
        link.token_hash,
        salt=link.password,
        max_age=HOURS_OPEN * 3600,
        path=f"{get_script_prefix()}l/",
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _name(link: ReplayLink) -> str:
    return f"link-{link.pk}"
