"""What a compaction lost: the page, its parts for htmx, and the probe document."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sessions import selectors
from sessions.engine.base.errors import BadParameter, UnreadableInput
from sessions.engine.quality.document import add_extras, probe_document
from sessions.models import Purpose, Session
from sessions.pages.quality import state as urlstate
from sessions.pages.quality.context import QualityView, chosen_event, shows_recorded
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.view import (
    as_json,
    ask_a_model,
    asks_fragment,
    command_line,
    part_or_page,
    refused,
    session_or_404,
    varied,
)
from sessions.runs import losses, replay_state, replays
from sessions.runs import quality as judging
from sessions.runs.overview import overview
from sessions.runs.quality import judging_options
from sessions.runs.warned import warned_here
from sessions.services import indexed, model_access
from sessions.services.judging import chosen_probes
from sessions.services.model_access import key_facts
from sessions.services.prices import prices_for

AT_ONCE = 400
"""Messages of a session whose texts are read within the page's own request."""


@require_safe
def quality(request: HttpRequest, session_id: str) -> HttpResponse:
    """The page; that of a long session that is not judged yet asks for its own content once it is there.

    ``?whole=1`` has it in one piece, for a browser without scripts; a wrong address says what is wrong with 400.
    """
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET, overview(found.pk).weighed)
    context = _shared(found, state)
    fragment = asks_fragment(request)
    whole = fragment or "whole" in request.GET or found.n_messages <= AT_ONCE
    if whole or judging.is_judged(found, state.judging, state.of):
        context |= _judged(found, state) | key_facts(request)
    name = "sessions/quality/_view.html" if fragment else "sessions/quality/page.html"
    return varied(render(request, name, context, status=400 if state.errors and not fragment else 200))


def _judged(found: Session, state: urlstate.QualityState) -> dict[str, Any]:
    """The content; of a very long session how far it is, until all is judged."""
    try:
        if losses.is_counted_behind(found) and not judging.is_judged(found, state.judging, state.of):
            counted = judging.judge_on(found, state.judging)
            if not counted.is_done:
                return {"counted": counted}
        return {"quality": QualityView(found, state)}
    except (UnreadableInput, OSError) as error:
        return {"problem": str(error)}
    except BadParameter as error:
        return {"problem": f"{error}.".capitalize()}


def _shared(found: Session, state: urlstate.QualityState) -> dict[str, Any]:
    here, path = urlstate.query(state), reverse("sessions:quality", args=[found.pk])
    return {
        "session": found,
        "tab": "quality",
        "state": state,
        "query": replay_state.query(state.replay),
        "share_view": "replay",
        "path": path,
        "here": with_query(path, here),
        "lab": reverse("sessions:replay", args=[found.pk]) + f"?{replay_state.query(state.replay)}",
        "cli": command_line(found, "probe", urlstate.arguments(state)),
        "json_url": with_query(reverse("sessions:quality_json", args=[found.pk]), here),
        "kept": _kept(state),
        "judge_url": with_query(reverse("sessions:quality_judge", args=[found.pk]), here),
    }


def _kept(state: urlstate.QualityState) -> dict[str, list[tuple[str, str]]]:
    """Hidden fields of each form: everything of the address but what the form itself chooses."""
    return {
        "find": parse_qsl(urlstate.query(state, find="")),
        "probes": parse_qsl(urlstate.query(state, ask=(), critical=None)),
    }


@require_safe
def quality_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.probe/1`` of the same address, as the command line prints it; 400 with the reasons for a wrong one."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET, overview(found.pk).weighed)
    if state.errors:
        return refused(state.errors)
    ran = replays.run(found.pk, state.replay)
    if ran.error:
        return refused({"replay": ran.error})
    event = state.replay.event if state.of != "recorded" else None
    try:
        index = indexed.index_of(found)
        asked = judging.asked_for(found, state.judging)
        prices = prices_for(ran.replay.weighed.model)
        document = probe_document(
            ran.replay, index, horizon=state.horizon, event=event, asked=asked, prices=prices
        )  # fmt: skip
    except BadParameter as error:
        return refused({"event": str(error)})
    except (UnreadableInput, OSError) as error:
        return refused({"upload": str(error)}, 410)
    if state.find:
        with selectors.load_texts(found) as texts:
            add_extras(document, ran.replay, index, texts.of, oracles=False, find=state.find)
    return as_json(document)


@require_POST
def ask_model(request: HttpRequest, session_id: str) -> HttpResponse:
    """Have a model judge the event in the address; whoever asks uses their key."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET, overview(found.pk).weighed)
    access = model_access.request_access(request)
    if access is None:
        return redirect("sessions:settings")
    made = judging.judge(found, state.judging)
    recorded = shows_recorded(made, state)
    event = chosen_event(made.recorded if recorded else made.events, state)
    address = urlstate.query(state, of="recorded" if recorded else "replay", event=event.number if event else None)
    if event is None or not event.answers:
        return redirect(f"{reverse('sessions:quality', args=[found.pk])}?{address}")
    return ask_a_model(
        found, access, purpose=Purpose.JUDGEMENT, options=judging_options(state.judging, event, recorded=recorded),
        query=address, n_total=len(chosen_probes(event)) + 2,
    )  # fmt: skip


@require_safe
def warnings(request: HttpRequest) -> HttpResponse:
    """How often the warnings came true here, as far as it is worked out; the part asks again while some is left."""
    return part_or_page(
        request, "sessions/quality/_warned.html", "sessions/quality/warned.html", {"warned": warned_here()}
    )
