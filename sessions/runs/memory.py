"""What this process holds of the sessions that it loaded."""

from __future__ import annotations

from sessions import selectors
from sessions.runs import overview, replays


def forget() -> None:
    """Forget every session: a worker that has kept what it worked out has no more use for it."""
    selectors.weighed_cache.clear()
    overview.forget()
    replays.forget()
