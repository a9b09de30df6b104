"""The unit of the study: a target whose newest result was dropped, or at a placebo point was not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """One dropped target, or at a placebo point one that was not dropped.

    ``needed_gone``, ``recency`` (minus the calls since its newest fetch), ``size`` (tokens) and ``absence`` (share of
    its references not in the context afterwards) are the predictors; ``n_before`` counts its fetches up to there.
    ``verb`` is that of its call, ``kinds`` counts what is needed and gone by kind of reference.
    """

    session: str
    point: int
    placebo: bool
    needed_gone: int
    recency: int
    size: int
    absence: float
    n_before: int
    fetched_again: bool
    verb: str = ""
    kinds: tuple[tuple[str, int], ...] = ()
