"""Summaries by a model for the replay page: start the job, follow it, cancel it."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sessions.models import Purpose, SummaryJob
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.view import ask_a_model, asks_fragment, part_or_page, private, session_or_404
from sessions.runs import replay_state as urlstate
from sessions.runs import replays
from sessions.runs.overview import overview
from sessions.services import model_access, summary_jobs


@require_POST
def write(request: HttpRequest, session_id: str) -> HttpResponse:
    """Have the summaries of the replay in the address written; whoever asks uses their key."""
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET.dict(), overview(found.pk).weighed)
    access = model_access.request_access(request)
    if access is None:
        return redirect("sessions:settings")
    ran = replays.run(found.pk, state)
    if ran.error or not ran.wanted:
        return redirect(_replay_address(found.pk, urlstate.query(state)))
    return ask_a_model(
        found, access, options=replays.options(state), query=urlstate.query(state), n_total=len(ran.wanted)
    )


@require_safe
def progress(request: HttpRequest, session_id: str, job_id: uuid.UUID) -> HttpResponse:
    """How far the job is: a part that asks again for htmx, a page else; once it is done it leads to the replay."""
    found = session_or_404(session_id)
    job = get_object_or_404(SummaryJob, pk=job_id, session=found)
    going = summary_jobs.running(found) == job
    judging = job.purpose == Purpose.JUDGEMENT
    probes = f"{reverse('sessions:quality', args=[found.pk])}?{job.query}#probes"
    address = probes if judging else _replay_address(found.pk, job.query)
    if job.state == "done":
        if asks_fragment(request):
            return HttpResponse(headers={"HX-Redirect": address})
        return redirect(address)
    context = {"session": found, "job": job, "going": going, "replay_address": address}
    context |= {"tab": "quality" if judging else "replay", "judging": judging}
    return private(part_or_page(request, "sessions/summaries/_job.html", "sessions/summaries/page.html", context))


@require_POST
def cancel(request: HttpRequest, session_id: str, job_id: uuid.UUID) -> HttpResponse:
    """Stop the job; what was written is kept."""
    job = get_object_or_404(SummaryJob, pk=job_id, session=session_or_404(session_id))
    summary_jobs.ask_to_cancel(job_id=job.pk)
    return redirect("sessions:summary_job", session_id=session_id, job_id=job.pk)


def _replay_address(session_id: str, query: str) -> str:
    return with_query(reverse("sessions:replay", args=[session_id]), query.removeprefix("?"))
