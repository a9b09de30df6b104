"""What the page Why keeps of a session, worked out before anybody visits it."""

from __future__ import annotations

from sessions.pages.why.context import why_view
from sessions.runs.overview import overview


def work_out(session_id: str) -> None:
    """Work out and keep all that the page shows of a long session."""
    view = overview(session_id)
    why_view(session_id, view)
    view.keep()
