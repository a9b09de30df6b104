"""One's own password: changed here where accounts are required; a forgotten one is given anew on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.views import PasswordChangeView
from django.http import Http404
from django.urls import reverse_lazy

from ctxweb.signin import make_known
from sessions.services import people

if TYPE_CHECKING:
    from django.contrib.auth.forms import PasswordChangeForm
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase


class _Change(PasswordChangeView):
    """The form that asks for the old password; what the old one opened ends, this browser stays signed in."""

    template_name = "sessions/password.html"
    success_url = reverse_lazy("password")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Save the new password."""
        response = super().form_valid(form)
        people.end_access(user=form.user, keep=self.request.session.session_key)
        make_known(self.request, form.user)
        return response


_change = _Change.as_view()


def password(request: HttpRequest) -> HttpResponseBase:
    """The form (GET) and the change (POST), which ends the account's other ways in; 404 without accounts."""
    if not settings.REQUIRE_LOGIN:
        raise Http404("This server has no accounts.")
    response = _change(request)
    if response.status_code == 302:
        response["Location"] += "?changed=1"
    return response
