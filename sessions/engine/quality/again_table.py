"""Dropped results fetched again, by dose: made by ``python -m tests.bench study``, not to be edited.

116 sessions of Claude Code with 39 compactions, the latest of 2026-02-15, from the
public repository entireio/cli (branch entire/checkpoints/v1).
"""

from __future__ import annotations

N_CALLS = 20
"""Tool calls after a compaction that were looked at."""
KINDS = frozenset({"read"})
"""Verbs of results for which the loss is seen to add something; of the others nothing is said."""
SHARES: dict[str, tuple[tuple[float, float], ...]] = {
    "read": ((0.066, 0.032), (0.176, 0.068), (0.2, 0.097), (0.55, 0.209)),
}
"""By dose: the share fetched again where the result was dropped, and where nothing was."""
SOURCE = "116 Claude Code sessions, 39 compactions, until 2026-02-15"
CHANCES: dict[str, tuple[float, float]] = {
    "path": (0.016, 0.032),
    "location": (0.000, 0.000),
    "url": (0.008, 0.033),
    "identifier": (0.013, 0.032),
    "command": (0.026, 0.051),
    "error": (0.005, 0.011),
    "number": (0.001, 0.003),
    "quoted": (0.007, 0.022),
    "id": (0.005, 0.009),
}
"""By kind of what a compaction lost: the share named again within ``N_CALLS`` calls, and the same where
nothing was dropped; made by ``python -m tests.bench chances``."""
CHANCES_SOURCE = "59 compactions of 5 repositories"
