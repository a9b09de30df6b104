"""What every view does alike: find the session, tell htmx from a browser, refuse a wrong address."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urljoin

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import get_script_prefix, reverse
from django.utils.cache import patch_vary_headers

from sessions import selectors, tasks
from sessions.adapters.anthropic_client import Access
from sessions.engine.redact.escaping import csv_lines
from sessions.engine.reports.configuration import Snippet
from sessions.models import LiveSource, Session, viewer
from sessions.pages.ui.addresses import session_urls, with_query
from sessions.runs import replay_state as urlstate
from sessions.services import column_runs, summary_jobs
from sessions.services.deleting import only_for

Response = TypeVar("Response", bound=HttpResponseBase)
NO_SESSION = "There is no such session; it may have been deleted."
MOST_NOTE = 2_000
"""Characters of a note that goes with a link or a saved view."""


def session_or_404(session_id: str) -> Session:
    """The session; raises Http404."""
    try:
        return selectors.get_session(session_id)
    except Session.DoesNotExist:
        raise Http404(NO_SESSION) from None


def owned_or_403(session: Session) -> Session:
    """The session, where the viewer may share and hide it; raises PermissionDenied with who may."""
    if not viewer().owns(session.upload.owner_id):
        raise PermissionDenied(only_for(session.upload))
    return session


def admin_or_403(what: str) -> None:
    """Raise PermissionDenied unless the viewer is an admin, or no account is asked for."""
    if not viewer().is_admin:
        raise PermissionDenied(f"Only an admin may change {what}.")


def ask_a_model(session: Session, access: Access, **job: Any) -> HttpResponse:
    """Start such a job, here where only this process knows the key, else by a worker; answers its page."""
    here = access.source != "environment"
    made, new = summary_jobs.start(session=session, model=settings.ANTHROPIC_MODEL, here=here, **job)
    if new and not here:
        tasks.wake()
    elif new:
        summary_jobs.run_in_thread(job_id=made.pk, access=access)
    return redirect("sessions:summary_job", session_id=session.pk, job_id=made.pk)


def asks_fragment(request: HttpRequest) -> bool:
    """True where htmx asks for a part of the page, not for the page."""
    htmx: Any = getattr(request, "htmx", None)
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def varied(response: HttpResponse) -> HttpResponse:
    """The response, marked as one that depends on who asks: htmx or a browser."""
    patch_vary_headers(response, ["HX-Request"])
    return response


def part_or_page(
    request: HttpRequest, part: str, page: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """The template ``part`` where htmx asks for one, else the whole ``page``."""
    return varied(render(request, part if asks_fragment(request) else page, context, status=status))


def private(response: HttpResponse) -> HttpResponse:
    """The response, marked as one that nobody may keep."""
    response["Cache-Control"] = "private, no-store"
    return response


def attached(response: Response, name: str) -> Response:
    """The response, to be saved as ``name``."""
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def csv_file(rows: Iterable[Sequence[object]], name: str) -> HttpResponse:
    """A table, its heading first, to be saved as ``name``."""
    return attached(HttpResponse("".join(csv_lines(rows)), content_type="text/csv; charset=utf-8"), name)


def own_address(request: HttpRequest, name: str, *args: object) -> str:
    """A page's whole address: under CTXWEB_PUBLIC_URL where that is set, else under the one that the sender uses."""
    path = reverse(name, args=args)
    if settings.PUBLIC_URL:
        return urljoin(settings.PUBLIC_URL, path.removeprefix(get_script_prefix()))
    return request.build_absolute_uri(path)


def not_yet(request: HttpRequest, found: Session, page: str) -> HttpResponse | None:
    """A page that says what a worker is at and asks again, while it works out what ``page`` shows; else None."""
    if asks_fragment(request) or not column_runs.is_under_way(found, page):
        return None
    context = {"session": found, "tab": page, "share_view": "session"}
    return varied(render(request, "sessions/ui/not_yet.html", context, status=202))


def command_file(found: Session) -> str:
    """What names its file in a command: the path on this computer where it is read from there, else what to put."""
    path = f"path/to/{found.filename}"
    if settings.REQUIRE_LOGIN:
        return path
    try:
        return found.upload.live.path
    except LiveSource.DoesNotExist:
        return path


def command_line(found: Session, name: str, options: Sequence[str] = (), *last: str) -> str:
    """The command that shows the same of a session; a branch that a rewind left is named by its leaf."""
    branch = ["--branch", found.branch] if found.branch_of_id else []
    return shlex.join(["ctxweb", name, command_file(found), *options, *branch, *last])


def shared_context(found: Session, state: urlstate.ReplayState, tab: str) -> dict[str, Any]:
    """What the lab and the diff have in common: the view bar and the command line."""
    here = urlstate.query(state, rows=None)
    event = ["--compaction", str((state.event or 0) + 1)] if tab == "diff" else []
    return {
        "session": found,
        "tab": tab,
        "state": state,
        "query": here,
        "here": with_query(reverse(f"sessions:{tab}", args=[found.pk]), here),
        "cli": command_line(found, tab, urlstate.arguments(state), *event),
        "json_url": with_query(reverse(f"sessions:{tab}_json", args=[found.pk]), here),
        "urls": session_urls(found.pk),
    }


def as_json(document: Mapping[str, Any], status: int = 200) -> JsonResponse:
    """A document, its text as it stands."""
    return JsonResponse(document, json_dumps_params={"ensure_ascii": False}, status=status)


def refused(errors: Mapping[str, object], status: int = 400) -> JsonResponse:
    """What is wrong with an address, by field."""
    return JsonResponse({"errors": dict(errors)}, status=status)


def chosen_snippet(snippets: tuple[Snippet, ...], agent: str) -> dict[str, Any]:
    """The tabs of Apply it, the asked one or the first open."""
    shown = next((one for one in snippets if one.agent.name == agent), snippets[0])
    return {"snippets": snippets, "snippet": shown}
