"""The page that describes the API: every operation with its parameters, made of the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions.api.routes import api


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation as the page shows it."""

    name: str
    place: str
    kind: str
    default: str
    about: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; ``about`` are words and code in turn, ``answers`` its status codes."""

    id: str
    method: str
    path: str
    summary: str
    about: tuple[tuple[bool, str], ...]
    parameters: tuple[Parameter, ...]
    answers: str


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The page."""
    context = {"operations": operations(dict(api.get_openapi_schema())), "accounts": settings.REQUIRE_LOGIN}
    return render(request, "sessions/api/page.html", context)


def operations(found: dict[str, Any]) -> tuple[Operation, ...]:
    """Every operation of an OpenAPI document, in its order."""
    return tuple(
        Operation(
            one["operationId"],
            method.upper(),
            path,
            one.get("summary", ""),
            tuple((at % 2 == 1, words) for at, words in enumerate(one.get("description", "").split("`"))),
            tuple(_parameter(p) for p in one.get("parameters", ())),
            ", ".join(str(code) for code in one["responses"]),
        )
        for path, methods in found["paths"].items()
        for method, one in methods.items()
    )


def _parameter(found: dict[str, Any]) -> Parameter:
    schema = found["schema"]
    kinds = [schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))]
    default = schema.get("default")
    return Parameter(
        found["name"],
        found["in"],
        " or ".join(kind for kind in kinds if kind and kind != "null"),
        "" if default in (None, "", []) else str(default),
        found.get("description", schema.get("description", "")),
    )
