"""Too many wrong passwords: the page that says when to try again, and how the door is opened before."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from axes.models import AccessAttempt
from axes.utils import reset
from django.conf import settings
from django.db.models import Max
from django.shortcuts import render
from django.utils import timezone

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def too_many_attempts(request: HttpRequest, response: HttpResponse | None, credentials: object) -> HttpResponse:
    """429 with the minutes that are left for this name from this address (django-axes calls it)."""
    name = request.POST.get("username", "")
    minutes = math.ceil(seconds_left(name, request.META["REMOTE_ADDR"]) / 60)
    context = {"username": name, "minutes": minutes, "limit": settings.AXES_FAILURE_LIMIT}
    answer = render(request, "sessions/login_refused.html", context, status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer


def seconds_left(name: str, address: str) -> float:
    """Seconds until ``name`` may try again from ``address``: the pause counts from the last attempt that counted."""
    attempts = AccessAttempt.objects.filter(username=name, ip_address=address)
    last = attempts.aggregate(last=Max("attempt_time"))["last"]
    passed = (timezone.now() - last).total_seconds() if last else 0.0
    left: float = settings.AXES_COOLOFF_TIME.total_seconds() - passed
    return max(1.0, left)


def forget_attempts(name: str) -> None:
    """Let ``name`` try again at once, from everywhere."""
    reset(username=name)
