"""What calls of other servers share: how a model's fail, waiting that can be cancelled, where a redirect points."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from sessions.engine.base.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = re.compile(r"[\w.~:/%-]+", re.ASCII)
"""A host and a path that can be shown as they are."""


class CallFailed(EngineError):
    """A call that brought nothing usable; ``str(error)`` is fit to show and never holds the key.

    ``kind``: key_refused, billing, bad_request, rate_limited, overloaded, server, timeout, unreachable, dropped,
    malformed, refused (by the model), empty, cut (at max_tokens) or cancelled.  ``retry_after`` is in seconds.
    """

    def __init__(self, kind: str, reason: str, retry_after: float | None = None) -> None:
        self.kind, self.retry_after = kind, retry_after
        super().__init__(reason)


def never() -> bool:
    """A ``cancel`` that is never asked for."""
    return False


def pause(seconds: float, cancel: Callable[[], bool] = never) -> None:
    """Sleep, listening to ``cancel`` ten times a second; raises CallFailed when it is asked for."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check(cancel)
        time.sleep(min(0.1, left))


def check(cancel: Callable[[], bool]) -> None:
    """Raise CallFailed when ``cancel`` is asked for."""
    if cancel():
        raise CallFailed("cancelled", "Cancelled.")


def pointed_to(asked: str, location: str) -> str:
    """The address that a redirect of ``asked`` leads to, without credentials and query; "" where it is none.

    Whoever sends a credential follows no redirect: the next server has not been given it.  They name this instead.
    """
    try:
        found = urlsplit(urljoin(asked, location))
        host, port = found.hostname or "", found.port
    except ValueError:
        return ""
    known = found.scheme in {"http", "https"} and location and _PLAIN.fullmatch(host + found.path)
    shown = f"[{host}]" if ":" in host else host
    return f"{found.scheme}://{shown}{f':{port}' if port else ''}{found.path or '/'}" if known else ""
