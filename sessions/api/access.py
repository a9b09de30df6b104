"""Who calls the API, a token, or anybody where the server asks for no account; and what its operations share.

Cookies count for nothing here, so another site's page cannot make a browser act with them.  Without accounts a browser
still carries requests of other sites to this machine: what changes something is refused to them by its origin.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.cache import get_conditional_response, patch_cache_control
from ninja import Schema
from ninja.security import HttpBearer
from pydantic import Field

from sessions import selectors
from sessions.models import EVERYTHING, Scope, Session, Viewer
from sessions.services import tokens

MEDIA_TYPE = "application/problem+json"


class ProblemDocument(Schema):
    """What went wrong: ``detail`` in words, ``errors`` by parameter where some are wrong."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: dict[str, str] = Field(default_factory=dict)


class ProblemError(Exception):
    """An answer that is a problem."""

    def __init__(self, status: int, detail: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, dict(errors or {})


def problem(request: HttpRequest, error: ProblemError) -> HttpResponse:
    """The problem as an answer."""
    found = ProblemDocument(
        title=HTTPStatus(error.status).phrase, status=error.status, detail=error.detail, errors=error.errors
    )
    response = HttpResponse(found.model_dump_json(), status=error.status, content_type=MEDIA_TYPE)
    if error.status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="ctxweb"'
    return response


def document(request: HttpRequest, found: Mapping[str, Any], status: int = 200) -> HttpResponseBase:
    """A document with the ETag of its bytes; 304 for a caller who has it."""
    body = json.dumps(found, ensure_ascii=False, cls=DjangoJSONEncoder).encode("utf-8", "replace")
    response = HttpResponse(body, status=status, content_type="application/json")
    patch_cache_control(response, private=True, no_cache=True)
    if status != HTTPStatus.OK:
        return response
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response["ETag"] = etag
    found_response: HttpResponseBase = get_conditional_response(request, etag=etag, response=response)  # type: ignore[assignment]
    return found_response


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
