"""Replay links: the share dialog, the page that a stranger sees, revoking."""

from __future__ import annotations

from contextlib import closing, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from sessions import selectors
from sessions.engine.errors import BadParameter, UnreadableInput
from sessions.engine.redact import BY_KEY
from sessions.models import ReplayLink, Session, viewer
from sessions.pages.links import locked, shared_views
from sessions.pages.links.file import handout_html
from sessions.pages.links.forms import DAYS, ShareForm, hidden
from sessions.pages.links.reach import link_address, reach
from sessions.pages.links.redaction import cleaned
from sessions.pages.ui.results import weakest_label
from sessions.pages.ui.view import asks_fragment, owned_or_403, session_or_404, varied
from sessions.runs import replay_state, replays
from sessions.runs.handout import handout
from sessions.runs.overview import overview
from sessions.runs.removal import removal
from sessions.services import links as service
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    Answer = Callable[..., HttpResponse]


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
        if not form.is_valid():
            return _dialog(request, context, status=422)
        title = form.cleaned_data["title"] or context["claim"]
        note = form.cleaned_data["note"]
        if request.POST.get("send") == "file":
            return _to_file(request, session, state, title)
        terms = service.Terms(form.days, form.cleaned_data["secret"], form.choice)
        made = service.create_link(
            session=session, view=view, state=state, title=title, note=note, terms=terms, maker_id=viewer().user_id
        )
        context |= {"made": made.link, "links": selectors.session_links(session)}
        context["url"] = link_address(request, made.token)
    return _dialog(request, context, status=201 if request.method == "POST" else 200)


def _to_file(request: HttpRequest, session: Session, state: str, title: str) -> HttpResponse:
    """Where the file is made: a download, so the dialog stays as it is."""
    query = QueryDict(state, mutable=True)
    for name in ("chosen", "hide", "words", "note"):
        query.setlist(name, request.POST.getlist(name))
    query["title"] = title
    url = f"{reverse('sessions:share_file', args=[session.pk])}?{query.urlencode()}"
    return HttpResponseClientRedirect(url) if asks_fragment(request) else redirect(url)


@require_safe
def share_file(request: HttpRequest, session_id: str) -> HttpResponse:
    """The replay as one HTML file with a slider that works offline; 400 with the reasons for a wrong address."""
    session = owned_or_403(session_or_404(session_id))
    view, form = overview(session.pk), ShareForm(request.GET)
    state = replay_state.parse(request.GET.dict(), view.weighed)
    if state.errors or not form.is_valid():
        return JsonResponse({"errors": {**state.errors, **form.errors}}, status=400)
    try:
        with closing(selectors.load_texts(session)) as texts:
            index, prices = index_of(session), prices_for(view.weighed.model)
            document = handout(view.weighed, state, index, texts=texts, prices=prices, headline=view.headline)
    except (UnreadableInput, OSError):
        raise Http404("The uploaded file is missing from the store, so its text cannot be shown.") from None
    except BadParameter as error:
        return JsonResponse({"errors": {"replay": str(error)}}, status=400)
    title = form.cleaned_data["title"] or shared_views.VIEWS["replay"].claim(session, replay_state.query(state))
    label = weakest_label(replays.run(session.pk, state).replay.labels)
    page = handout_html(document, title=title, note=form.cleaned_data["note"], choice=form.choice, label=label)
    response = HttpResponse(page)
    response["Content-Disposition"] = f'attachment; filename="{session.pk}-replay.html"'
    response["Cache-Control"] = "private, no-store"
    return response


