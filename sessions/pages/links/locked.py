"""Links with a password: who has typed it, and how often one may try."""

from __future__ import annotations

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix

from sessions.models import ReplayLink
from sessions.pages.links import often

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
    return often.counted(TRY, request, link) >= TRIES


def opens(request: HttpRequest, link: ReplayLink, password: str) -> bool:
    """Whether the password is right; each try is counted before it is looked at, so that many at once gain nothing."""
    if often.count(TRY, request, link, PAUSE) > TRIES or not check_password(password, link.password):
        return False
    often.forgive(TRY, request, link)
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
