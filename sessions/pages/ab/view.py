"""Two replays side by side: the page, its results for htmx, and both documents."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.models import Session
from sessions.pages.ab import state as urlstate
from sessions.pages.ab.context import AbView
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.controls import Controls
from sessions.pages.ui.view import as_json, asks_fragment, command_file, refused, session_or_404, varied
from sessions.runs import replay_state, replays
from sessions.runs.overview import overview

MOST_OTHERS = 60


@require_safe
def ab(request: HttpRequest, session_id: str) -> HttpResponse:
    """The page; a wrong address shows the nearest replays, says what is wrong and answers 400."""
    found, other, state = read(request, session_id)
    context = _context(found, other, state) | {"ab": AbView(found, other, state)}
    if asks_fragment(request):
        was = (request.GET.get("was"), request.GET.get("b.was"))
        swap = was not in {(None, None), (state.a.policy, state.b.policy)}
        context |= (_forms(found, other, state) if swap else {}) | {"oob": True}
        return varied(render(request, "sessions/ab/_swap.html", context))
    context |= _forms(found, other, state)
    return varied(render(request, "sessions/ab/page.html", context, status=400 if state.errors else 200))


@require_safe
def ab_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.ab/1``: both ``ctxweb.replay/1`` documents; 400 with the reasons for a wrong address."""
    found, other, state = read(request, session_id)
    runs = {"a": replays.run(found.pk, state.a), "b": replays.run(other.pk, state.b)}
    errors = dict(state.errors) | {side: ran.error for side, ran in runs.items() if ran.error}
    if errors:
        return refused(errors)
    sides = {side: replays.document(ran) for side, ran in runs.items()}
    return as_json({"schema": "ctxweb.ab/1", "sessions": {"a": found.pk, "b": other.pk}} | sides)


def read(request: HttpRequest, session_id: str) -> tuple[Session, Session, urlstate.AbState]:
    """A's session, B's session and the state; 404 where either is not there."""
    found = session_or_404(session_id)
    query = request.GET.dict()
    other_id = query.get("b.session", "")[: urlstate.MOST_ID]
    other = session_or_404(other_id) if other_id and other_id != found.pk else found
    if other is found:
        query.pop("b.session", None)
    sessions = [overview(session.pk).weighed for session in (found, other)]
    return found, other, urlstate.parse(query, *sessions)


def _forms(found: Session, other: Session, state: urlstate.AbState) -> dict[str, Any]:
    return {
        "form_a": Controls(selectors.load_weighed(found.pk), state.a),
        "form_b": Controls(selectors.load_weighed(other.pk), state.b, prefix=urlstate.PREFIX),
    }


def _context(found: Session, other: Session, state: urlstate.AbState) -> dict[str, Any]:
    here = urlstate.query(state)
    path = reverse("sessions:ab", args=[found.pk])
    sides = (state.a, found), (state.b, other)
    commands = [replay_state.replay_command(side, command_file(of)) for side, of in sides]
    plain = replay_state.query(state.a, request=None, event=None)
    others = selectors.session_list(limit=MOST_OTHERS).sessions
    return {
        "session": found,
        "other": other,
        "others": others if any(one.pk == other.pk for one in others) else (other, *others),
        "tab": "ab",
        "state": state,
        "query": replay_state.query(state.a, request=None),
        "here": f"{path}?{here}",
        "commands": commands,
        "compare_href": f"{reverse('sessions:sweep', args=[found.pk])}?{plain}",
        "share_view": "replay",
        "options": [" ".join(f"{name}={value}" for name, value in side.params) for side in (state.a, state.b)],
        "json_url": f"{reverse('sessions:ab_json', args=[found.pk])}?{here}",
        "urls": session_urls(found.pk),
    }
