"""One's own password: changed here where accounts are required; a forgotten one is given anew on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.views import PasswordChangeView
from django.http import Http404
from django.urls import reverse_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

_change = PasswordChangeView.as_view(template_name="sessions/password.html", success_url=reverse_lazy("password"))


def password(request: HttpRequest) -> HttpResponseBase:
    """The form (GET) and the change (POST), which ends the account's other sign-ins; 404 without accounts."""
    if not settings.REQUIRE_LOGIN:
        raise Http404("This server has no accounts.")
    response = _change(request)
    if response.status_code == 302:
        response["Location"] += "?changed=1"
    return response
