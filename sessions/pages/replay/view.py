"""The replay lab: the whole page, its results for htmx, and the replay document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.sweeps.advice import advise
from sessions.engine.transcript.parts import without_gc
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.pages.replay.context import build_replay
from sessions.pages.replay.step import build_step
from sessions.pages.sweep import state as sweepstate
from sessions.pages.ui.addresses import session_urls, with_query
from sessions.pages.ui.compact_at import along, compact_at, place_of
from sessions.pages.ui.controls import Controls
from sessions.pages.ui.view import as_json, asks_fragment, not_yet, refused, session_or_404, shared_context, varied
from sessions.runs import losses, replay_state, replays, sweeps
from sessions.runs.overview import overview
from sessions.runs.ranges import gate_of
from sessions.services import summary_jobs
from sessions.services.model_access import key_facts
from sessions.services.model_summaries import estimate


@require_safe
def replay(request: HttpRequest, session_id: str) -> HttpResponse:
    """The lab; a wrong address shows the nearest replay, says what is wrong and answers 400."""
    found = session_or_404(session_id)
    if (waits := not_yet(request, found, "replay")) is not None:
        return waits
    state = replay_state.parse(request.GET.dict(), overview(found.pk).weighed)
    with without_gc():
        shown = build_replay(found, state, steering=asks_fragment(request) and "was" in request.GET)
    context = shared_context(found, state, "replay") | {"replay": shown} | _steering(request, found, state)
    here = context["query"]
    context["ab_href"] = with_query(reverse("sessions:ab", args=[found.pk]), here)
    context |= key_facts(request) | _unwritten(found, state) | _uncounted(found, state)
    overview(found.pk).keep()
    if asks_fragment(request):
        return varied(render(request, "sessions/replay/_swap.html", context | {"oob": True}))
    return varied(render(request, "sessions/replay/page.html", context, status=400 if state.errors else 200))


def _steering(request: HttpRequest, found: Session, state: replay_state.ReplayState) -> dict[str, Any]:
    """The form for a page and for another policy; its slider alone where another setting moves its range."""
    weighed, asked = selectors.load_weighed(found.pk), request.GET
    if not asks_fragment(request) or asked.get("was", state.policy) != state.policy:
        form = Controls(weighed, state, session_urls(found.pk).replay)
        return {"controls": form, "at": compact_at(weighed, state)}
    moved = "along" in asked and asked["along"] != along(weighed, state)
    return {"at": compact_at(weighed, state)} if moved else {}


def _uncounted(found: Session, state: replay_state.ReplayState) -> dict[str, Any]:
    """How far the losses of a very long session are counted, until all are."""
    made = replays.run(found.pk, state).replay
    return {} if losses.is_counted(found, made) else {"counted": losses.counted(found, made)} | _counting(found, state)


def _counting(found: Session, state: replay_state.ReplayState) -> dict[str, Any]:
    """Where losses are counted on, and where the results are once all are counted."""
    query = replay_state.query(state)
    return {
        "counting_url": with_query(reverse("sessions:replay_losses", args=[found.pk]), query),
        "here": with_query(reverse("sessions:replay", args=[found.pk]), query),
    }


@require_safe
def count_losses(request: HttpRequest, session_id: str) -> HttpResponse:
    """Count the losses of a replay on, and say how far they are, for htmx; a plain GET is led back to the page."""
    found = session_or_404(session_id)
    state = replay_state.parse(request.GET.dict(), overview(found.pk).weighed)
    try:
        counted = losses.count_on(found, replays.run(found.pk, state).replay)
    except (UnreadableInput, OSError) as error:
        context: dict[str, Any] = {"problem": str(error)}
    else:
        context = {"counted": counted} | _counting(found, state)
    if not asks_fragment(request):
        return redirect(session_urls(found.pk).to_replay(state))
    return varied(render(request, "sessions/replay/_counting.html", context))


def _unwritten(found: Session, state: replay_state.ReplayState) -> dict[str, Any]:
    """What it takes to have a model write the summaries that are not written yet, and the job that is at it."""
    wanted = replays.run(found.pk, state).wanted
    if not wanted:
        return {}
    job = summary_jobs.running(found)
    return {"estimate": estimate(settings.ANTHROPIC_MODEL, wanted), "job": str(job.pk) if job else ""}


@require_safe
def step(request: HttpRequest, session_id: str) -> HttpResponse:
    """One request of a replay, for htmx; a plain GET is led to the page that it is a part of."""
    found = session_or_404(session_id)
    state = replay_state.parse(request.GET.dict(), overview(found.pk).weighed)
    urls = session_urls(found.pk)
    if not asks_fragment(request):
        return redirect(urls.to_replay(state))
    made = replays.run(found.pk, state).replay
    number = min(state.event or 0, len(made.events) - 1) if made.events else None
    here = made.events[number].request if state.request is None and number is not None else state.request
    return varied(render(request, "sessions/replay/_step.html", {"step": build_step(found.pk, made, state, here)}))


@require_safe
def recommended(request: HttpRequest, session_id: str) -> HttpResponse:
    """The mark of the recommended threshold, for htmx; a plain GET is led to the page that it is a part of."""
    found = session_or_404(session_id)
    weighed = overview(found.pk).weighed
    state = replay_state.parse(request.GET.dict(), weighed)
    if not asks_fragment(request):
        return redirect(session_urls(found.pk).to_replay(state))
    context = {"recommended": None if state.errors else recommended_mark(found, weighed, state)}
    return varied(render(request, "sessions/replay/_recommended.html", context))


@require_safe
def replay_json(request: HttpRequest, session_id: str) -> JsonResponse:
    """``ctxweb.replay/1`` of the same address; 400 with the reasons for a wrong one."""
    found = session_or_404(session_id)
    state = replay_state.parse(request.GET.dict(), overview(found.pk).weighed)
    if state.errors:
        return refused(state.errors)
    ran = replays.run(found.pk, state)
    if ran.error:
        return refused({"replay": ran.error})
    return as_json(replays.document(ran))


@dataclass(frozen=True, slots=True)
class Recommended:
    """``threshold`` is in the trigger's own unit, at ``place`` percent of the track; ``href`` is its replay.

    None where the answer is no setting; ``says`` is that answer and ``href`` the comparison.
    """

    threshold: int | None
    place: float
    href: str
    says: str
    reason: str


def recommended_mark(session: Session, weighed: Weighed, state: replay_state.ReplayState) -> Recommended | None:
    """What Compare recommends; None where nothing moves the trigger, or the sweep takes longer than a page waits."""
    at = compact_at(weighed, state)
    name = at.param
    if not name:
        return None
    asked = sweepstate.completed(sweepstate.parse(QueryDict(at.along), weighed), weighed)
    if not asked.overs or asked.overs[0].key != name:
        return None
    swept = sweeps.swept(sweepstate.options_of(asked, [session]), [session])
    if not swept.complete:
        return None
    found = advise(swept.sweeps[0], dict(asked.floors))
    if found.recommended is None:
        compare = f"{reverse('sessions:sweep', args=[session.pk])}?{sweepstate.query(asked)}"
        return Recommended(None, 0.0, compare, found.sentence.rstrip("."), "")
    best = found.recommended
    gate = gate_of(weighed, state, {name: best.row.values[name]})
    if gate is None or not at.low <= gate.threshold <= at.high:
        return None
    others = tuple(pair for pair in state.params if pair[0] != name)
    params = (*others, (name, replay_state.written(best.row.values[name])))
    href = session_urls(session.pk).to_replay(state, params=params, event=None, request=None)
    return Recommended(gate.threshold, place_of(at, gate.threshold), href, best.name.lower(), best.reason)
