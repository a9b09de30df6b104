"""Wrong passwords: which door they close and for how long, who may pass meanwhile, and why (docs/decisions/0026)."""

from __future__ import annotations

import hashlib
import math
import secrets
from typing import TYPE_CHECKING, NamedTuple

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from axes.utils import reset
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import PasswordChangeView
from django.core import signing
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from ctxweb.address import network
from ctxweb.middleware import GetResponse, middleware
from sessions.services import people

if TYPE_CHECKING:
    from django.contrib.auth.forms import PasswordChangeForm
    from django.db.models import QuerySet

KNOWN_COOKIE, KNOWN_DAYS = "ctxweb_known", 365
SALT = "ctxweb.signin.known"
NO_ADDRESS = "::"
"""The address under which the attempts of a known browser are counted: wherever it is."""
STRANGERS_LIMIT = 20
"""Wrong passwords for one name from everywhere, and from one network for all names, before strangers have to wait."""


class Place(NamedTuple):
    """Where a sign-in comes from: a browser that signed in to this account before, else a network."""

    network: str
    device: str = ""


class Closed(NamedTuple):
    """A closed door: after how many failures, for how many seconds more, and in words which failures."""

    limit: int
    seconds: float
    words: str


@middleware
def known_browsers(request: HttpRequest, get_response: GetResponse) -> HttpResponseBase:
    """Whoever has just signed in takes a cookie along by which this browser is known for the account."""
    response = get_response(request)
    user = getattr(request, "now_known_to", None)
    if user is not None:
        value = signing.dumps([user.pk, secrets.token_hex(8), _proof(user)], salt=SALT)
        response.set_cookie(
            KNOWN_COOKIE, value, max_age=KNOWN_DAYS * 86_400, path=f"{settings.FORCE_SCRIPT_NAME or ''}/login/",
            secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax",
        )  # fmt: skip
    return response


@receiver(user_logged_in)
def make_known(request: HttpRequest | None, user: User, **more: object) -> None:
    """Let the answer to ``request`` carry the cookie; for a new password, too, since the old one's proves nothing."""
    if request is not None:
        request.now_known_to = user  # type: ignore[attr-defined]


def _proof(user: User) -> str:
    """What ends with the password that the browser signed in with."""
    return hashlib.sha256(user.get_session_auth_hash().encode()).hexdigest()[:32]


def place_of(request: HttpRequest, name: str) -> Place:
    """Where an attempt to sign in as ``name`` comes from."""
    try:
        user_id, device, proof = signing.loads(
            request.COOKIES.get(KNOWN_COOKIE, ""), salt=SALT, max_age=KNOWN_DAYS * 86_400
        )
    except (signing.BadSignature, ValueError, TypeError):
        return Place(network(request.META.get("REMOTE_ADDR", "")))
    user = User.objects.filter(pk=user_id, username=name, is_active=True).first()
    if user is None or not constant_time_compare(proof, _proof(user)):
        return Place(network(request.META.get("REMOTE_ADDR", "")))
    return Place(NO_ADDRESS, f"known:{device}")


class Doors(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """django-axes counts wrong passwords in its table; which of them close a door is said here."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, str] | None = None) -> int:
        """The limit where the door is closed, else 0."""
        name = self._place(request, credentials)
        return settings.AXES_FAILURE_LIMIT if closed(name, place_of(request, name)) else 0

    def user_login_failed(
        self, sender: object, credentials: dict[str, str], request: HttpRequest | None = None, **more: object
    ) -> None:
        """Count a wrong password where it came from."""
        if request is not None:
            self._place(request, credentials)
        super().user_login_failed(sender, credentials, request, **more)

    def user_logged_in(self, sender: object, request: HttpRequest, user: User, **more: object) -> None:
        """Forget the failures before it, from the same place."""
        self._place(request, {"username": user.get_username()})
        super().user_logged_in(sender, request, user, **more)

    @staticmethod
    def _place(request: HttpRequest, credentials: dict[str, str] | None) -> str:
        """Name the attempt's place where axes looks for it; returns the account's name."""
        name = str((credentials or {}).get("username") or "")
        request.axes_ip_address, request.axes_user_agent = place_of(request, name)  # type: ignore[attr-defined]
        return name


def closed(name: str, place: Place) -> Closed | None:
    """The door that is closed to whoever signs in as ``name`` from ``place``, the longest; None where none is."""
    rows = AccessAttempt.objects.filter(attempt_time__gt=timezone.now() - settings.AXES_COOLOFF_TIME)
    few, many = settings.AXES_FAILURE_LIMIT, STRANGERS_LIMIT
    strangers, own = rows.filter(user_agent=""), rows.filter(username=name, user_agent=place.device)
    if place.device:
        doors = [(own, few, f"{few} sign-ins as {name} failed in this browser.")]
    else:
        doors = [
            (own.filter(ip_address=place.network), few, f"{few} sign-ins as {name} failed from your address."),
            (strangers.filter(username=name), many, f"{many} sign-ins as {name} failed, from several addresses."),
            (strangers.filter(ip_address=place.network), many, f"{many} sign-ins failed from your address."),
        ]
    found = [Closed(limit, seconds, words) for some, limit, words in doors if (seconds := _seconds_left(some, limit))]
    return max(found, key=lambda one: one.seconds, default=None)


def _seconds_left(attempts: QuerySet[AccessAttempt], limit: int) -> float:
    """Seconds until fewer than ``limit`` of the failures are younger than the pause; 0 where that is so now."""
    rows = list(attempts.order_by("attempt_time").values_list("failures_since_start", "attempt_time"))
    total, left = sum(n for n, _ in rows), 0.0
    for n, last in rows:
        if total < limit:
            break
        total -= n
        left = max(1.0, (last + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds())
    return left


def too_many_attempts(request: HttpRequest, response: HttpResponse | None, credentials: object) -> HttpResponse:
    """429 with the minutes that are left (django-axes calls it)."""
    given = credentials if isinstance(credentials, dict) else request.POST
    name = str(given.get("username") or "")
    place = place_of(request, name)
    door = closed(name, place) or Closed(0, 1.0, "Too many sign-ins failed.")
    minutes = math.ceil(door.seconds / 60)
    context = {"minutes": minutes, "failed": door.words, "is_stranger": not place.device}
    answer = render(request, "sessions/login_refused.html", context, status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer


def forget_attempts(name: str) -> None:
    """Let ``name`` try again at once, from everywhere."""
    reset(username=name)


class _Change(PasswordChangeView):
    """The form that asks for the old password; what the old one opened ends, this browser stays signed in."""

    template_name = "sessions/password.html"
    success_url = reverse_lazy("password")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        people.end_access(user=form.user, keep_session_key=self.request.session.session_key)
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
