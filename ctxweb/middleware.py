"""Middleware of the project: a request id, limits of bodies, who may upload, the login wall, who looks, packing."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import resolve_url
from django.utils.cache import patch_vary_headers

from ctxweb import logs, refusals
from sessions.api import access
from sessions.models import EVERYTHING, Scope, Viewer, seen_as

GetResponse = Callable[[HttpRequest], HttpResponseBase]

REFUSAL, GATE = "ctxweb.refusal", "ctxweb.gate"
"""Keys of the WSGI environment that ``ctxweb.front`` sets; no header can, since those begin with HTTP_."""

OPEN_PREFIXES = ("/api/", "/l/", "/join/", "/login/", "/static/")
OPEN_PATHS = {"/healthz", "/readyz"}
"""What a visitor without an account may see: links, ways in, the API (it asks for tokens), static files, health."""

_csrf = CsrfViewMiddleware(lambda request: HttpResponse())
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class Gate:
    """The question whether a caller may upload; whoever lets it through opens it."""

    is_open: bool = False


def middleware(answer: Callable[[HttpRequest, GetResponse], HttpResponseBase]) -> Callable[[GetResponse], GetResponse]:
    """A middleware of Django's made of what is given the request, and whoever answers it behind."""

    @wraps(answer)
    def made(get_response: GetResponse) -> GetResponse:
        return lambda request: answer(request, get_response)

    return made


@middleware
def request_id(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Take ``X-Request-ID`` from a proxy or make one; log lines and the response carry it."""
    given = request.headers.get("X-Request-ID", "")
    value = given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
    token = logs.request_id.set(value)
    try:
        response = get_response(request)
    finally:
        logs.request_id.reset(token)
    response["X-Request-ID"] = value
    return response


@middleware
def body_limit(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Refuse a body that this route does not take before a byte of it is read, or as ``ctxweb.front`` asks."""
    refusal: refusals.Refusal | None = request.META.get(REFUSAL)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if refusal is None and length.isdigit() and int(length) > refusals.most_bytes(request.path_info):
        refusal = refusals.too_large(request.path_info)
    return get_response(request) if refusal is None else refusals.response(request, refusal)


@middleware
def upload_gate(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Answer whether this caller may upload, before the upload is received: no view runs, the body is not there yet.

    Innermost, so that everything before it has agreed.  Another site's page may make a browser send a form, but may
    not fill the disk with it: its origin is looked at here, its token with the whole form.
    """
    gate: Gate | None = request.META.get(GATE)
    if gate is None:
        return get_response(request)
    if "Origin" in request.headers and not _csrf._origin_verified(request):  # type: ignore[attr-defined]
        fact = "Another site sent this upload. Nothing was stored."
        return refusals.response(request, refusals.Refusal(403, "Not allowed", fact, "Use the page of ctxweb."))
    if request.path_info.startswith(access.PREFIX) and Scope.UPLOAD not in access.caller_of(request).scopes:
        fact = "This needs a token with the scope upload. Nothing was stored."
        return refusals.response(request, refusals.Refusal(401, "Not allowed", fact, "Make one: `ctxweb token`."))
    gate.is_open = True
    return HttpResponse(status=204)


@middleware
def login_wall(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """With ``CTXWEB_REQUIRE_LOGIN``, send visitors without an account to the login page, and back; data answers 401."""
    is_open = request.path_info in OPEN_PATHS or request.path_info.startswith(OPEN_PREFIXES)
    if not settings.REQUIRE_LOGIN or is_open or request.user.is_authenticated:
        return get_response(request)
    if request.path.endswith((".json", ".csv")):
        return JsonResponse({"error": "Sign in first."}, status=401)
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(status=401, headers={"HX-Redirect": resolve_url(settings.LOGIN_URL)})
    return redirect_to_login(request.get_full_path())


def viewer_of(request: HttpRequest) -> Viewer:
    """Whose eyes a request has: its account's, or everybody's where no account is asked for."""
    if not settings.REQUIRE_LOGIN:
        return EVERYTHING
    user = request.user
    return Viewer(user.pk, is_admin=user.is_superuser) if user.is_authenticated else Viewer()


@middleware
def eyes(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Let selectors and services know who is looking (``sessions.models.viewer``)."""
    is_api = request.path_info.startswith(access.PREFIX)
    with seen_as(access.caller_of(request).viewer if is_api else viewer_of(request)):
        return get_response(request)


TEXTS = ("text/html", "application/json", "text/csv", "text/plain", "application/jsonl")
OWN = frozenset({"", "same-origin", "none"})
"""Who asks, as the browser says: this site, or a person; "" from what is no browser."""


@middleware
def packed(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Compress text that this site, or a person, asked for: never a stream.

    A compressed page that repeats words of its address beside a secret tells its length to whoever listens (BREACH), if
    another site's page makes the browser ask again and again: that is answered uncompressed.  Django pads the others.
    """
    response = get_response(request)
    if not isinstance(response, HttpResponse) or not response.get("Content-Type", "").startswith(TEXTS):
        return response
    patch_vary_headers(response, ["Sec-Fetch-Site"])
    if request.headers.get("Sec-Fetch-Site", "") not in OWN:
        return response
    return GZipMiddleware(get_response).process_response(request, response)
