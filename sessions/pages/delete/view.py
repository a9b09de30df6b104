"""Deleting on the pages: a page that says what goes, and the button on it that does it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from sessions.pages.delete import context as deletion
from sessions.pages.ui.addresses import uuids, whole
from sessions.services import deleting

MAX_NAMED = 2_000
"""Sessions and uploads named in one request; the rest is left out, and the page says what goes."""

NAMES = ("s", "upload", "older")
"""Fields of a request that name what to delete."""
DEFAULT_DAYS = 90


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest) -> HttpResponse:
    """Asks with everything that would go (``s`` sessions, ``upload``, ``older`` in days); a POST deletes that.

    Named nothing, it offers to delete by age.  404 where nothing of what was named is there.
    """
    asked = request.POST if request.method == "POST" else request.GET
    wanted = _wanted(asked)
    named = any(asked.get(name) for name in NAMES)
    if request.method == "POST":
        plan = deleting.delete(**wanted)
        if not plan.is_empty:
            messages.success(request, deletion.done(plan))
            return redirect("sessions:library")
    plan = deleting.plan(**wanted)
    days = whole(asked.get("older"), 5)
    again = [(name, value) for name in NAMES for value in asked.getlist(name)[:MAX_NAMED] if value]
    context = deletion.page(plan) | {"fields": again, "named": named, "days": days or DEFAULT_DAYS}
    status = 404 if named and plan.is_empty and not plan.refused and not days else 200
    return render(request, "sessions/delete/page.html", context, status=status)


def _wanted(asked: QueryDict) -> dict[str, Any]:
    sessions, uploads = asked.getlist("s")[:MAX_NAMED], uuids(asked.getlist("upload")[:MAX_NAMED])
    days = whole(asked.get("older"), 5)
    if days is not None:
        stale_sessions, stale_uploads = deleting.stale(days)
        sessions, uploads = [*sessions, *stale_sessions], [*uploads, *stale_uploads]
    return {"sessions": [one[:16].replace("\x00", "") for one in sessions], "uploads": uploads}
