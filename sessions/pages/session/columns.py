"""What the page of a session keeps, worked out before anybody visits it."""

from __future__ import annotations

from sessions.pages.session.causes import heavy
from sessions.pages.session.chart import pressure_json
from sessions.pages.session.state import SessionState
from sessions.runs import replays
from sessions.runs.overview import overview

SHOWN = (
    "kinds", "n_bytes", "factors", "contexts", "pairs", "per_token", "full_weight", "n_images", "tools", "shares",
    "verdicts", "headline",
)  # fmt: skip
"""Values of the overview that the page shows."""


def work_out(session_id: str) -> None:
    """Work out and keep all that the page shows of a long session."""
    view = overview(session_id)
    for name in SHOWN:
        getattr(view, name)
    pressure_json(view, SessionState().measure)
    heavy(view)
    replays.recording(session_id)
    view.keep()
