"""Who calls the API, a token, or anybody where the server asks for no account; and what its operations share.

Cookies count for nothing here, so another site's page cannot make a browser act with them.  Without accounts a browser
still carries requests of other sites to this machine: what changes something is refused to them by its origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security import HttpBearer
from pydantic import Field

from sessions import selectors
from sessions.api.problems import ProblemDocument, ProblemError
from sessions.models import EVERYTHING, Scope, Session, Viewer
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


Id = Annotated[str, Field(pattern=r"^s_[a-z2-7]{12}$")]
Words = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 409, 410, 422), ProblemDocument)
DOCUMENT: dict[Any, Any] = {200: dict[str, Any], 304: None, **PROBLEMS}


class Token(HttpBearer):
    """A personal token with one of some scopes; not asked for where the server asks for no account."""

    def __init__(self, *scopes: Scope) -> None:
        super().__init__()
        self.scopes = scopes

    def __call__(self, request: HttpRequest) -> Any:
        """The caller, if they may; ninja calls this."""
        caller = caller_of(request)
        if caller.problem:
            raise ProblemError(401, caller.problem)
        if caller.scopes.isdisjoint(self.scopes):
            raise ProblemError(403, f"This needs a token with the scope {' or '.join(self.scopes)}.")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Not used: a call without a token may be allowed."""
        raise NotImplementedError


READ, UPLOAD, SHARE = (Token(scope) for scope in (Scope.READ, Scope.UPLOAD, Scope.SHARE))
FOLLOW = Token(Scope.READ, Scope.UPLOAD)
"""How far an upload is: whoever may upload may ask it of what they uploaded."""


def session_of(session_id: str) -> Session:
    """The session; raises ProblemError 404."""
    try:
        return selectors.get_session(session_id)
    except Session.DoesNotExist:
        raise ProblemError(404, "There is no such session.") from None
