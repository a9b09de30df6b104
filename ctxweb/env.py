"""Typed reads of environment variables: settings come from the environment alone (12-factor)."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from sessions.faults import FaultError


def env_str(name: str, default: str = "") -> str:
    """The variable's value; ``NAME_FILE`` may name a file that holds it (for secrets).

    Raises FaultError where that cannot be read.
    """
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise FaultError(f"{name}_FILE cannot be read: {path}: {reason}.", "Name a readable text file.") from None
    return os.environ.get(name, default)


def env_bool(name: str, *, default: bool = False) -> bool:
    """True for 1, true, yes, on (any case)."""
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() in {"1", "true", "yes", "on"}


def env_int(name: str, default: int) -> int:
    """The variable as an integer; raises FaultError that names the variable."""
    value = os.environ.get(name)
    if not value:
        return default
    try:
        return int(value)
    except ValueError:
        raise FaultError(f"{name} must be a whole number, not {value!r}.", "Change it, or leave it out.") from None


def data_dir() -> Path:
    """Where uploads, the database and the queue live: ``CTXWEB_DATA``, else the platform's user data folder."""
    path = Path(env_str("CTXWEB_DATA") or platformdirs.user_data_dir("ctxweb", appauthor=False)).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path
