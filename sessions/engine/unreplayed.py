"""Recorded compactions that a replay cannot go through, in words (replay-semantics 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.engine.types import Transcript


def not_replayed(transcript: Transcript, base: str) -> list[str]:
    """What a replay on a base warns of: compactions that end the session, and those whose originals are missing."""
    compactions = transcript.compactions
    found: list[str] = []
    ending = [n for n, c in enumerate(compactions) if c.request >= len(transcript.requests)]
    if ending:
        which = " and ".join(str(number) for number in ending)
        words = "ends" if len(ending) == 1 else "end"
        found.append(
            f"recorded compaction {which} {words} the session: no request was sent after it, so no gate is asked"
        )
    if base == "full":
        found += [
            f"recorded compaction {number}: what it removed is not in this session, so its result stays"
            for number, compaction in enumerate(compactions)
            if compaction.outside
        ]
    return found
