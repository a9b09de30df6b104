"""Replay links for their owner: the share dialog, the file, what is removed, new addresses, revoking."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from sessions import selectors
from sessions.engine.base.errors import BadParameter
from sessions.engine.redact import BY_KEY, NOT_LOOKED_FOR, name_in, redact
from sessions.models import ReplayLink, Session, viewer
from sessions.pages.ab import state as ab_state
from sessions.pages.links import frozen, shared_views
from sessions.pages.links.file import Handout, handout_html, report_markdown
from sessions.pages.links.forms import ALLOWED, DAYS, MOST_REPLY, ShareForm, hidden
from sessions.pages.links.opened import stored
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.results import weakest_label
from sessions.pages.ui.view import (
    asks_fragment,
    attached,
    own_address,
    owned_or_403,
    part_or_page,
    private,
    refused,
    session_or_404,
)
from sessions.runs import replay_state, replays
from sessions.runs.drawing import svg
from sessions.runs.handout import of_session
from sessions.runs.overview import overview
from sessions.runs.recognised import with_known
from sessions.runs.removal import removal
from sessions.services import links as service


@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, session_id: str) -> HttpResponse:
    """The dialog (htmx) or page that says what a link would show; a POST makes the link and shows its URL, once."""
    session = owned_or_403(session_or_404(session_id))
    view = request.GET.get("view", "session")
    if view not in shared_views.VIEWS:
        raise Http404(f"A link shows one of {', '.join(shared_views.VIEWS)}.")
    state = shared_views.VIEWS[view].frozen(request.GET)
    context = _share_context(request, session, view, state)
    if request.method == "POST":
        form = ShareForm(request.POST)
        context["form"] = form
        if not form.holds(context["wrong"], session.n_messages):
            return _dialog(request, context, status=422)
        title = form.cleaned_data["title"] or context["claim"]
        note = form.cleaned_data["note"]
        if (send := form.cleaned_data["send"]) in FILES:
            return _to_file(request, session, state, title, send)
        made = service.create_link(
            session=session, view=view, state=state, title=title, note=note, terms=form.terms,
            remarks=form.cleaned_data["remarks"], maker_id=viewer().user_id,
        )  # fmt: skip
        frozen.keep(made.link)
        context |= {"made": made.link, **_listed(session)}
        context["url"] = own_address(request, "sessions:link", made.token)
    return _dialog(request, context, status=201 if request.method == "POST" else 200)


def _to_file(request: HttpRequest, session: Session, state: str, title: str, kind: str) -> HttpResponse:
    """Where a file is made: a download, so the dialog stays as it is."""
    query = QueryDict(state, mutable=True)
    for field in ("chosen", "hide", "words", "note"):
        query.setlist(field, request.POST.getlist(field))
    query["title"] = title
    url = f"{reverse(f'sessions:share_{kind}', args=[session.pk])}?{query.urlencode()}"
    return HttpResponseClientRedirect(url) if asks_fragment(request) else redirect(url)


FILES: dict[str, tuple[Callable[[Handout], str], str, str]] = {
    "file": (handout_html, "-replay.html", "text/html"),
    "report": (report_markdown, "-report.md", "text/markdown; charset=utf-8"),
    "chart": (lambda made: svg(made.document, title=made.title, choice=made.choice), ".svg", "image/svg+xml"),
}
"""What the dialog sends instead of a link, by the button: what makes it, how its name ends, its type.

The file has every place of the slider and works offline, the others the sender's alone.
"""


@require_safe
def share_as(request: HttpRequest, session_id: str, kind: str) -> HttpResponse:
    """A download of the replay that the address asks for; 400 with the reasons for a wrong one."""
    session = owned_or_403(session_or_404(session_id))
    form, state = ShareForm(request.GET), replay_state.parse(request.GET.dict(), overview(session.pk).weighed)
    if state.errors or not form.is_valid():
        return refused({**state.errors, **form.errors})
    try:
        document = of_session(session, state, alone=kind != "file")
    except BadParameter as error:
        return refused({"replay": str(error)})
    title = form.cleaned_data["title"] or shared_views.VIEWS["replay"].claim(session, replay_state.query(state))
    label = weakest_label(replays.run(session.pk, state).replay.labels)
    made_of, name, media_type = FILES[kind]
    run, verdicts = replay_state.replay_command(state, session.filename), overview(session.pk).verdicts
    made = Handout(document, title, form.cleaned_data["note"], with_known(form.choice, session), label, verdicts, run)
    return private(attached(HttpResponse(made_of(made), content_type=media_type), f"{session.pk}{name}"))


def _dialog(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    return private(
        part_or_page(request, "sessions/links/_share_dialog.html", "sessions/links/share.html", context, status=status)
    )


def _share_context(request: HttpRequest, session: Session, view: str, state: str) -> dict[str, Any]:
    chosen = shared_views.VIEWS[view]
    query = f"?view={view}{'&' if state else ''}{state}"
    return {
        "session": session,
        "view": view,
        "shows": chosen.shows,
        "claim": chosen.claim(session, state)[:255],
        "form": ShareForm(initial={"words": "\n".join(name_in(overview(session.pk).weighed.transcript.project))}),
        "kinds": tuple(BY_KEY.values()),
        "left_out": frozenset(request.POST.getlist("hide")) if "chosen" in request.POST else frozenset(BY_KEY),
        "days": DAYS,
        "allowed": ALLOWED,
        **_listed(session),
        "allows": frozenset(request.POST.getlist("allow")) if "chosen" in request.POST else frozenset(ALLOWED),
        "wrong": shared_views.wrong(view, session, request.GET.dict()),
        "action": reverse("sessions:share", args=[session.pk]) + query,
        "removed_url": reverse("sessions:share_removed", args=[session.pk]),
        "back": with_query(reverse(f"sessions:{view}", args=[session.pk]), state),
        "reaches": reach(request),
        "link_host": link_host(request),
        "public_url": settings.PUBLIC_URL,
    }


@require_safe
def share_removed(request: HttpRequest, session_id: str) -> HttpResponse:
    """What a link of this session leaves out, with counts: a part of the dialog, or a page of its own."""
    session = owned_or_403(session_or_404(session_id))
    context: dict[str, Any] = {"session": session, "not_looked_for": NOT_LOOKED_FOR}
    try:
        context["removal"] = removal(session, with_known(hidden(request.GET), session))
    except OSError:
        context["problem"] = "The uploaded file is missing from the store, so its text cannot be looked through."
    return part_or_page(request, "sessions/links/_share_removed.html", "sessions/links/share_removed.html", context)


def _own_link(link_id: int) -> None:
    """Raise Http404 unless there is such a link, of a session that is the viewer's to share or made by them."""
    found = get_object_or_404(ReplayLink.objects.select_related("session__upload"), pk=link_id)
    session_or_404(found.session_id)
    if not viewer().owns(found.maker_id):
        owned_or_403(found.session)


