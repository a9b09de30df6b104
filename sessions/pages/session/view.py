"""The session page, its message list, its inspector, and the same as data."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.packing.pack import UnreadablePack
from sessions.engine.reading import jsonio
from sessions.engine.reading.reading import read_values
from sessions.engine.redact.escaping import csv_lines
from sessions.engine.reports import report
from sessions.engine.transcript.types import Branch, Parsed, Skipped
from sessions.models import Session
from sessions.pages.session import causes, facts, inspector, messages
from sessions.pages.session import state as urlstate
from sessions.pages.session.causes import heavy
from sessions.pages.session.chart import pressure_json, pressure_near
from sessions.pages.session.lanes import legend
from sessions.pages.session.state import SessionState
from sessions.pages.ui import blocks, exports, uploads
from sessions.pages.ui.view import (
    as_json,
    asks_fragment,
    attached,
    command_file,
    command_line,
    not_yet,
    session_or_404,
    varied,
)
from sessions.runs import replay_state, replays
from sessions.runs.losses import BY_ITSELF, rules_of
from sessions.runs.overview import Overview, overview
from sessions.selectors.chains import chain
from sessions.services.model_access import key_facts

AT_ONCE = 8_000_000
"""Bytes of an upload up to which the first page has the content of its message; of larger ones that comes after it."""
JUST_CHANGED = dt.timedelta(minutes=1)
COLUMNS = (
    "index", "role", "kinds", "tokens", "label", "wire_bytes", "overcount", "request", "context_tokens",
    "context_label", "preview",
)  # fmt: skip


def head_context(found: Session, view: Overview) -> dict[str, Any]:
    """What the head of the page says: of the session, and of its sub-agents, parent and chain of files."""
    children = selectors.child_sessions(found)
    calls = _callers(view) if children else {}
    return {
        "facts": facts.leading(view, replays.recording(found.pk).cost),
        "lead": view.once("lead", lambda: causes.Lead(found.pk, view)),
        "causes": view.once("causes", lambda: causes.build_causes(found.pk, view)),
        "heavy": causes.heavy(view),
        "tells_more": bool(view.verdicts),
        "by_itself": len(view.messages) <= BY_ITSELF,
        "opening": facts.opening(view),
        "headline": view.headline,
        "own_way": replay_state.own_way(view.weighed),
        "not_understood": view.weighed.transcript.gaps,
        "skeleton_cli": shlex.join(["ctxweb", "skeleton", command_file(found)]),
        "warnings": view.weighed.warnings,
        "branches": _branch_choices(view.weighed.transcript.branches, selectors.branch_sessions(found)),
        "children": [(child, calls.get(child.parent_call_id)) for child in children],
        "parent_message": _started_by(found),
        "chain": chain(found, next(iter(view.messages), None)),
    }


def _started_by(found: Session) -> int | None:
    """Its parent's message that started it; None where that is not known, or is damaged: its own page says so."""
    try:
        parent = overview(found.parent_id) if found.parent_id and found.parent_call_id else None
    except UnreadablePack:
        return None
    return _callers(parent).get(found.parent_call_id) if parent else None


@require_safe
def session(request: HttpRequest, session_id: str) -> HttpResponse:
    """The whole page; the inspector opens on ``?m=`` or on the worst over-counted message."""
    found = session_or_404(session_id)
    if (waits := not_yet(request, found, "session")) is not None:
        return waits
    view, state = overview(session_id), urlstate.parse(request.GET)
    if state.m is not None and state.m >= len(view.messages):
        state = urlstate.parse({**request.GET.dict(), "m": ""})
    answer = varied(render(request, "sessions/session/page.html", _page_context(request, found, view, state)))
    view.keep()
    return answer


def _page_context(request: HttpRequest, found: Session, view: Overview, state: SessionState) -> dict[str, Any]:
    base = reverse("sessions:session", args=[found.pk])
    chosen = causes.message_that_matters(view) if state.m is None else state.m
    asks_rows = state.start is not None or state.m is not None or state.only
    opened = state if asks_rows else replace(state, m=chosen)  # the list opens on what the inspector shows
    return {
        "session": found,
        "tab": "session",
        "cli": command_line(found, "inspect", (), "--json"),
        "json_url": reverse("sessions:session_json", args=[found.pk]),
        "csv_url": reverse("sessions:messages_csv", args=[found.pk]),
        "exports": exports.choices(found),
        "state": state,
        "view": view,
        "unsent": uploads.unsent_share(found.upload),
        "measures": [(name, words, base + urlstate.query(state, measure=name)) for name, words in view.measures],
        "layers": legend(view),
        "figure": pressure_json(view, state.measure),
        "filters": messages.filters(view, state, base),
        "part": messages.part(view, state, base),
        "page": messages.page(found.pk, view, opened),
        "clear_url": base + urlstate.query(state, only="", start=None),
        **head_context(found, view),
        "inspector": _inspector_context(request, found, view, chosen, state, at_once=found.upload.n_bytes <= AT_ONCE)
        if len(view.messages)
        else None,
        "live": getattr(found.upload, "live", None),
        "follow": _is_followed(found, state),
    }


