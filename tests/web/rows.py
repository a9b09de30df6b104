"""Rows for page tests, made without reading a file."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sessions.models import Session, State, Upload

NOON = dt.datetime(2026, 11, 19, 12, tzinfo=dt.UTC)


def make_session(n: int = 1, **fields: Any) -> Session:
    """A stored session with figures only; ``n`` tells its upload, id and time apart."""
    upload = Upload.objects.create(sha256=f"{n:064x}", filename=f"file-{n}.jsonl", n_bytes=1000, status=State.DONE)
    values: dict[str, Any] = {
        "title": f"Session {n}", "format": "claude_code", "model": "claude-opus-4-8", "n_messages": 10, "n_requests": 5,
        "n_images": 0, "n_tool_calls": 2, "wire_bytes": 1000 * n, "pressure_bytes": 900, "tokens": 300 * n,
        "tokens_label": "calibrated", "window": 200_000, "ended_at": NOON + dt.timedelta(hours=n),
        "spark": {"points": [1000, 2000], "compactions": [], "worst": None},
    }  # fmt: skip
    return Session.objects.create(id=f"s_{n:06d}", upload=upload, position=0, **(values | fields))


def make_file(n: int, total: int, **fields: Any) -> list[Session]:
    """``total`` sessions of one upload; ``n`` tells their upload, ids and times apart from those of others."""
    first = make_session(n, **fields)
    found = [first]
    for position in range(1, total):
        values = {field.name: getattr(first, field.name) for field in Session._meta.concrete_fields}
        own = {"id": f"s_{n:03d}_{position:03d}", "position": position, "title": f"{first.title}, {position}"}
        found.append(Session.objects.create(**(values | own)))
    return found
