"""Many sessions together: the page, its data, and the start of catching up."""

from __future__ import annotations

import shlex

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sessions import tasks
from sessions.pages.fleet import state as urlstate
from sessions.pages.fleet.context import FleetView
from sessions.pages.ui.view import as_json, csv_file, part_or_page, private
from sessions.runs import fleet as fleets
from sessions.services import figures


@require_safe
def fleet(request: HttpRequest) -> HttpResponse:
    """The page; its part while a worker catches up."""
    state = urlstate.parse(request.GET)
    here = urlstate.query(state.by, state.alike)
    only = [part for name, value in state.alike.items() for part in ("--only", f"{name}={value}")]
    context = {
        "view": FleetView(state, fleets.fleet(state.by, state.alike)),
        "cli": shlex.join(["ctxweb", "fleet", "--by", state.by, *only]),
        "here": f"{reverse('sessions:fleet')}{here}",
        "start_url": f"{reverse('sessions:fleet_start')}{here}",
        "json_url": f"{reverse('sessions:fleet_json')}{here}",
        "csv_url": f"{reverse('sessions:fleet_csv')}{here}",
    }
    return private(part_or_page(request, "sessions/fleet/_view.html", "sessions/fleet/page.html", context))


@require_safe
def fleet_json(request: HttpRequest) -> JsonResponse:
    """``ctxweb.fleet/1``."""
    state = urlstate.parse(request.GET)
    return as_json(fleets.fleet(state.by, state.alike).document)


@require_safe
def fleet_csv(request: HttpRequest) -> HttpResponse:
    state = urlstate.parse(request.GET)
    rows = [
        {name: value for name, value in group.items() if name != "sessions_with"}
        for group in fleets.fleet(state.by, state.alike).document["groups"]
    ]
    lines = [tuple(rows[0]) if rows else ("key",), *(tuple(row.values()) for row in rows)]
    return csv_file(lines, "fleet.csv")


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Have a worker work out what is missing."""
    if figures.start():
        tasks.wake()
    state = urlstate.parse(request.GET)
    return redirect(f"{reverse('sessions:fleet')}{urlstate.query(state.by, state.alike)}")
