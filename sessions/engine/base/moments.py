"""Points in time as files record them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(timestamp: float | None) -> datetime | None:
    """A Unix time in seconds as a datetime; None where it is not recorded, or beyond the calendar."""
    try:
        return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    except (OverflowError, OSError, ValueError):
        return None
