"""The project as a Django app: it owns no models, only system checks.

Settings that would lose data or leave the door open are named before anything is served.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from ctxweb.env import env_bool
from ctxweb.privacy import too_wide


class CtxwebConfig(AppConfig):
    """The app; its checks are registered as this module is imported."""

    name = "ctxweb"

    def ready(self) -> None:
        """Import Celery's application where a broker is used."""
        if settings.CELERY_BROKER_URL:
            from ctxweb import celery  # noqa: F401


LOOPBACK_NAMES = {"127.0.0.1", "localhost", "[::1]"}
ENGINES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}


@register()
def check_settings(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """What is wrong with the place, with who may come in, and with the database."""
    return [*_of_the_place(), *_of_the_database(), *_of_visitors()]


def _of_the_place() -> Iterator[CheckMessage]:
    """The data directory must be writable, and what others still have access to in it is named."""
    if not os.access(settings.DATA, os.W_OK | os.X_OK):
        hint = "Set CTXWEB_DATA to a folder that you may write to."
        yield Error(f"The data directory {settings.DATA} is not writable.", hint=hint, id="ctxweb.E001")
    if wide := too_wide(settings.DATA, str(settings.DATABASES["default"]["NAME"]) if settings.IS_SQLITE else ""):
        hint = "Make their owner run ctxweb, take access away with `chmod go=`, or set CTXWEB_DATA to another folder."
        message = f"Other users of this machine have access to {', '.join(map(str, wide))}."
        yield Warning(message, hint=hint, id="ctxweb.W003")


def _of_the_database() -> Iterator[CheckMessage]:
    """Only SQLite and PostgreSQL are tested, and a shared broker needs a database that hosts can share."""
    engine = settings.DATABASES["default"]["ENGINE"]
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        hint = "Leave CTXWEB_BROKER_URL empty: the database is the queue. Or name a Redis or RabbitMQ address."
        yield Error("A folder cannot be the broker.", hint=hint, id="ctxweb.E003")
    elif engine not in ENGINES:
        yield Error(f"{engine} is not supported.", hint="DATABASE_URL: sqlite or postgres.", id="ctxweb.E002")
    elif engine.endswith("sqlite3") and settings.CELERY_BROKER_URL:
        hint = "Set DATABASE_URL to a PostgreSQL database if workers run on other hosts."
        yield Warning("A shared broker is used with an SQLite database.", hint=hint, id="ctxweb.W002")


def _of_visitors() -> Iterator[CheckMessage]:
    """Names beyond loopback need accounts or the flag that says otherwise; cookies of HTTPS do not travel without."""
    if not (settings.REQUIRE_LOGIN or set(settings.ALLOWED_HOSTS) <= LOOPBACK_NAMES or env_bool("CTXWEB_UNSAFE")):
        hint = "Set CTXWEB_REQUIRE_LOGIN=1 and create users with `ctxweb user NAME`."
        message = "CTXWEB_ALLOWED_HOSTS has names beyond loopback, and nobody needs to sign in."
        yield Warning(message, hint=hint, id="ctxweb.W001")
    if urlsplit(settings.PUBLIC_URL).scheme == "https" and not settings.SESSION_COOKIE_SECURE:
        message = "CTXWEB_PUBLIC_URL begins with https://, but CTXWEB_HTTPS is off."
        hint = "Set CTXWEB_HTTPS=1, so that cookies travel encrypted alone. The proxy has to send X-Forwarded-Proto."
        yield Error(message, hint=hint, id="ctxweb.E004")
