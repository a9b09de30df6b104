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
