"""Counts by the provider: of one message in the inspector, of the whole session on a page of its own."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.texts import Texts
from sessions.models import Session
from sessions.pages.ui.view import part_or_page, private, session_or_404
from sessions.services import exact_counts, model_access

SECONDS = 4.0
"""How long one request goes on counting; the page then asks for the next part."""
GLANCE_BYTES = 20_000_000
"""Sessions up to this size show at once what was counted before; of larger ones reading the text takes too long."""
MOST_MODEL = 100


@require_POST
def message_count(request: HttpRequest, session_id: str, index: int) -> HttpResponse:
    """One message counted: a part of the inspector for htmx, the session's counting page with this range else."""
    found = session_or_404(session_id)
    if index >= found.n_messages:
        raise Http404("There is no such message.")
    context = _context(request, found) | {"index": index}
    context |= _counted(request, found, context["model"], (index, index + 1))
    return private(part_or_page(request, "sessions/counts/_message.html", "sessions/counts/message.html", context))


@require_http_methods(["GET", "HEAD", "POST"])
def session_count(request: HttpRequest, session_id: str) -> HttpResponse:
    """Every message, range by range; a POST asks for what is missing, four seconds' worth at a time."""
    found = session_or_404(session_id)
    context = _context(request, found) | {"tab": "count"}
    asking = request.method == "POST"
    if asking or found.wire_bytes <= GLANCE_BYTES:
        context |= _counted(request, found, context["model"], None, asking=asking)
    counted: exact_counts.Counted | None = context.get("counted")
    context["goes_on"] = bool(
        asking and context["has_key"] and counted and not counted.complete and not counted.stopped
        and any(one.provider is None and not one.error for one in counted.ranges)
    )  # fmt: skip
    context["n_ranges"] = len(exact_counts.cut(selectors.load_weighed(found.pk))) if found.n_messages else 0
    return private(part_or_page(request, "sessions/counts/_view.html", "sessions/counts/page.html", context))


def _counted(
    request: HttpRequest, found: Session, model: str, only: tuple[int, int] | None, *, asking: bool = True
) -> dict[str, Any]:
    weighed = selectors.load_weighed(found.pk)
    access = model_access.request_access(request) if asking else None
    try:
        ranges = exact_counts.cut(weighed, *(only or (0, None))) if found.n_messages else ()
        with selectors.open_text(found) as file:
            texts = Texts(lambda: file, found.format)
            counted = exact_counts.count(weighed, texts.of, access, model, ranges, seconds=SECONDS)
    except UnreadableInput as error:
        return {"problem": str(error)}
    labels = {str(label) for label in weighed.labels[slice(*only) if only else slice(None)]}
    label = next((one for one in ("estimated", "calibrated") if one in labels), "measured")
    return {"counted": counted, "label": label}


def _context(request: HttpRequest, found: Session) -> dict[str, Any]:
    asked = (request.POST.get("model") or request.GET.get("model") or "").strip()[:MOST_MODEL]
    model = exact_counts.counting_model(found.model, asked)
    return {"session": found, "model": model, **model_access.key_facts(request)}
