"""How long to wait before a process that ended is started again."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY_SECONDS = 60.0
"""A process that lived longer than this did not fail at its start."""


@dataclass(slots=True)
class BackOff:
    """A pause in seconds that doubles from 1 to 30 while processes end early."""

    pause: float = FIRST_PAUSE

    def after(self, lived: float) -> float:
        """The pause behind a process that ``lived`` so many seconds."""
        self.pause = FIRST_PAUSE if lived > STEADY_SECONDS else min(self.pause * 2, LONGEST_PAUSE)
        return self.pause
