"""What a summarizer whose summary weighs the same whatever is dropped inserts at every step."""

from __future__ import annotations

from typing import NamedTuple

from sessions.engine.base import registry
from sessions.engine.replays.summaries import Brief, Summaries
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import counted

FIXED_SIZE = frozenset({"recorded", "stub"})
"""Summarizers whose summary weighs the same whatever is dropped."""
ESTIMATOR = "tiktoken_o200k"
"""What an insert measures under an estimator does not matter where only its display tokens count."""
FAR = -1_000_000_000
"""A request far from every recorded compaction."""


class SummaryTokens(NamedTuple):
    """By step: the display tokens inserted, and how many of them are a summary's."""

    inserted: list[int]
    summary: list[int]


def summary_tokens(weighed: Weighed, summarizer: str) -> SummaryTokens:
    """Those of a session: at a recorded compaction and beside it what that one left, elsewhere the usual."""
    summaries = Summaries(weighed, summarizer, counted(registry.get("estimators", ESTIMATOR), weighed, None))
    beside = {c.request + n for c in weighed.transcript.compactions for n in (-1, 0, 1)}
    usual = _at(summaries, FAR)
    found = [_at(summaries, step.request) if step.request in beside else usual for step in weighed.steps]
    return SummaryTokens([inserted for inserted, _ in found], [summary for _, summary in found])


def _at(summaries: Summaries, request: int) -> tuple[int, int]:
    """Tokens inserted at a request, and those of them that are a summary's."""
    weighed = summaries.weighed
    written = summaries.summarizer.write(Brief(weighed, request, (), summaries.argument))
    if written.messages:
        tokens = [(weighed.tokens[message.index], message.summary) for message in written.messages]
    else:
        tokens = [(draft.tokens, draft.summary) for draft in written.drafts]
    return sum(n for n, _ in tokens), sum(n for n, is_summary in tokens if is_summary)
