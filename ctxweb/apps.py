"""The project as a Django app: it owns no models, only system checks."""

from __future__ import annotations

from django.apps import AppConfig


class CtxwebConfig(AppConfig):
    """Registers the system checks when Django starts."""

    name = "ctxweb"

    def ready(self) -> None:
        """Import the checks: importing registers them."""
        from ctxweb import checks  # noqa: F401
