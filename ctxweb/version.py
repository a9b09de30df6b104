"""The version, as the installed distribution states it; its one source is the topmost heading of CHANGELOG.md."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def ctxweb_version() -> str:
    """For example ``0.1.0``; ``0+source`` where the code runs without having been installed."""
    try:
        return version("ctxweb")
    except PackageNotFoundError:
        return "0+source"
