"""What else it could have been, and what in the file contradicts it: only then a cause is certain (verdicts 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.why import causes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.why.case import Case

NOT_SURE = 0.85
"""The most that a cause is worth while a rival stands."""
OVERSHOOT = 0.02
RIVALS: dict[str, tuple[str, ...]] = {
    causes.REACHED: (causes.MANUAL, causes.WINDOW),
    causes.REFILLED: (causes.MANUAL, causes.WINDOW),
    causes.ONE_MESSAGE: (causes.MANUAL, causes.FALLBACK),
    causes.OVERHEAD: (causes.MANUAL, causes.WINDOW),
    causes.RETAINED: (causes.MANUAL,),
    causes.MEDIA: (causes.CACHE,),
    causes.FALLBACK: (causes.CACHE,),
    causes.WINDOW: (causes.CACHE,),
}
"""The rivals of a cause that its own figures do not rule out."""
SIZED = frozenset(
    {causes.REACHED, causes.REFILLED, causes.ONE_MESSAGE, causes.OVERHEAD, causes.RETAINED, causes.WINDOW}
)
"""Causes that rest on the size of a context: without a usage, or a figure of the recorder's, that is only estimated."""


def is_excluded(case: Case, rival: str) -> bool:
    """Whether a figure, or a mark, of the file contradicts a rival here."""
    return EXCLUDED[rival](case)


def _not_manual(case: Case) -> bool:
    """It is no compaction, the recorder says auto, the agent was at work, or the threshold had just been passed."""
    if case.compaction is None or case.trigger == "auto" or not case.is_idle:
        return True
    limit = case.met
    return limit is not None and case.peak_before < limit <= case.true <= (1 + OVERSHOOT) * limit


def _not_window(case: Case) -> bool:
    """The window is recorded, shown by a larger context, or that of the model, and nothing speaks for another."""
    return case.window_is_known


def _not_fallback(case: Case) -> bool:
    return case.window_is_known or (case.error is not None and case.error.limit is not None)


def _not_cache(case: Case) -> bool:
    """The usage is what the text makes: nothing is left out of it."""
    return not case.is_partial


EXCLUDED: dict[str, Callable[[Case], bool]] = {
    causes.MANUAL: _not_manual,
    causes.WINDOW: _not_window,
    causes.FALLBACK: _not_fallback,
    causes.CACHE: _not_cache,
}
