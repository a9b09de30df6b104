"""Which window's threshold fits the size at which a context was compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.why.ladders import Rung, ladder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.why.case import Case


def fitting(case: Case, figure: int, windows: Iterable[int], share: float) -> tuple[Rung, int] | None:
    """The threshold of another window that was first reached here, overshot by no more than ``share`` or one step."""
    near = [
        (figure - rung.tokens, rung, window)
        for window in windows
        if window < 0.95 * case.window or not case.window_is_known
        for rung in ladder(case.weighed, window, case.model)[:1]
        if case.peak_before < rung.tokens <= figure <= rung.tokens + max(share * rung.tokens, _overshoot(case))
    ]
    return min(near)[1:] if near else None


def _overshoot(case: Case) -> int:
    """By how much the context grew since the gate was asked before, as far as that is less than a tenth of it."""
    growth = max(0, case.true - (case.peak_before or case.true))
    return growth if growth <= 0.1 * case.true else 0
