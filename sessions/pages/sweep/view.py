"""Sweeps over one session or several: the page, its data, its background run."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sessions import selectors, tasks
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.quality.baseline import as_recorded
from sessions.engine.quality.columns import Lost, losses_by
from sessions.engine.sweeps.across import advise_all
from sessions.engine.sweeps.advice import Pick, advise
from sessions.engine.sweeps.report import sweep_document, sweep_table, validated_document
from sessions.models import Session, Sweeping, SweepRun
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.sweep import state as urlstate
from sessions.pages.sweep.context import SweepView
from sessions.pages.sweep.form import SweepForm
from sessions.pages.sweep.subagents import type_rows
from sessions.pages.ui.view import (
    as_json,
    asks_fragment,
    chosen_snippet,
    command_file,
    command_line,
    csv_file,
    private,
    refused,
    session_or_404,
    varied,
)
from sessions.runs import replay_state, replays, subagents, sweeps
from sessions.services import indexed, sweep_runs
from sessions.services.sweeping import versions

UNFINISHED = {Sweeping.QUEUED, Sweeping.RUNNING}
LISTED = 50
ASKED = frozenset({"over", *urlstate.SLOTS, "window", "pick", "b", "measure", "against", "sort"})
"""Parts of an address that ask for settings, or for a way to look at them."""


@require_safe
def sweep(request: HttpRequest, session_id: str) -> HttpResponse:
    """One session's sweep; a wrong address says what is wrong and answers 400."""
    found = session_or_404(session_id)
    state = _asked([found], request.GET, one=True)
    path = reverse("sessions:sweep", args=[found.pk])
    alone = urlstate.of_several([found])
    try:
        shown = _context(state, [found], path)
    except UnreadableInput:  # the texts that losses need are gone; everything else is known
        given = request.GET.copy()
        given["losses"] = "off"
        state = _asked([found], given, one=True)
        shown = _context(state, [found], path)
    is_nothing = shown["view"] is not None and shown["view"].is_nothing  # and nobody asked: then no chart is shown
    context = shown | {
        "session": found,
        "tab": "sweep",
        "query": replay_state.query(state.replay),
        "share_view": "session",
        "cli": command_line(found, "sweep", urlstate.arguments(state)),
        "json_url": f"{reverse('sessions:sweep_json', args=[found.pk])}?{urlstate.query(state)}",
        "csv_url": f"{reverse('sessions:sweep_csv', args=[found.pk])}?{urlstate.query(state)}",
        "several_href": f"{reverse('sessions:sweeps')}?{urlstate.query(state, **alone)}",
        "is_quiet": not state.several and is_nothing and not request.GET.keys() & ASKED,
        "n_compacted": selectors.n_compacted(),
        "subagents": () if state.errors or asks_fragment(request) else type_rows(state, subagents.by_type(found)),
        "all_href": f"{path}?{urlstate.query(state)}",
    }
    return _answer(request, context, "sessions/sweep/page.html")


@require_safe
def sweeps_page(request: HttpRequest) -> HttpResponse:
    """A sweep over the sessions of ``s=``; without any, they are chosen here."""
    sessions = _named(request)[: urlstate.MAX_SESSIONS]
    listed = selectors.session_list(limit=LISTED).sessions
    context: dict[str, Any] = {"listed": listed, "chosen": {one.pk for one in sessions}, "sessions": sessions}
    if not sessions:
        return render(request, "sessions/sweep/several.html", context)
    state = _asked(sessions, request.GET, one=False)
    query = urlstate.query(state)
    commands = [command_line(one, "sweep", urlstate.arguments(state)) for one in sessions[:2]]
    context |= _context(state, sessions, reverse("sessions:sweeps"))
    context |= {
        "cli": "; ".join(commands) + ("; …" if len(sessions) > 2 else ""),
        "json_url": f"{reverse('sessions:sweeps_json')}?{query}",
        "csv_url": f"{reverse('sessions:sweeps_csv')}?{query}",
    }
    return _answer(request, context, "sessions/sweep/several.html")


def _named(request: HttpRequest) -> list[Session]:
    return [session_or_404(one) for one in dict.fromkeys(request.GET.getlist("s"))]


def _asked(sessions: list[Session], query: QueryDict, *, one: bool) -> urlstate.SweepState:
    """What an address asks for, with a range where it names none; ``one``: it is that of one session's page."""
    weighed = selectors.load_weighed(sessions[0].pk)
    return urlstate.completed(urlstate.parse(query, weighed if one else None), weighed)


def _swept(state: urlstate.SweepState, sessions: list[Session]) -> sweeps.SweepResult:
    return sweeps.swept(urlstate.options_of(state, sessions), sessions)


def _context(state: urlstate.SweepState, sessions: list[Session], path: str) -> dict[str, Any]:
    swept = _swept(state, sessions)
    named = urlstate.query(replace(state, sessions=tuple(s.pk for s in sessions)))
    context: dict[str, Any] = {
        "state": state,
        "swept": swept,
        "form": SweepForm(state, selectors.load_weighed(sessions[0].pk)),
        "path": path,
        "start_url": f"{reverse('sessions:sweep_start')}?{named}{'' if state.sessions else '&one=1'}",
        "going": swept.run is not None and swept.run.state in UNFINISHED,
        "view": None,
    }
    if swept.sweeps and all(one.rows for one in swept.sweeps):
        view = SweepView(state, swept, sessions, path)
        lab = sweep_rows.replay_of(state, view.setting)
        context |= {"view": view, **chosen_snippet(view.snippets(), state.agent)}
        files = () if state.sessions else (command_file(sessions[0]),)
        context["apply_cli"] = replay_state.apply_command(lab, *files)
        context["agent_here"] = f"{path}?{urlstate.query(state, agent='')}"
    return context


