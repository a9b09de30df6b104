"""Typed reads of environment variables (12-factor); what cannot be meant is refused: never quietly a "no"."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import click
import platformdirs

from sessions.engine.base.suggestions import meant
from sessions.engine.base.words import words

YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")
PREFIX = "CTXWEB_"
SETTINGS = words(
    """DATA BROKER_URL S3_BUCKET S3_ENDPOINT QUEUE SERVER_PROCESSES WORKER_PROCESSES TASK_SECONDS MAX_UPLOAD_MB
    UPLOADS_AT_ONCE BODY_SECONDS FOLLOW_STREAMS REQUIRE_LOGIN UNSAFE ALLOWED_HOSTS PUBLIC_URL PROXIES TRUSTED_ORIGINS
    HTTPS SECRET_KEY ANTHROPIC_MODEL ANTHROPIC_PER_MINUTE MODELS LOG_LEVEL DEBUG"""
)
"""Names of our own variables after ``PREFIX`` (docs/settings.md)."""


class SettingError(click.ClickException):
    """An environment variable with a value that ctxweb cannot use; commands print it and end with status 2."""

    exit_code = 2


def env_str(name: str, default: str = "") -> str:
    """The variable's value, or that of the file which ``NAME_FILE`` names (for secrets); raises SettingError."""
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return os.environ.get(name, default)
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SettingError(f"{name}_FILE is {path!r}: {reason}. Name a readable file, or set {name}.") from None


def env_bool(name: str) -> bool:
    """True for 1, true, yes, on; False for 0, false, no, off (any case) and where it is empty; all else is an error."""
    return env_word(name, "", ("", *YES, *NO)) in YES


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    """The variable as a whole number of at least ``minimum``; empty is the default."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,15}", value) else None
    if number is None or number < minimum:
        raise SettingError(f"{name} is {value!r}. Use a whole number of at least {minimum:,}.")
    return number


def env_word(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """The variable in lower case, which must be one of ``allowed``; empty is the default."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if value.lower() not in allowed:
        raise SettingError(f"{name} is {value!r}. Use one of: {', '.join(filter(None, allowed))}.")
    return value.lower()


def env_url(name: str) -> str:
    """The variable as the address of a site, with a slash at its end; empty where it is not set."""
    value = env_str(name).strip()
    if not value:
        return ""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise SettingError(f"{name} is {value!r}. Use an address such as https://ctxweb.example.org/.")
    return value.rstrip("/") + "/"


def misspelt() -> list[str]:
    """A sentence for each variable that is set, is none of ours and is near one: it would count for nothing."""
    known = {*SETTINGS, *(f"{name}_FILE" for name in SETTINGS)}
    named = sorted(name for name in os.environ if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known)
    near = ((name, meant(name.removeprefix(PREFIX), SETTINGS)) for name in named)
    return [f"{name} is not a setting. Did you mean {PREFIX}{one}?" for name, one in near if one]


def data_path() -> Path:
    """Where uploads, the database and the queue live: ``CTXWEB_DATA``, else the platform's user data folder."""
    return Path(env_str("CTXWEB_DATA") or platformdirs.user_data_dir("ctxweb", appauthor=False)).expanduser()


def models_path() -> Path:
    """The user's own model table: ``CTXWEB_MODELS``, else ``models.toml`` in the data folder."""
    named = env_str("CTXWEB_MODELS")
    return Path(named).expanduser() if named else data_path() / "models.toml"


def expect_data() -> None:
    """Raise SettingError where the data folder is not there: who looks into one makes none by a mistyped name."""
    path = data_path()
    if path.is_dir() or env_str("DATABASE_URL"):
        return
    if env_str("CTXWEB_DATA"):
        raise SettingError(f"CTXWEB_DATA names {path}, which is not there. Check the path.")
    raise SettingError(f"There is no data folder yet: {path}. `ctxweb serve` makes it.")


def data_dir() -> Path:
    """The data folder (``data_path``), made where it is not there."""
    path = data_path()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
