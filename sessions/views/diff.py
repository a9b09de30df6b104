"""Before and after of one event: the whole page, one unfolded run for htmx, and the diff document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions.contexts import exports, replays
from sessions.contexts.diff import DiffView, build_diff, build_run
from sessions.contexts.overview import overview
from sessions.engine import report
from sessions.engine.errors import BadParameter
from sessions.urlstate import replay as urlstate
from sessions.views.replay import refused, shared_context
from sessions.views.session import asks_fragment, session_or_404, varied

if TYPE_CHECKING:
    from django.http import HttpRequest


@require_safe
def diff(request: HttpRequest, session_id: str) -> HttpResponse:
    """The page; htmx asking for ``rows`` gets that run alone, asking for the view gets the view."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET.dict(), overview(found.pk).weighed.window)
    if asks_fragment(request) and state.rows is not None:
        return varied(render(request, "sessions/_diff_rows.html", {"lines": build_run(found, state)}))
    context = shared_context(found, state, "diff") | {"diff": build_diff(found, state)}
    context["exports"] = exports.diff_choices(found, context["query"]) if isinstance(context["diff"], DiffView) else ()
    if asks_fragment(request):
        return varied(render(request, "sessions/_diff_view.html", context))
    return varied(render(request, "sessions/diff.html", context, status=400 if state.errors else 200))


@require_safe
def diff_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.diff/1`` of the same address; 400 with the reasons for a wrong one."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET.dict(), overview(found.pk).weighed.window)
    if state.errors:
        return refused(state)
    ran = replays.run(found.pk, state)
    try:
        document = report.diff_document(ran.replay, state.event or 0)
    except BadParameter as error:
        return JsonResponse({"errors": {"event": str(error)}}, status=400)
    if ran.error:
        return JsonResponse({"errors": {"replay": ran.error}}, status=400)
    return JsonResponse(document, json_dumps_params={"ensure_ascii": False})
