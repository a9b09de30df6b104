"""Times as transcripts write them."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def seconds(value: Any) -> float | None:
    """An ISO time, or seconds or milliseconds since 1970, as seconds; None where it is none of these."""
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value).timestamp()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value / 1000 if value > 1e11 else float(value)
    except (ValueError, OverflowError, OSError):
        pass
    return None
