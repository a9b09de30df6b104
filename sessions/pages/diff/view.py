"""Before and after of one event: the whole page, one unfolded run for htmx, and the diff document."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions.engine.base.errors import BadParameter
from sessions.engine.reports import report
from sessions.models import Session
from sessions.pages.ab import state as ab_state
from sessions.pages.diff.context import DiffView, build_diff, build_run
from sessions.pages.ui import exports
from sessions.pages.ui.addresses import Urls, session_urls
from sessions.pages.ui.view import as_json, asks_fragment, refused, session_or_404, shared_context, varied
from sessions.runs import replay_state as urlstate
from sessions.runs import replays
from sessions.runs.overview import overview


@require_safe
def diff(request: HttpRequest, session_id: str) -> HttpResponse:
    """The page; htmx asking for ``rows`` gets that run alone, asking for the view gets the view."""
    found = session_or_404(session_id)
    state, b, urls = _asked(request, found)
    if asks_fragment(request) and state.rows is not None:
        return varied(render(request, "sessions/diff/_rows.html", {"lines": build_run(found, state, urls, b)}))
    view = build_diff(found, state, urls, b)
    context = shared_context(found, state, "diff") | {"diff": view}
    context["kept"] = parse_qsl(urlstate.query(urlstate.only_replayed(state)))
    if urls.beside:
        joined = "&" if "?" in context["json_url"] else "?"
        context |= {"cli": "", "json_url": f"{context['json_url']}{joined}{urls.beside}", "share_view": "replay"}
    if isinstance(view, DiffView):
        context["exports"] = exports.choices(found, _exported(state, view, urls))
        context["cli"] = context["cli"] if view.number is not None else ""
    if asks_fragment(request):
        return varied(render(request, "sessions/diff/_view.html", context))
    return varied(render(request, "sessions/diff/page.html", context, status=400 if state.errors else 200))


def _asked(request: HttpRequest, found: Session) -> tuple[urlstate.ReplayState, urlstate.ReplayState | None, Urls]:
    """The state, the second replay where the address has one, and where the page's links lead."""
    own = overview(found.pk).weighed
    urls, query = session_urls(found.pk), request.GET.dict()
    if not ab_state.names_b(query):
        return urlstate.parse(query, own), None, urls
    two = ab_state.parse(query | {"b.session": ""}, own, own)
    return replace(two.a, errors=two.errors), two.b, replace(urls, beside=ab_state.second_query(two))


def _exported(state: urlstate.ReplayState, view: DiffView, urls: Urls) -> list[tuple[str, str, str]]:
    """The lists of the export menu: both sides of the event, else what was sent at each request."""
    if view.number is not None:
        return exports.event_lists(
            urlstate.query(state, event=view.number, request=None, rows=None, layout="", only="")
        )
    sides = [(f"sent at request {at:,}", state, at) for at in view.between]
    if view.two_replays:
        second = ab_state.parse({"b.x": ""} | dict(parse_qsl(urls.beside))).b
        sides = [("of A", state, view.request), ("of B", second, view.request)]
    return [
        exports.request_list(words, side.policy, urlstate.query(urlstate.only_replayed(side), request=at))
        for words, side, at in sides
    ]


@require_safe
def diff_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.diff/1`` of the same address; 400 with the reasons for a wrong one."""
    found = session_or_404(session_id)
    state, b, _ = _asked(request, found)
    if state.errors:
        return refused(state.errors)
    ran = replays.run(found.pk, state)
    try:
        if b is not None:
            at = state.request or 0
            document = report.between_document(ran.replay, at, at, replays.run(found.pk, b).replay)
        elif state.between is not None:
            document = report.between_document(ran.replay, *state.between)
        else:
            document = report.diff_document(ran.replay, state.event or 0)
    except BadParameter as error:
        return refused({"event": str(error)})
    if ran.error:
        return refused({"replay": ran.error})
    return as_json(document)
