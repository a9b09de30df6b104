"""Django system checks: settings that would lose data or leave the door open are named before anything is served."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from ctxweb.env import env_bool
from ctxweb.privacy import too_wide

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOPBACK_NAMES = {"127.0.0.1", "localhost", "[::1]"}
ENGINES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}


@register()
def check_data_directory(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """The data directory must be writable."""
    if os.access(settings.DATA, os.W_OK | os.X_OK):
        return []
    hint = "Set CTXWEB_DATA to a folder that you may write to."
    return [Error(f"The data directory {settings.DATA} is not writable.", hint=hint, id="ctxweb.E001")]


@register()
def check_privacy(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Nobody but their owner may read transcripts; what could not be narrowed at the start is named."""
    wide = too_wide(settings.DATA, str(settings.DATABASES["default"]["NAME"]) if settings.IS_SQLITE else "")
    hint = "Make their owner run ctxweb, take access away with `chmod go=`, or set CTXWEB_DATA to another folder."
    message = "Other users of this machine have access to {}."
    return [Warning(message.format(", ".join(map(str, wide))), hint=hint, id="ctxweb.W003")] if wide else []


@register()
def check_database(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Only SQLite and PostgreSQL are tested, and a shared broker needs a database that hosts can share."""
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        hint = "Leave CTXWEB_BROKER_URL empty: the database is the queue. Or name a Redis or RabbitMQ address."
        return [Error("A folder cannot be the broker.", hint=hint, id="ctxweb.E003")]
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine not in ENGINES:
        return [Error(f"{engine} is not supported.", hint="DATABASE_URL: sqlite or postgres.", id="ctxweb.E002")]
    if engine.endswith("sqlite3") and settings.CELERY_BROKER_URL:
        hint = "Set DATABASE_URL to a PostgreSQL database if workers run on other hosts."
        return [Warning("A shared broker is used with an SQLite database.", hint=hint, id="ctxweb.W002")]
    return []


@register()
def check_who_may_come_in(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Names beyond loopback need accounts or the flag that says otherwise."""
    if settings.REQUIRE_LOGIN or set(settings.ALLOWED_HOSTS) <= LOOPBACK_NAMES or env_bool("CTXWEB_UNSAFE"):
        return []
    hint = "Set CTXWEB_REQUIRE_LOGIN=1 and create users with `ctxweb user NAME`."
    message = "CTXWEB_ALLOWED_HOSTS has names beyond loopback, and nobody needs to sign in."
    return [Warning(message, hint=hint, id="ctxweb.W001")]


@register()
def check_https(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Cookies of a site that people reach by HTTPS must not travel without it."""
    if urlsplit(settings.PUBLIC_URL).scheme != "https" or settings.SESSION_COOKIE_SECURE:
        return []
    message = "CTXWEB_PUBLIC_URL begins with https://, but CTXWEB_HTTPS is off."
    hint = "Set CTXWEB_HTTPS=1, so that cookies travel encrypted alone. The proxy has to send X-Forwarded-Proto."
    return [Error(message, hint=hint, id="ctxweb.E004")]
