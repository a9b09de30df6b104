"""What Cline's classic client allows of a window (policies 11.3): its policy and the reader of its files need it."""

from __future__ import annotations

ALLOWED = {64_000: 37_000, 128_000: 98_000, 200_000: 160_000}


def allowed_of(window: int) -> int:
    """Tokens that the classic client allows for a window."""
    return ALLOWED.get(window, max(window - 40_000, window * 8 // 10))
