"""Why it compacted, or should have: verdicts, the gates of known harnesses, and the fit behind the figures."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions.engine.errors import UnreadableInput
from sessions.pages.ui.view import asks_fragment, session_or_404, varied
from sessions.pages.why.context import why_document, why_view
from sessions.pages.why.rules import build_rules
from sessions.runs.overview import overview
from sessions.runs.rules import rules_of

if TYPE_CHECKING:
    from django.http import HttpRequest


@require_safe
def why(request: HttpRequest, session_id: str) -> HttpResponse:
    """The whole page; it reads the same without a script, the charts' figures stand in its tables."""
    found = session_or_404(session_id)
    view = overview(found.pk)
    branch = ["--branch", found.branch] if found.branch_of_id else []
    context: dict[str, Any] = {
        "session": found,
        "tab": "why",
        "share_view": "session",
        "cli": shlex.join(["ctxweb", "why", found.filename, *branch]),
        "json_url": reverse("sessions:why_json", args=[found.pk]),
        "overcounts": len(view.only["overcount"]),
        "why": why_view(found.pk, view),
    }
    answer = render(request, "sessions/why/page.html", context)
    view.keep()
    return answer


@require_safe
def why_rules(request: HttpRequest, session_id: str) -> HttpResponse:
    """What became of rules at each recorded compaction: a part for htmx, for it reads every text; else a page."""
    found = session_or_404(session_id)
    context: dict[str, Any] = {"session": found, "tab": "why", "share_view": "session"}
    try:
        context["rules"] = build_rules(found.pk, rules_of(found))
    except UnreadableInput as error:
        context["error"] = f"{error}."
    name = "sessions/why/_rules.html" if asks_fragment(request) else "sessions/why/rules.html"
    return varied(render(request, name, context))


@require_safe
def why_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.why/1`` of this session."""
    found = session_or_404(session_id)
    return JsonResponse(why_document(overview(found.pk)), json_dumps_params={"ensure_ascii": False})
