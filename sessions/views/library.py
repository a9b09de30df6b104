"""The library: every session, what to filter and sort it by, and where to drop more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """The empty library."""
    return render(request, "sessions/library.html")