def _dialog(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    name = "sessions/links/_share_dialog.html" if asks_fragment(request) else "sessions/links/share.html"
    response = varied(render(request, name, context, status=status))
    response["Cache-Control"] = "private, no-store"
    return response


def _share_context(request: HttpRequest, session: Session, view: str, state: str) -> dict[str, Any]:
    chosen = shared_views.VIEWS[view]
    query = f"?view={view}{'&' if state else ''}{state}"
    return {
        "session": session,
        "view": view,
        "shows": chosen.shows,
        "claim": chosen.claim(session, state)[:255],
        "form": ShareForm(),
        "kinds": tuple(BY_KEY.values()),
        "left_out": frozenset(request.POST.getlist("hide")) if "chosen" in request.POST else frozenset(BY_KEY),
        "days": DAYS,
        "links": selectors.session_links(session),
        "action": reverse("sessions:share", args=[session.pk]) + query,
        "removed_url": reverse("sessions:share_removed", args=[session.pk]),
        "back": chosen.address(session) + (f"?{state}" if state else ""),
        "reaches": reach(request),
    }


@require_safe
def share_removed(request: HttpRequest, session_id: str) -> HttpResponse:
    """What a link of this session leaves out, with counts: a part of the dialog, or a page of its own."""
    session = owned_or_403(session_or_404(session_id))
    context: dict[str, Any] = {"session": session}
    try:
        context["removal"] = removal(session, hidden(request.GET))
    except OSError:
        context["problem"] = "The uploaded file is missing from the store, so its text cannot be looked through."
    name = "sessions/links/_share_removed.html" if asks_fragment(request) else "sessions/links/share_removed.html"
    return varied(render(request, name, context))


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
    if request.POST.get("back") == "people":
        return redirect("sessions:people")
    if not asks_fragment(request):
        return redirect(reverse("sessions:share", args=[link.session_id]) + f"?view={link.view}")
    context = {"session": link.session, "links": selectors.session_links(link.session)}
    return render(request, "sessions/links/_list.html", context)


@require_POST
def link_renew(request: HttpRequest, link_id: int) -> HttpResponse:
    """A new address for a link, shown once; the old one leads nowhere from then on."""
    _own_link(link_id)
    try:
        made = service.renew_link(link_id=link_id)
    except ReplayLink.DoesNotExist:
        raise Http404("The link was revoked or has expired.") from None
    session = made.link.session
    context = {"session": session, "links": selectors.session_links(session), "renewed": made.link.pk}
    context["url"] = link_address(request, made.token)
    name = "sessions/links/_list.html" if asks_fragment(request) else "sessions/links/renewed.html"
    response = varied(render(request, name, context))
    response["Cache-Control"] = "private, no-store"
    return response


def for_strangers(*, counted: bool) -> Callable[[Answer], Callable[..., HttpResponse]]:
    """Headers of every answer under /l/: no referrer, no index, no cache; and one 404 for revoked and unknown alike.

    ``counted``: opening it is a view; parts that an open page asks for are not.
    """

    def wrapped(view: Answer) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answered(request: HttpRequest, token: str, **more: str) -> HttpResponse:
            found = service.find_link(token=token)
            if found is None:
                response = render(request, "sessions/links/gone.html", status=404)
            elif not locked.is_open(request, found):
                response = _ask_password(request, token, found)
            else:
                if counted and request.method == "GET" and not asks_fragment(request):
                    service.count_view(found)
                selectors.notice(found.session)
                response = view(request, token, found, **more)
            response.setdefault("Referrer-Policy", "no-referrer")
            response["X-Robots-Tag"] = "noindex, nofollow"
            response["Cache-Control"] = "private, no-store"
            return response

        return answered

    return wrapped


def _ask_password(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The form for the password, and its answer: in, wrong (403), or a pause after five wrong ones (429).

    Its referrer stays within this server: a form of a page without one is sent as from nowhere, and refused.
    """
    response = _password_answer(request, token, found)
    response["Referrer-Policy"] = "same-origin"
    return response


def _password_answer(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    context: dict[str, Any] = {"token": token}
    if locked.paused(request, found):
        return render(request, "sessions/links/locked.html", context | {"paused": True}, status=429)
    if request.method != "POST":
        return render(request, "sessions/links/locked.html", context, status=401)
    if not locked.opens(request, found, request.POST.get("password", "")):
        return render(request, "sessions/links/locked.html", context | {"wrong": True}, status=403)
    response = redirect("sessions:link", token)
    locked.remember(request, response, found)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@for_strangers(counted=True)
def link(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The page that a stranger sees: the claim and the note, then the frozen view; a POST brings its password."""
    if request.method == "POST":
        return redirect("sessions:link", token)
    return _linked_page(request, token, found, found.view)


@require_safe
@for_strangers(counted=False)
def link_part(request: HttpRequest, token: str, found: ReplayLink, part: str) -> HttpResponse:
    """The replay or the diff of a link, another event of it: a part for htmx, the whole page else."""
    if found.view == "session":
        return render(request, "sessions/links/gone.html", status=404)
    return _linked_page(request, token, found, part)


def _linked_page(request: HttpRequest, token: str, found: ReplayLink, view: str) -> HttpResponse:
    chosen = shared_views.VIEWS[view]
    base = reverse("sessions:link_replay" if view != "session" else "sessions:link", args=[token])
    if view == "diff" and "rows" in request.GET and asks_fragment(request):
        context = shared_views.rows_context(found.session, found.state, request.GET, base, found.choice)
        return varied(render(request, "sessions/diff/_rows.html", context))
    context = chosen.context(found.session, found.state, request.GET, base, found.choice)
    if asks_fragment(request):
        return varied(render(request, chosen.template, context))
    context |= {
        "link": found,
        "shown": view,
        "about": shared_views.about(found.session, found.choice),
        "not_understood": selectors.load_weighed(found.session.pk).transcript.gaps,
        "options": chosen.options(found.state),
        "fragment": chosen.template,
        "removed_url": reverse("sessions:link_removed", args=[token]),
        "json_url": reverse("sessions:link_json", args=[token]),
        "json_words": chosen.json_words,
    }
    return varied(render(request, "sessions/links/link.html", context))


@require_safe
@for_strangers(counted=False)
def link_removed(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """How much was taken out, by sort: numbers only, a stranger is not told where."""
    context: dict[str, Any] = {"link": found, "back": reverse("sessions:link", args=[token])}
    with suppress(OSError):
        context["removal"] = removal(found.session, found.choice)
    name = "sessions/links/_removed.html" if asks_fragment(request) else "sessions/links/removed.html"
    return varied(render(request, name, context))


@require_safe
@for_strangers(counted=False)
def link_json(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The frozen view as one JSON document, its text cleaned."""
    chosen = shared_views.VIEWS[found.view]
    document = cleaned(chosen.document(found.session, found.state), found.choice)
    response = JsonResponse(document, json_dumps_params={"ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{found.view}.json"'
    return response
