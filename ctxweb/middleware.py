"""Middleware of the project: a request id, the upload limit, and the login wall of installations with accounts."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse, JsonResponse
from django.shortcuts import resolve_url

from ctxweb import logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    GetResponse = Callable[[HttpRequest], HttpResponseBase]

OPEN_PREFIXES = ("/l/", "/login/", "/static/")
OPEN_PATHS = {"/healthz", "/readyz"}
"""What a visitor without an account may see: replay links, the way in, static files and health."""

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id(get_response: GetResponse) -> GetResponse:
    """Take ``X-Request-ID`` from a proxy or make one; log lines and the response carry it."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        value = given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        token = logs.request_id.set(value)
        try:
            response = get_response(request)
        finally:
            logs.request_id.reset(token)
        response["X-Request-ID"] = value
        return response

    return middleware


def upload_limit(get_response: GetResponse) -> GetResponse:
    """Refuse a body over ``CTXWEB_MAX_UPLOAD_MB`` before a byte of it is read."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > settings.MAX_UPLOAD_BYTES:
            n_mb = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            message = f"This upload is larger than {n_mb:,} MB. Raise CTXWEB_MAX_UPLOAD_MB, or use ctxweb ingest.\n"
            return HttpResponse(message, status=413, content_type="text/plain; charset=utf-8")
        return get_response(request)

    return middleware


def login_wall(get_response: GetResponse) -> GetResponse:
    """With ``CTXWEB_REQUIRE_LOGIN``, send visitors without an account to the login page.

    A page redirects there and back; htmx is told to leave the page; a ``.json`` or ``.csv`` URL answers 401.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        is_open = request.path in OPEN_PATHS or request.path.startswith(OPEN_PREFIXES)
        if not settings.REQUIRE_LOGIN or is_open or request.user.is_authenticated:
            return get_response(request)
        if request.path.endswith((".json", ".csv")):
            return JsonResponse({"error": "Sign in first."}, status=401)
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=401, headers={"HX-Redirect": resolve_url(settings.LOGIN_URL)})
        return redirect_to_login(request.get_full_path())

    return middleware
