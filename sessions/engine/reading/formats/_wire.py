"""Where an API's request and response stand in a document that may hold one of them or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sessions.engine.reading.formats import Sniff
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Record
from sessions.engine.transcript.types import Origin


def pair_in(
    document: Record, is_request: Callable[[Record], object], is_response: Callable[[Record], object]
) -> tuple[Record | None, Record | None]:
    """The request and the response in ``document``, or what it is itself; None for what is not there."""
    held = document.get("request"), document.get("response")
    request, response = held if any(isinstance(body, dict) for body in held) else (document, document)
    return (
        request if isinstance(request, dict) and is_request(request) else None,
        response if isinstance(response, dict) and is_response(response) else None,
    )


def bodies_at(document: Record, whole: Origin) -> tuple[Origin, Origin]:
    """Where the request and the response of ``pair_in`` stand."""
    named = any(isinstance(document.get(key), dict) for key in ("request", "response"))
    return (inside(whole, "request"), inside(whole, "response")) if named else (whole, whole)


def closest(shapes: Iterable[Sniff | None], what: str) -> Sniff | None:
    """The surest guess of those about the items of a list, which is ``what``; None where none is sure of any."""
    best = max(filter(None, shapes), key=lambda shape: shape.score, default=None)
    return Sniff(best.score - 5, f"{what}; one item is {best.reason}") if best and best.score > 0 else None
