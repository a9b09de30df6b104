"""The page that describes the API: every operation with its parameters, made of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions.api.routes import api


class Parameter:
    """A parameter of an operation as the page shows it."""

    def __init__(self, found: dict[str, Any]) -> None:
        schema = found["schema"]
        kinds = [schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))]
        default = schema.get("default")
        self.name, self.place = found["name"], found["in"]
        self.kind = " or ".join(kind for kind in kinds if kind and kind != "null")
        self.default = "" if default in (None, "", []) else str(default)
        self.about = found.get("description", schema.get("description", ""))


class Operation:
    """One operation; ``about`` are words and code in turn, ``answers`` its status codes."""

    def __init__(self, path: str, method: str, found: dict[str, Any]) -> None:
        self.id, self.path, self.method = found["operationId"], path, method.upper()
        self.summary = found.get("summary", "")
        self.about = [(at % 2 == 1, words) for at, words in enumerate(found.get("description", "").split("`"))]
        self.parameters = [Parameter(one) for one in found.get("parameters", ())]
        self.answers = ", ".join(str(code) for code in found["responses"])


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    context = {"operations": operations(dict(api.get_openapi_schema())), "accounts": settings.REQUIRE_LOGIN}
    return render(request, "sessions/api/page.html", context)


def operations(found: dict[str, Any]) -> tuple[Operation, ...]:
    """Every operation of an OpenAPI document, in its order."""
    return tuple(
        Operation(path, method, one) for path, methods in found["paths"].items() for method, one in methods.items()
    )
