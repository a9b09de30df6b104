"""What every template is given."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from ctxweb import refusals
from sessions.models import viewer


def csp_nonce(request: HttpRequest) -> dict[str, object]:
    """The CSP nonce as django-htmx's tags name it; lazy: it enters the header only where a template prints it."""
    return {"csp_nonce": SimpleLazyObject(lambda: str(getattr(request, "csp_nonce", "")))}


def uploads(request: HttpRequest) -> dict[str, object]:
    """The largest upload, in bytes, and what is said of a larger one."""
    refusal = SimpleLazyObject(lambda: refusals.too_large(reverse("sessions:upload")))
    return {"most_upload": settings.MAX_UPLOAD_BYTES, "upload_too_large": refusal}


def people(request: HttpRequest) -> dict[str, object]:
    """Whether ``accounts`` are required, who is looking, and whether they keep new uploads to themselves."""
    kept = SimpleLazyObject(lambda: bool(request.session.get("uploads_private")))
    return {"accounts": settings.REQUIRE_LOGIN, "viewer": viewer(), "uploads_private": kept}