def _is_followed(found: Session, state: SessionState) -> bool:
    """Whether the page follows its session from the start: as the address says, else if its file has just changed."""
    live = getattr(found.upload, "live", None)
    if live is None or state.follow:
        return live is not None and state.follow == "on"
    return bool(timezone.now() - live.changed_at < JUST_CHANGED)


@require_safe
def chart_json(request: HttpRequest, session_id: str) -> HttpResponse:
    """The chart as JSON, finer between the messages ``?from=`` and ``to=``: what the page asks for at a zoom."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET)
    near = urlstate.near(request.GET)
    view = overview(found.pk)
    text = pressure_json(view, state.measure) if near is None else pressure_near(view, state.measure, near)
    return HttpResponse(text, content_type="application/json")


@require_safe
def message_rows(request: HttpRequest, session_id: str) -> HttpResponse:
    """More rows for htmx; a plain GET gets the page that holds them."""
    if not asks_fragment(request):
        return session(request, session_id)
    found = session_or_404(session_id)
    view, state = overview(found.pk), urlstate.parse(request.GET)
    context: dict[str, Any] = {"session": found, "state": state, "view": view}
    context["page"] = messages.page(found.pk, view, state, state.until)
    whole = request.headers.get("HX-Target") == "message-list"
    if whole:
        base = reverse("sessions:session", args=[found.pk])
        context |= {"filters": messages.filters(view, state, base), "part": messages.part(view, state, base)}
        context["clear_url"] = base
    return varied(
        render(request, "sessions/session/_messages.html" if whole else "sessions/session/_message_rows.html", context)
    )


@require_safe
def full_causes(request: HttpRequest, session_id: str) -> HttpResponse:
    """The table of causes with what came after each, for htmx; a plain GET is led to all the evidence."""
    found = session_or_404(session_id)
    if not asks_fragment(request):
        return redirect("sessions:why", found.pk)
    view = overview(found.pk)
    try:
        rules = rules_of(found)
    except UnreadableInput:
        rules = None
    told = causes.build_full_causes(found.pk, view, rules)
    context = {"session": found, "causes": told, "agents": causes.agents_there(found.pk, view), "asked": True}
    answer = varied(render(request, "sessions/session/_causes.html", context))
    view.keep()
    return answer


@require_safe
def inspector_view(request: HttpRequest, session_id: str, index: int) -> HttpResponse:
    """One message: the pane for htmx, a page of its own for a plain GET."""
    found = session_or_404(session_id)
    view, state = overview(found.pk), urlstate.parse(request.GET)
    if not 0 <= index < len(view.messages):
        raise Http404(f"This session has {len(view.messages):,} messages, 0 to {len(view.messages) - 1:,}.")
    context = {"session": found, "inspector": _inspector_context(request, found, view, index, state)}
    if asks_fragment(request):
        return varied(render(request, "sessions/session/_inspector.html", context))
    context |= {"tab": "session", "cli": command_line(found, "inspect", (), "--json"), "state": state}
    context["own_way"] = replay_state.own_way(view.weighed)
    return varied(render(request, "sessions/session/message.html", context))


def _inspector_context(
    request: HttpRequest, found: Session, view: Overview, index: int, state: SessionState, *, at_once: bool = True
) -> dict[str, Any]:
    """The pane's own context; text is read for tabs that show it, and left to be asked for unless ``at_once``."""
    whole = request.GET.get("all") == "1"
    message = inspector.InspectorView(view, index)
    context: dict[str, Any] = {"message": message, "tab": state.tab, "whole": whole, "problem": ""}
    here = reverse("sessions:inspector", args=[found.pk, index])
    tabs = (("parsed", "Content"), ("sizes", "Sizes"), ("raw", "Raw JSON"))
    context["tabs"] = [(name, words, here + ("" if name == "parsed" else f"?tab={name}")) for name, words in tabs]
    context |= _neighbours(found, message) | key_facts(request)
    if state.tab == "parsed" and not at_once:
        return context | {"later": here}
    try:
        if state.tab == "parsed":
            contents = selectors.message_contents(found, index)
            context["blocks"] = blocks.shown(contents, view.messages[index].blocks, whole=whole)
        elif state.tab == "raw":
            context["raw"], context["raw_left"] = blocks.raw_json(raw_values(found, view, index), whole=whole)
    except UnreadableInput as error:
        context["problem"] = str(error)
    return context


