"""The project as a Django app: it owns no models, only system checks."""

from __future__ import annotations

from django.apps import AppConfig


class CtxwebConfig(AppConfig):
    """Registers the system checks when Django starts."""

    name = "ctxweb"

    def ready(self) -> None:
        """Import the checks, which registers them, and Celery's application where a broker is used."""
        from django.conf import settings

        from ctxweb import checks  # noqa: F401

        if settings.CELERY_BROKER_URL:
            from ctxweb import celery  # noqa: F401