def _answer(request: HttpRequest, context: dict[str, Any], template: str) -> HttpResponse:
    state, swept = context["state"], context["swept"]
    if asks_fragment(request):
        return private(varied(render(request, "sessions/sweep/_body.html", context)))
    return varied(render(request, template, context, status=400 if state.errors or swept.error else 200))


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Run the sweep of the address in the background, or what is left of it."""
    sessions = _named(request)[: urlstate.MAX_SESSIONS]
    if not sessions:
        return redirect("sessions:sweeps")
    one = bool(request.GET.get("one"))
    state = _asked(sessions, request.GET, one=one)
    path = reverse("sessions:sweep", args=[sessions[0].pk]) if one else reverse("sessions:sweeps")
    address = f"{path}?{urlstate.query(replace(state, sessions=()) if one else state)}"
    swept = _swept(state, sessions)
    if not swept.error and swept.n_total and not swept.complete:
        _, queued = sweep_runs.start(options=swept.options, versions=versions(sessions), query=address)
        if queued:
            tasks.wake()
    return redirect(address)


@require_POST
def cancel(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop the run; the settings done are kept."""
    run = get_object_or_404(SweepRun, pk=run_id)
    for session_id in run.options["sessions"]:
        session_or_404(session_id)
    sweep_runs.ask_to_cancel(run_id=run.pk)
    return redirect(run.query or "sessions:library")


@require_safe
def sweep_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.sweep/1`` of the same address; 202 while it is not complete."""
    state, swept = _one(request, session_id)
    if wrong := _wrong(state, swept):
        return refused(wrong)
    if not swept.sweeps:
        return refused({"sweep": "It has to be run in the background first."}, 409)
    documents = _documents(state, swept)
    return as_json(documents[0], 200 if swept.complete else 202)


@require_safe
def sweep_csv_view(request: HttpRequest, session_id: str) -> HttpResponse:
    state, swept = _one(request, session_id)
    if _wrong(state, swept) or not swept.sweeps:
        return _no_rows()
    return csv_file(sweep_table(_documents(state, swept)[0]["rows"]), "sweep.csv")


def _one(request: HttpRequest, session_id: str) -> tuple[urlstate.SweepState, sweeps.SweepResult]:
    sessions = [session_or_404(session_id)]
    state = _asked(sessions, request.GET, one=True)
    return state, _swept(state, sessions)


def _no_rows() -> HttpResponse:
    return HttpResponse("This sweep has no rows.\n", status=400, content_type="text/plain; charset=utf-8")


@require_safe
def sweeps_json(request: HttpRequest) -> JsonResponse:
    """``ctxweb.sweeps/1``: a ``ctxweb.sweep/1`` for every session, and one setting for all of them."""
    sessions = _named(request)
    if not sessions:
        return refused({"s": "Name sessions with s=."})
    state = _asked(sessions, request.GET, one=False)
    swept = _swept(state, sessions)
    if wrong := _wrong(state, swept):
        return refused(wrong)
    across = advise_all(swept.sweeps, dict(state.floors))[2] if swept.complete else None
    document = {
        "schema": "ctxweb.sweeps/1",
        "sweeps": _documents(state, swept),
        "recommended": None if across is None else validated_document(across),
    }
    return as_json(document, 200 if swept.complete else 202)


@require_safe
def sweeps_csv(request: HttpRequest) -> HttpResponse:
    """The rows of every session, the session first."""
    sessions = _named(request)
    if not sessions:
        return _no_rows()
    state = _asked(sessions, request.GET, one=False)
    swept = _swept(state, sessions)
    if _wrong(state, swept):
        return _no_rows()
    documents = _documents(state, swept)
    heads, *lines = sweep_table([{"session": one["session"], **row} for one in documents for row in one["rows"]])
    return csv_file([heads, *lines], "sweep.csv")


def _documents(state: urlstate.SweepState, swept: sweeps.SweepResult) -> list[dict[str, Any]]:
    floors, found = dict(state.floors), []
    for session_id, one, best in zip(swept.options["sessions"], swept.sweeps, swept.best, strict=True):
        advice = advise(one, floors) if one.complete else None
        lost = _lost_by(session_id, state) if advice is not None and advice.picks else None
        found.append(sweep_document(one, advice=advice, floors=floors, best=best, lost=lost))
    return found


def _lost_by(session_id: str, state: urlstate.SweepState) -> Callable[[Pick], Lost]:
    weighed = selectors.load_weighed(session_id)
    by_name = losses_by(weighed, indexed.index_of(selectors.get_session(session_id)))

    def lost(pick: Pick) -> Lost:
        own = sweep_rows.replay_of(state, pick.row.setting)
        return by_name(as_recorded(weighed) if pick.as_recorded else replays.run(session_id, own).replay)

    return lost


def _wrong(state: urlstate.SweepState, swept: sweeps.SweepResult) -> dict[str, str]:
    return dict(state.errors) | ({"sweep": swept.error} if swept.error else {})