@require_POST
def link_revoke(request: HttpRequest, link_id: int) -> HttpResponse:
    """Revoke a link for good; answers with the list of the session's links."""
    _own_link(link_id)
    link = service.revoke_link(link_id=link_id)
    return redirect("sessions:people") if request.POST.get("back") == "people" else _list(request, link)


@require_POST
def link_recompute(request: HttpRequest, link_id: int) -> HttpResponse:
    """What the link shows, computed anew by this version; answers with the list of the session's links."""
    _own_link(link_id)
    link = get_object_or_404(ReplayLink.objects.open().select_related("session__upload", "reply_to"), pk=link_id)
    frozen.keep(link)
    return _list(request, link)


def _list(request: HttpRequest, link: ReplayLink) -> HttpResponse:
    if not asks_fragment(request):
        return redirect(reverse("sessions:share", args=[link.session_id]) + f"?view={link.view}")
    return render(request, "sessions/links/_list.html", _listed(link.session))


def _listed(session: Session) -> dict[str, Any]:
    """The session's links; ``stale`` ones were computed by another version, or at other prices."""
    links, now = selectors.session_links(session), frozen.computed_with(session)
    stale = {link.pk for link in links if not link.ended and (link.version, link.prices) != now}
    return {"session": session, "links": links, "stale": stale}


@require_POST
def link_answer(request: HttpRequest, link_id: int) -> HttpResponse:
    """What the owner says to a reply: it stands on the reply's own page; answers with the list of links."""
    _own_link(link_id)
    link = get_object_or_404(ReplayLink.objects.open().select_related("session"), pk=link_id, reply_to__isnull=False)
    link.answer = redact(
        request.POST.get("answer", "").replace("\0", "").strip(), with_known(link.choice, link.session)
    ).text[:MOST_REPLY]
    link.save(update_fields=["answer"])
    return _list(request, link)


@require_POST
def link_renew(request: HttpRequest, link_id: int) -> HttpResponse:
    """A new address for a link, shown once; the old one leads nowhere from then on."""
    _own_link(link_id)
    try:
        made = service.renew_link(link_id=link_id)
    except ReplayLink.DoesNotExist:
        raise Http404("The link was revoked or has expired.") from None
    session = session_or_404(made.link.session_id)
    context = _listed(session) | {"url": own_address(request, "sessions:link", made.token)}
    return private(part_or_page(request, "sessions/links/_list.html", "sessions/links/renewed.html", context))


@require_safe
def link_replied(request: HttpRequest, link_id: int) -> HttpResponse:
    """Where the owner sees a reply: both settings side by side, on the page that compares two replays."""
    _own_link(link_id)
    found = get_object_or_404(ReplayLink.objects.select_related("reply_to"), pk=link_id)
    if found.reply_to is None:
        raise Http404("This link is no reply.")
    return redirect(ab_state.address(found.session_id, stored(found.reply_to.state), stored(found.state)))


def link_host(request: HttpRequest) -> str:
    """The name or number of the machine in the address of a link made now."""
    return urlsplit(settings.PUBLIC_URL or f"//{request.get_host()}").hostname or ""


def reach(request: HttpRequest) -> str:
    """Who can open a link made now: "machine", "network" or "address"."""
    host = link_host(request)
    if host == "localhost":
        return "machine"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "address" if "." in host else "network"
    if address.is_loopback:
        return "machine"
    return "network" if address.is_private else "address"
