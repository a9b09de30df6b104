"""What every template is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.functional import SimpleLazyObject

if TYPE_CHECKING:
    from django.http import HttpRequest


def csp_nonce(request: HttpRequest) -> dict[str, object]:
    """The request's CSP nonce under the name that django-htmx's tags read.

    Lazy: the nonce enters the policy header only where a template prints it.
    """
    return {"csp_nonce": SimpleLazyObject(lambda: str(getattr(request, "csp_nonce", "")))}
