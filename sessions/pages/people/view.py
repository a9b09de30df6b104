"""The people of a team: who is here, who shared what with whom, and who sees a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions import selectors
from sessions.engine.base.words import counted
from sessions.models import Invitation, ReplayLink, Session, Viewer, viewer
from sessions.pages.ui.addresses import whole
from sessions.pages.ui.view import admin_or_403, own_address, owned_or_403, private, session_or_404
from sessions.services import people as service

View = Callable[..., HttpResponse]
MAX_LISTED = 100


class InviteForm(forms.Form):
    """For whom an invitation is meant, and what they may do."""

    hint = forms.CharField(max_length=150, required=False)
    admin = forms.BooleanField(required=False)


def for_admins(view: View) -> View:
    """404 where there are no accounts; 403 for members."""

    @wraps(view)
    def allowed(request: HttpRequest, **given: Any) -> HttpResponse:
        if not settings.REQUIRE_LOGIN:
            raise Http404("This server has no accounts.")
        admin_or_403("accounts")
        return view(request, **given)

    return allowed


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """Accounts, invitations that are open, and every link of a session that the viewer sees."""
    return _page(request)


def _page(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    who = viewer()
    invitations = Invitation.objects.open().select_related("maker") if who.is_admin else Invitation.objects.none()
    context = {
        "rows": service.accounts(),
        "invitations": invitations[:MAX_LISTED],
        "links": _links(who),
        "days": service.INVITATION_DAYS,
        **more,
    }
    return private(render(request, "sessions/people/page.html", context, status=status))


def _links(who: Viewer, session: Session | None = None) -> list[tuple[ReplayLink, bool]]:
    """The links that the viewer sees, of a session or all, and whether the end of each is theirs to decide."""
    return [
        (link, who.owns(link.maker_id) or who.owns(link.session.upload.owner_id))
        for link in selectors.links_seen(session)
    ]


@require_POST
@for_admins
def invite(request: HttpRequest) -> HttpResponse:
    """Make an invitation; its address is shown once."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, status=422, problem="The note is longer than 150 characters.")
    given = form.cleaned_data
    made = service.invite(maker_id=viewer().user_id, hint=given["hint"], is_admin=given["admin"])
    return _page(request, status=201, address=own_address(request, "sessions:join", made.token), made=made.invitation)


@require_POST
@for_admins
def withdraw(request: HttpRequest, invitation_id: int) -> HttpResponse:
    """Make an invitation lead nowhere."""
    Invitation.objects.open().filter(pk=invitation_id).delete()
    return redirect("sessions:people")


@require_POST
@for_admins
def role(request: HttpRequest, user_id: int) -> HttpResponse:
    """Make an account an admin or a member; 409 for the last admin."""
    user = get_object_or_404(User, pk=user_id)
    try:
        service.set_role(user=user, is_admin=request.POST.get("role") == "admin")
    except service.NotPossibleError as error:
        return _page(request, status=409, problem=str(error))
    return redirect("sessions:people")


@require_http_methods(["GET", "HEAD", "POST"])
@for_admins
def remove(request: HttpRequest, user_id: int) -> HttpResponse:
    """Says what the account has and asks what becomes of it; a POST removes it."""
    user = get_object_or_404(User, pk=user_id)
    others = User.objects.filter(is_active=True).exclude(pk=user.pk).order_by("username")
    problem = ""
    if request.method == "POST":
        sessions_to = request.POST.get("things", "")
        heir_id = whole(sessions_to, 9)
        heir = None if heir_id is None else others.filter(pk=heir_id).first()
        try:
            service.remove_account(user=user, sessions_to=sessions_to, heir=heir)
        except service.NotPossibleError as error:
            problem = str(error)
        else:
            messages.success(request, f"Removed the account {user}.")
            return redirect("sessions:people")
    context = {"person": user, "has": service.holdings(user=user), "others": others, "problem": problem}
    return render(request, "sessions/people/remove.html", context, status=409 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def who(request: HttpRequest, session_id: str) -> HttpResponse:
    """Who sees a session, and a button that changes it; 403 for whoever it does not belong to."""
    session = owned_or_403(session_or_404(session_id))
    problem = ""
    if request.method == "POST":
        try:
            private_now = request.POST.get("who") == "mine"
            n = service.set_private(session=session, private=private_now)
        except service.NotPossibleError as error:
            problem = str(error)
        else:
            seen_by = "Only you and admins see" if private_now else "The team sees"
            messages.success(request, f"{seen_by} {counted(n, 'session')} now.")
            return redirect("sessions:who", session_id)
    context = {
        "session": session,
        "owner": session.upload.owner,
        "problem": problem,
        "n_family": len(service.family(session)),
        "links": _links(viewer(), session),
    }
    return render(request, "sessions/people/who.html", context, status=409 if problem else 200)
