"""Saved views: keep the one that is open, list them, open, compare two, delete."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_http_methods, require_safe

from sessions import selectors
from sessions.engine.base.words import counted
from sessions.models import SavedKind, SavedView, Session
from sessions.pages.ab import state as ab_state
from sessions.pages.sweep import state as sweep_state
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.view import MOST_NOTE, part_or_page, session_or_404
from sessions.runs import replay_state, replays


class SaveForm(forms.Form):
    """What a saved view is called, and why it was kept."""

    name = forms.CharField(max_length=120)
    note = forms.CharField(max_length=MOST_NOTE, required=False)


def owner_of(request: HttpRequest) -> int | None:
    """Whose views are seen: the account's where a login is required, else everybody's (None)."""
    return request.user.pk if settings.REQUIRE_LOGIN and request.user.is_authenticated else None


@require_safe
def saved(request: HttpRequest) -> HttpResponse:
    """All saved views, newest first; two picked ones are compared."""
    views = selectors.saved_views(owner_of(request))
    picked = request.GET.getlist("pick")
    problem = ""
    if picked:
        chosen = [view for view in views if str(view.pk) in picked and view.kind == SavedKind.REPLAY]
        if len(chosen) == 2:
            return redirect(_compared(*sorted(chosen, key=lambda view: picked.index(str(view.pk)))))
        problem = f"Two replays are compared, {len(chosen)} picked."
    context = {"rows": [(view, *_row(view), str(view.pk) in picked) for view in views], "problem": problem}
    return render(request, "sessions/saved/page.html", context, status=400 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def save(request: HttpRequest, session_id: str) -> HttpResponse:
    """The dialog (htmx) or page that keeps a view; a POST keeps it."""
    found = session_or_404(session_id)
    kind = request.GET.get("kind", "replay")
    query = {name: text for name, text in request.GET.dict().items() if name != "kind"}
    # a sweep names what it sweeps more than once
    state = sweep_state.query(sweep_state.parse(request.GET)) if kind == SavedKind.SWEEP else _state(kind, query)
    back = address(kind, found, state)
    if not back:
        raise Http404("There is no such view to save.")
    form = SaveForm(request.POST or None)
    context = {
        "session": found, "form": form, "kind": "A/B" if kind == SavedKind.AB else kind, "back": back,
        "name": _name(found, kind, state),
        "action": f"{reverse('sessions:save', args=[found.pk])}?kind={kind}{'&' if state else ''}{state}",
    }  # fmt: skip
    if request.method == "POST" and form.is_valid():
        owner = request.user.pk if request.user.is_authenticated else None
        kept = {"kind": SavedKind(kind), "state": state, "owner_id": owner, **form.cleaned_data}
        context["made"] = SavedView.objects.create(session=found, **kept)
    status = 201 if "made" in context else 422 if request.method == "POST" else 200
    return part_or_page(request, "sessions/saved/_save_dialog.html", "sessions/saved/save.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def saved_delete(request: HttpRequest, view_id: int) -> HttpResponse:
    """Asks, then deletes on a POST; 404 for a view of somebody else's and for none alike."""
    found = SavedView.objects.seen_by(owner_of(request)).select_related("session").filter(pk=view_id).first()
    if found is None:
        raise Http404("There is no such saved view.")
    if request.method == "POST":
        found.delete()
        return redirect("sessions:saved")
    return part_or_page(request, "sessions/saved/_delete_dialog.html", "sessions/saved/delete.html", {"view": found})


def address(kind: str, session: Session, state: str) -> str:
    """The page of a view, "" for a kind that has none."""
    if kind not in SavedKind.values:
        return ""
    try:
        return with_query(reverse(f"sessions:{kind}", args=[session.pk]), state)
    except NoReverseMatch:
        return ""


def _state(kind: str, query: Mapping[str, str]) -> str:
    """The query string to keep: the shortest of a replay or of two, else as it was sent."""
    if kind == SavedKind.REPLAY:
        return replay_state.query(replay_state.parse(query))
    if kind == SavedKind.AB:
        return ab_state.query(ab_state.parse(query))
    return urlencode(query, safe=":,")


def _replay_of(state: str) -> replay_state.ReplayState:
    return replay_state.parse(dict(parse_qsl(state)))


def _against(state: str) -> str:
    two = ab_state.parse(dict(parse_qsl(state)))
    return f"{two.a.policy} against {two.b.policy}"


def _name(session: Session, kind: str, state: str) -> str:
    """A name to begin with: the policy and what was changed of it."""
    if kind == SavedKind.AB:
        return _against(state)[:120]
    if kind == SavedKind.REPLAY:
        one = _replay_of(state)
        changed = ", ".join(f"{name} {value}" for name, value in one.params)
        n = len(replays.run(session.pk, one).replay.events)
        return f"{one.policy}{f' ({changed})' if changed else ''}: {counted(n, 'compaction')}"[:120]
    return str(session)[:120]


def _row(view: SavedView) -> tuple[str, str]:
    """Where a view is, and in words what it shows."""
    href = address(view.kind, view.session, view.state)
    about = ""
    if view.kind == SavedKind.REPLAY:
        about = " ".join(replay_state.arguments(_replay_of(view.state)))
    elif view.kind == SavedKind.AB:
        about = _against(view.state)
    return href, about


def _compared(a: SavedView, b: SavedView) -> str:
    """The A/B page of two saved replays, of one session or of two."""
    other = b.session_id if b.session_id != a.session_id else ""
    return ab_state.address(a.session_id, _replay_of(a.state), _replay_of(b.state), other)
