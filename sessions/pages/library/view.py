"""The library: every session, what to filter and sort it by, and where to drop more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_safe

from sessions import selectors
from sessions.adapters.local import LocalFile, local_files
from sessions.adapters.synced import Synced, add_agents, keep_synced, progress, synced
from sessions.models import LiveSource
from sessions.pages.library import context as listing
from sessions.pages.library import state as urlstate
from sessions.pages.ui.addresses import whole
from sessions.pages.ui.view import asks_fragment, csv_file, varied
from sessions.selectors.library import library_facts
from sessions.selectors.search import coverage
from sessions.selectors.uploads import open_uploads

EXPORT_ROWS = 10_000
EXPORTED = (
    "id", "title", "format", "model", "n_messages", "n_requests", "n_images", "n_tool_calls", "tokens", "tokens_label",
    "wire_bytes", "pressure_bytes", "worst_overcount", "worst_message", "n_compactions", "peak_context", "peak_label",
    "window", "usage_input", "usage_cache_read", "usage_cache_write", "usage_output", "started_at", "ended_at",
)  # fmt: skip


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """The table and its filters; the first-run page while nothing was ever uploaded; fragments for htmx."""
    state = urlstate.parse(request.GET)
    page = _projects(state) or _rows(state, listing.MORE_ROWS if state.start else listing.FIRST_ROWS, grouped=True)
    covered = coverage() if state.q else None
    context = listing.library_context(state, page, library_facts(), covered)
    template = _template(request, context)
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _projects(state: urlstate.LibraryState) -> selectors.SessionPage | None:
    """The sessions of the state under their projects; None where it groups none."""
    if not state.by_project:
        return None
    return selectors.project_page(
        only=state.only, format=state.format, model=state.model, alike=state.alike, start=state.start
    )


def _rows(state: urlstate.LibraryState, limit: int, *, grouped: bool = False) -> selectors.SessionPage:
    """The sessions of the state from its start; ``grouped``: those of one file as one row."""
    return selectors.session_list(
        search=state.q, only=state.only, format=state.format, model=state.model,
        alike=state.alike, sort=state.sort, file=state.file, grouped=grouped,
        start=state.start, limit=limit,
    )  # fmt: skip


def _template(request: HttpRequest, context: dict[str, Any]) -> str:
    if asks_fragment(request):
        target = request.headers.get("HX-Target")
        context |= {"fragment": True}
        if (target or "").startswith(listing.GROUP):
            context |= {"of": target}
            return "sessions/library/_group_rows.html"
        return f"sessions/library/_{'session_next' if target == 'lib-more' else 'sessions'}.html"
    uploads = open_uploads()
    context |= listing.place_context(uploads) | _on_this_computer()
    if context["facts"].n_sessions or any(not upload.finished for upload in uploads):
        return "sessions/library/page.html"
    context |= listing.first_run_context()
    return "sessions/library/empty.html"


def _on_this_computer() -> dict[str, Any]:
    if not _is_own():
        return {}
    chosen = synced(settings.DATA)
    if chosen.is_chosen:
        return {"line": _line(chosen)}
    return {"own": True, "found": None if chosen.declined else listing.found_words(local_files())}


def _is_own() -> bool:
    return settings.FINDS_SESSIONS and not settings.REQUIRE_LOGIN


def _line(chosen: Synced, before: str = "") -> listing.Line:
    """``before`` is what the page saw first: when a file last changed, and how many there were."""
    changed, n = LiveSource.objects.aggregate(changed=Max("changed_at"), n=Count("*")).values()
    seen = whole(before.partition(" ")[0])
    first = n if seen is None else seen
    return listing.Line(
        chosen,
        progress(settings.DATA),
        seen=f"{first} {changed.isoformat() if changed else ''}",
        n_new=max(0, n - first),
    )


@require_safe
def sync_state(request: HttpRequest) -> HttpResponse:
    """The line that says how far the keeping in sync is, for htmx; the library for a browser."""
    chosen = synced(settings.DATA)
    if not (_is_own() and chosen.is_chosen and asks_fragment(request)):
        return redirect("sessions:library")
    seen = request.GET.get("seen", "")
    line = _line(chosen, seen)
    response = varied(render(request, "sessions/library/_synced.html", {"line": line}))
    if line.poll != seen:  # the list asks again, too
        response["HX-Trigger"] = "sessions-synced"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: HttpRequest) -> HttpResponse:
    """Which sessions of this computer are kept in sync: all, some agents, some folders, or none for now."""
    if not _is_own():
        raise Http404("This server takes uploads only.")
    chosen = synced(settings.DATA)
    files = local_files()
    if request.method != "POST":
        return _choice(request, files, chosen)
    asked, other = request.POST.get("do", "save"), request.POST.get("other", "").strip()
    if asked == "all":
        add_agents(settings.DATA, [one.agent.name for one in files])
        return redirect("sessions:library")
    if asked in ("pause", "resume"):
        chosen = replace(chosen, paused=asked == "pause")
    elif asked == "later":
        chosen = replace(chosen, declined=True)
    else:
        if problem := other and _unfit(other):
            return _choice(request, files, chosen, problem=problem, other=other)
        more = (str(Path(other).expanduser()),) if other else ()
        known = {one.agent.name for one in files}
        agents = tuple(name for name in request.POST.getlist("agent") if name in known)
        offered = {str(one.folder) for one in files} | set(chosen.folders)
        named = (path for path in request.POST.getlist("folder") if path in offered)
        folders = tuple(dict.fromkeys((*named, *more)))
        chosen = Synced(agents=agents, folders=folders, declined=not (agents or folders))
    keep_synced(settings.DATA, chosen)
    return redirect("sessions:library")


def _unfit(other: str) -> str:
    """Why a folder cannot be kept in sync; "" where it can."""
    path = Path(other).expanduser()
    if "\0" in other or not path.is_absolute() or not path.is_dir():
        return "There is no such folder. Write its whole path, from / or ~ on."
    if Path.home().is_relative_to(path.resolve()):
        return "This folder holds your home folder. Name the one that holds the transcripts."
    return ""


def _choice(
    request: HttpRequest, files: Sequence[LocalFile], chosen: Synced, *, problem: str = "", other: str = ""
) -> HttpResponse:
    context = {
        "agents": listing.to_choose(files, chosen), "others": listing.other_folders(files, chosen),
        "problem": problem, "other": other,
    }  # fmt: skip
    return render(request, "sessions/library/choose.html", context, status=400 if problem else 200)


def _exported(request: HttpRequest) -> Iterator[dict[str, object]]:
    page = _rows(urlstate.parse(request.GET), EXPORT_ROWS)
    return ({name: getattr(session, name) for name in EXPORTED} for session in page.sessions)


@require_safe
def sessions_json(request: HttpRequest) -> JsonResponse:
    """The table as one JSON document, filtered and sorted as the page is."""
    state = urlstate.parse(request.GET)
    rows = list(_exported(request))
    return JsonResponse({"schema": "ctxweb.sessions/1", "state": urlstate.query(state), "sessions": rows})


@require_safe
def sessions_csv(request: HttpRequest) -> HttpResponse:
    return csv_file([EXPORTED, *(tuple(row.values()) for row in _exported(request))], "sessions.csv")
