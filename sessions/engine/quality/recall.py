"""Recall at retained tokens, a measure of several projects (hermes-agent, future-os), taken here without a model.

docs/numbers.md says what is asked, what answers, and how decoys take guesses off.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions.engine.quality.index import Index
from sessions.engine.quality.standing import Standing

COUNTS = ("needs_asked", "needs_open", "decoys", "decoys_named", "retained_tokens")
"""Counts over all compactions that recall is made of; they add up over sessions, and are no losses themselves."""


@dataclass(frozen=True, slots=True)
class Recall:
    """``share`` of ``asked`` that still answers, 0 to 1; ``tokens`` a compaction leaves, on average.

    ``at_least``: a summary without text may answer more.
    """

    share: float
    asked: int
    tokens: float
    at_least: bool

    @property
    def forgotten(self) -> float:
        """What no longer answers, in per cent."""
        return 100 * (1 - self.share)


def percent(share: float) -> str:
    """A share in whole per cent; 100% is all, 0% nothing."""
    rounded = round(100 * share)
    return f"{min(rounded, 99) if share < 1 else 100}%" if rounded else "under 1%" if share else "0%"


def recall_of(counts: Mapping[str, float], compactions: int) -> Recall | None:
    """Recall of a replay by its counts and ``needs_gone``; None where nothing was cut, or nothing of it is used."""
    asked = counts.get("needs_asked", 0)
    if not compactions or not asked:
        return None
    found = (asked - counts["needs_gone"] - counts["needs_open"]) / asked
    guessed = counts["decoys_named"] / counts["decoys"] if counts["decoys"] else 0.0
    share = max(0.0, (found - guessed) / (1 - guessed)) if guessed < 1 else 0.0
    return Recall(share, int(asked), counts["retained_tokens"] / compactions, bool(counts["needs_open"]))


def recall_words(recall: Recall | None) -> str:
    """What still answers, and in how many tokens: "at least 83% of 12 at 41,212 tokens"; "–" where nothing is asked."""
    if recall is None:
        return "–"
    least = "at least " if recall.at_least else ""
    return f"{least}{percent(recall.share)} of {recall.asked:,} at {round(recall.tokens):,} tokens"


def decoys_at(before: Standing, after: Standing, index: Index, first_places: Sequence[int]) -> tuple[int, int]:
    """References that nothing had said before a compaction, and how many of them what it wrote names.

    ``first_places`` are the messages in which the session's references stand first, ascending.
    """
    n_unsaid = len(first_places) - bisect_right(first_places, before.newest)
    return n_unsaid, sum(index.places[reference][0] > before.newest for reference in after.named)
