"""Who calls the API: a token, or anybody where the server asks for no account.

Cookies count for nothing here, so another site's page cannot make a browser act with them.  Without accounts a browser
still carries requests of other sites to this machine: what changes something is refused to them by its origin.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware

from sessions.models import EVERYTHING, Scope, Viewer
from sessions.services import tokens

PREFIX = "/api/"
SAFE = ("GET", "HEAD", "OPTIONS")
OWN_SITES = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose eyes a call has and what it may do; ``problem`` says why it may do nothing."""

    viewer: Viewer
    scopes: frozenset[str] = frozenset()
    problem: str = ""


def caller_of(request: HttpRequest) -> Caller:
    """The caller of a request to the API."""
    header = request.headers.get("Authorization", "")
    if header:
        return _with_token(header)
    if settings.REQUIRE_LOGIN:
        return Caller(Viewer(), problem="This server asks for a token: Authorization: Bearer ctxweb_…")
    if request.method not in SAFE and _is_foreign(request):
        return Caller(EVERYTHING, frozenset({Scope.READ}))
    return Caller(EVERYTHING, frozenset(Scope.values))


def _with_token(header: str) -> Caller:
    kind, _, secret = header.partition(" ")
    found = tokens.find_token(secret.strip()) if kind.lower() == "bearer" else None
    if found is None or (found.owner is None and settings.REQUIRE_LOGIN):
        return Caller(Viewer(), problem="This token is unknown, revoked or has expired.")
    if not settings.REQUIRE_LOGIN:
        return Caller(EVERYTHING, frozenset(found.scopes))
    owner = found.owner
    assert owner is not None  # noqa: S101 - said above
    return Caller(Viewer(owner.pk, is_admin=owner.is_superuser), frozenset(found.scopes))


def _is_foreign(request: HttpRequest) -> bool:
    """Whether a browser sends this for another site's page."""
    if request.headers.get("Sec-Fetch-Site", "none") not in OWN_SITES:
        return True
    csrf = CsrfViewMiddleware(lambda _: None)  # type: ignore[arg-type]
    return "Origin" in request.headers and not csrf._origin_verified(request)  # type: ignore[attr-defined]