def _neighbours(found: Session, message: inspector.InspectorView) -> dict[str, Any]:
    def link(index: int | None) -> str:
        return "" if index is None else reverse("sessions:inspector", args=[found.pk, index])

    earlier = message.index - 1 if message.index else None
    later = message.index + 1 if message.index < message.last else None
    pair = message.answers if message.answers is not None else message.answered_by
    return {"previous_url": link(earlier), "next_url": link(later), "pair_url": link(pair)}


def raw_values(found: Session, view: Overview, index: int) -> list[Any]:
    """The JSON values that the message was read from, in file order; raises UnreadableInput."""
    with selectors.open_text(found) as file:
        return read_values(jsonio.Source(file), view.messages[index])


@require_safe
def message_raw(request: HttpRequest, session_id: str, index: int) -> HttpResponse:
    """The message's JSON, uncut, as a download: one value, or a list where it was read from several lines."""
    found = session_or_404(session_id)
    view = overview(found.pk)
    if not 0 <= index < len(view.messages):
        raise Http404("There is no such message.")
    values = raw_values(found, view, index)
    text = jsonio.dumps(values[0] if len(values) == 1 else values)
    return attached(HttpResponse(text, content_type="application/json"), f"{found.pk}-message-{index}.json")


def parsed(found: Session) -> Parsed:
    """The session as the engine has it of a file with this session alone."""
    transcript = selectors.load_weighed(found.pk).transcript
    skipped = tuple(Skipped(*row) for row in found.upload.skipped)
    fates = () if found.member else uploads.fates_of(found.upload)  # an archive's fates are not those of one file
    return Parsed((transcript,), skipped, found.upload.reason, format=found.format, fates=fates)


@require_safe
def session_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """The inspect document of this session (``ctxweb.inspect/1``)."""
    found = session_or_404(session_id)
    return as_json(report.inspect_document(parsed(found)))


@require_safe
def messages_csv(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """Every message of the session (or of the filter) as CSV, streamed."""
    found = session_or_404(session_id)
    view, state = overview(found.pk), urlstate.parse(request.GET)
    response = StreamingHttpResponse(csv_lines(_rows(found.pk, view, state)), content_type="text/csv; charset=utf-8")
    return attached(response, f"{found.pk}-messages.csv")


def _rows(session_id: str, view: Overview, state: SessionState) -> Iterator[tuple[object, ...]]:
    yield COLUMNS
    for index in messages.listed(view, state):
        row = messages.ListRow(session_id, view, index)
        factor = "" if row.factor is None else round(row.factor, 2)
        yield (
            row.index, row.role, " ".join(row.kinds), row.tokens, row.label, row.n_bytes, factor, row.request,
            row.context, row.context_label, row.preview,
        )  # fmt: skip


def _callers(view: Overview) -> dict[str, int]:
    """Message index by the id of the tool call it makes."""
    return {call: message.index for message in view.messages for call in message.call_ids()}


def _branch_choices(branches: Sequence[Branch], stored: Mapping[str, Session]) -> tuple[tuple[Branch, str], ...]:
    """Every branch, the latest first, with where it is, "" where it is not stored; none where there is only one."""
    if len(branches) < 2:
        return ()
    return tuple((one, stored[one.leaf].get_absolute_url() if one.leaf in stored else "") for one in branches)


SHOWN = (
    "kinds", "n_bytes", "factors", "contexts", "pairs", "per_token", "full_weight", "n_images", "tools", "shares",
    "verdicts", "peak", "headline",
)  # fmt: skip
"""Values of the overview that the page shows."""


def work_out(session_id: str) -> None:
    """Work out and keep all that the page shows of a long session."""
    view = overview(session_id)
    for name in SHOWN:
        getattr(view, name)
    pressure_json(view, SessionState().measure)
    heavy(view)
    replays.recording(session_id)
    view.keep()
