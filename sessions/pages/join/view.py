"""The page behind an invitation: a name and a password make the account, once."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from sessions.services import people


class JoinForm(forms.Form):
    """The name to sign in with, and the password twice."""

    name = forms.CharField(max_length=150)
    password = forms.CharField(max_length=200, strip=False)
    again = forms.CharField(max_length=200, strip=False)

    def clean_again(self) -> str:
        """The password once more; the two have to be equal."""
        again: str = self.cleaned_data["again"]
        if again != self.cleaned_data.get("password"):
            raise forms.ValidationError("The two passwords differ.")
        return again


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Asks for name and password; a POST makes the account and signs it in.

    404 for an invitation that is unknown, used, withdrawn or over: a stranger learns no more.
    """
    response = _joined(request, token)
    # A form of a page without a referrer is sent as from nowhere, and refused.
    response["Referrer-Policy"] = "same-origin"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Cache-Control"] = "private, no-store"
    return response


def _joined(request: HttpRequest, token: str) -> HttpResponse:
    found = people.find_invitation(token=token) if settings.REQUIRE_LOGIN else None
    if found is None:
        return render(request, "sessions/people/no_invitation.html", status=404)
    form = JoinForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            user = people.join(token=token, name=given["name"], password=given["password"])
        except ValidationError as error:
            for field, words in error.message_dict.items():
                form.add_error("password" if field == "password" else "name", words)
        else:
            if user is None:
                return render(request, "sessions/people/no_invitation.html", status=404)
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return redirect("sessions:library")
    context = {"form": form, "hint": found.hint, "token": token}
    return render(request, "sessions/people/join.html", context, status=422 if form.is_bound else 200)
