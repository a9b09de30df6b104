"""Which verdicts are false alarms, and the message that each names, for every page that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.why.case import COMPACTION
from sessions.engine.why.verdicts import is_false

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.why.verdicts import Verdict


def named_message(verdict: Verdict) -> int | None:
    """The first message that the evidence names, None where it names none."""
    return next((row.message for row in verdict.evidence if row.message is not None), None)


def false_ones(verdicts: Iterable[Verdict]) -> frozenset[int]:
    """Numbers of the recorded compactions that were false alarms, from 0."""
    return frozenset(v.number for v in verdicts if v.what == COMPACTION and is_false(v))
