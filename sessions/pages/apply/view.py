"""Apply it: the configuration of real agents for one replay, as a page and as a document."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.reports.configuration import apply_document, configure
from sessions.pages.ui.view import (
    as_json,
    asks_fragment,
    chosen_snippet,
    command_file,
    part_or_page,
    refused,
    session_or_404,
)
from sessions.runs import replay_state


@require_safe
def apply(request: HttpRequest, session_id: str) -> HttpResponse:
    """The configuration of real agents for the replay of the address: a page, or the part that the lab asks for."""
    found = session_or_404(session_id)
    weighed = selectors.load_weighed(found.pk)
    state = replay_state.parse(request.GET.dict(), weighed)
    try:
        snippets = configure(state.policy, state.given, window=state.window, weighed=weighed)
    except (BadParameter, UnknownName) as error:
        return HttpResponse(f"{error}.", status=400, content_type="text/plain; charset=utf-8")
    query = replay_state.query(state)
    command = replay_state.apply_command(state, command_file(found))
    context = {
        "session": found, "tab": "replay", "query": query, "state": state, "cli": command, "apply_cli": command,
        "apply_part": asks_fragment(request),
        "agent_here": f"{reverse('sessions:apply', args=[found.pk])}?{query}",
        "json_url": f"{reverse('sessions:apply_json', args=[found.pk])}?{query}",
        **chosen_snippet(snippets, request.GET.get("agent", "")),
    }  # fmt: skip
    return part_or_page(request, "sessions/apply/_view.html", "sessions/apply/page.html", context)


@require_safe
def apply_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.apply/1`` of the same address."""
    found = session_or_404(session_id)
    weighed = selectors.load_weighed(found.pk)
    state = replay_state.parse(request.GET.dict(), weighed)
    if state.errors:
        return refused(state.errors)
    snippets = configure(state.policy, state.given, window=state.window, weighed=weighed)
    return as_json(apply_document(state.policy, state.given, snippets))
