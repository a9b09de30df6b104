"""Why it compacted, or should have: verdicts, the gates of known harnesses, and the fit behind the figures."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions.engine.base.errors import UnreadableInput
from sessions.models import Session
from sessions.pages.session.state import near, parse
from sessions.pages.ui.view import as_json, asks_fragment, command_line, not_yet, session_or_404, varied
from sessions.pages.why.aftermath import AftermathTable, RecordedView, RulesView
from sessions.pages.why.context import why_document, why_view
from sessions.pages.why.over_counts import triggers_near
from sessions.runs.losses import BY_ITSELF, rules_of
from sessions.runs.overview import overview
from sessions.runs.replay_state import own_way


@require_safe
def why(request: HttpRequest, session_id: str) -> HttpResponse:
    """The whole page; it reads the same without a script, the charts' figures stand in its tables."""
    found = session_or_404(session_id)
    if (waits := not_yet(request, found, "why")) is not None:
        return waits
    view = overview(found.pk)
    context: dict[str, Any] = {
        "session": found,
        "tab": "why",
        "share_view": "session",
        "cli": command_line(found, "why"),
        "json_url": reverse("sessions:why_json", args=[found.pk]),
        "view": view,
        "why": why_view(found.pk, view),
        "own_way": own_way(view.weighed),
        "by_itself": len(view.messages) <= BY_ITSELF,
    }
    answer = render(request, "sessions/why/page.html", context)
    view.keep()
    return answer


@require_safe
def why_aftermath(request: HttpRequest, session_id: str) -> HttpResponse:
    """What came after each compaction, from ``?start=`` on: a part for htmx, else a page."""
    found = session_or_404(session_id)
    view = overview(found.pk)
    table = AftermathTable(found.pk, view, parse(request.GET).start or 0)
    return _pane(request, found, "_aftermath", {"aftermath": table, "nothing": not view.aftermaths})


@require_safe
def why_recorded(request: HttpRequest, session_id: str) -> HttpResponse:
    """Recorded compactions beside the policy, from ``?start=`` on: a part for htmx, else a page."""
    found = session_or_404(session_id)
    view = overview(found.pk)
    start, found_there = parse(request.GET).start or 0, view.comparison
    table = RecordedView(found.pk, found_there, start) if found_there else None
    return _pane(request, found, "_recorded", {"recorded": table, "nothing": table is None})


def _pane(request: HttpRequest, found: Session, name: str, context: dict[str, Any]) -> HttpResponse:
    pane = f"sessions/why/{name}.html"
    context |= {"session": found, "tab": "why", "share_view": "session", "pane": pane}
    is_part = asks_fragment(request) and not context.get("nothing")
    return varied(render(request, pane if is_part else "sessions/why/pane.html", context))


@require_safe
def why_rules(request: HttpRequest, session_id: str) -> HttpResponse:
    """What became of rules at each recorded compaction: a part for htmx, for it reads every text; else a page."""
    found = session_or_404(session_id)
    context: dict[str, Any] = {}
    try:
        context["rules"] = RulesView(rules_of(found))
    except UnreadableInput as error:
        context["error"] = str(error)
    return _pane(request, found, "_rules", context)


@require_safe
def why_chart(request: HttpRequest, session_id: str) -> HttpResponse:
    """The chart of triggers as JSON, finer between the requests ``?from=`` and ``to=``: asked for at a zoom."""
    found, asked = session_or_404(session_id), near(request.GET)
    view = overview(found.pk)
    text = why_view(found.pk, view).gates.figure if asked is None else triggers_near(found.pk, view, asked)
    return HttpResponse(text, content_type="application/json")


@require_safe
def why_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.why/1`` of this session."""
    found = session_or_404(session_id)
    return as_json(why_document(overview(found.pk)))
