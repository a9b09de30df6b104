"""Links with a password, and how often a visitor's address does something with a link: counted by the server."""

from __future__ import annotations

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix

from ctxweb.address import network
from sessions.adapters.memory import ask
from sessions.models import ReplayLink


def count(what: str, request: HttpRequest, link: ReplayLink, seconds: int) -> int:
    """How often the visitor's address has done ``what`` with the link in the last ``seconds``, this time included."""
    return int(ask("count", _key(what, request, link), seconds))


def counted(what: str, request: HttpRequest, link: ReplayLink) -> int:
    """How often it was done so far."""
    return int(ask("counted", _key(what, request, link)))


def forgive(what: str, request: HttpRequest, link: ReplayLink) -> None:
    """Count from the beginning again."""
    ask("forgive", _key(what, request, link))


def _key(what: str, request: HttpRequest, link: ReplayLink) -> str:
    return f"link-{what}:{link.token_hash}:{network(request.META.get('REMOTE_ADDR', ''))}"


TRY = "try"
TRIES, PAUSE = 5, 15 * 60
"""Wrong passwords from one address before a pause, and its seconds."""
HOURS_OPEN = 12


def is_open(request: HttpRequest, link: ReplayLink) -> bool:
    """Whether this browser may see the link: there is no password, or it was typed here within 12 hours."""
    if not link.password:
        return True
    found = request.get_signed_cookie(_name(link), default="", salt=link.password, max_age=HOURS_OPEN * 3600)
    return found == link.token_hash


def paused(request: HttpRequest, link: ReplayLink) -> bool:
    """Whether too many wrong passwords came from this address."""
    return counted(TRY, request, link) >= TRIES


def opens(request: HttpRequest, link: ReplayLink, password: str) -> bool:
    """Whether the password is right; each try is counted before it is looked at, so that many at once gain nothing."""
    if count(TRY, request, link, PAUSE) > TRIES or not check_password(password, link.password):
        return False
    forgive(TRY, request, link)
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
