"""Errors of the API as problem documents (RFC 9457), and answers as documents with an ETag."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from ninja import Schema
from pydantic import Field

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
