"""Which verdicts are false alarms, the message that each names, and what a compaction held, for every page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sessions.engine.why.case import COMPACTION
from sessions.engine.why.causes import WRONG_COUNT
from sessions.engine.why.verdicts import is_false

if TYPE_CHECKING:
    from sessions.engine.why.verdicts import Verdict
    from sessions.runs.overview import Overview


def named_message(verdict: Verdict) -> int | None:
    """The first message that the evidence names, None where it names none."""
    return next((row.message for row in verdict.evidence if row.message is not None), None)


def false_ones(verdicts: Iterable[Verdict]) -> frozenset[int]:
    """Numbers of the recorded compactions that were false alarms, from 0."""
    return frozenset(v.number for v in verdicts if v.what == COMPACTION and is_false(v))


def held(view: Overview) -> tuple[int | None, ...]:
    """Tokens before each recorded compaction: as recorded; what was sent where that is a wrong count, or missing."""
    found = {v.number: v for v in view.verdicts if v.what == COMPACTION and v.true is not None}

    def one(number: int, recorded: int | None) -> int | None:
        verdict = found.get(number)
        return verdict.true if verdict and (recorded is None or verdict.cause in WRONG_COUNT) else recorded

    return tuple(one(n, c.tokens_before) for n, c in enumerate(view.weighed.transcript.compactions))
