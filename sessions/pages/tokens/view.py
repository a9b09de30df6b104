"""Personal tokens on the settings pages: make one, see it once, end it."""

from __future__ import annotations

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sessions.models import Scope, viewer
from sessions.pages.ui.view import private
from sessions.services import tokens as service

DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("", "until revoked"))


class TokenForm(forms.Form):
    """What a token is called, what it may be used for, and how long it works."""

    name = forms.CharField(max_length=80)
    scopes = forms.MultipleChoiceField(choices=Scope.choices)
    days = forms.ChoiceField(choices=DAYS, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The viewer's tokens; a POST makes one and shows it, once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    mine = viewer().user_id
    made, status = None, 200
    if form.is_bound:
        status = 422
        if form.is_valid():
            given = form.cleaned_data
            days = int(given["days"]) if given["days"] else None
            made = service.make_token(name=given["name"], scopes=given["scopes"], owner_id=mine, days=days)
            status = 201
    context = {
        "form": form, "made": made, "tokens": service.tokens_of(mine), "scopes": Scope.choices, "days": DAYS,
        "chosen": request.POST.getlist("scopes") if form.is_bound else [Scope.READ],
    }  # fmt: skip
    return private(render(request, "sessions/tokens/page.html", context, status=status))


@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a token of the viewer; 404 for one of somebody else's and for none alike."""
    if not service.revoke_token(token_id=token_id, owner_id=viewer().user_id):
        raise Http404("There is no such token.")
    return redirect("sessions:tokens")
