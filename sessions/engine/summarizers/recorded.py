"""The summaries the recording holds, at the events where it has one; elsewhere an extract of what was dropped."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from sessions.engine.policy import Draft
from sessions.engine.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.summarizers.stub import DEFAULT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import Message

BESIDE = 1
"""An event at a recorded compaction's request or this many requests beside it takes that compaction's products."""


def products(weighed: Weighed, compaction: int) -> tuple[Message, ...]:
    """What a recorded compaction made: its summary and what it re-attached, in order."""
    return tuple(m for m in weighed.transcript.messages if m.compaction == compaction)


def _room(weighed: Weighed, compaction: int, made: Sequence[Message]) -> int | None:
    """What the next measured context holds beside the products, for files put back that the file does not have.

    0 where it has some of them, None where that context is not measured.
    """
    if any(not message.summary for message in made):
        return 0
    recorded = weighed.transcript.compactions[compaction]
    step = next((step for step in weighed.steps if step.request == recorded.request), None)
    measured = None if step is None else weighed.transcript.requests[step.request].usage
    if step is None or measured is None or step.request in weighed.flagged:
        return None
    known = {*recorded.preserved, *(m.index for m in made), *range(max(recorded.boundary, step.start), step.stop)}
    held: int = sum(weighed.tokens[index] for index in known)
    return max(0, measured.context - weighed.overhead - held)


def typical_tokens(weighed: Weighed) -> int | None:
    """The session's median recorded summary in tokens, None where it has none."""
    summaries = [weighed.tokens[m.index] for m in weighed.transcript.messages if m.summary]
    return round(median(summaries)) if summaries else None


def write(brief: Brief) -> WrittenSummary:
    """The products of the recorded compaction at this request or beside it, else an extract (replay-semantics 5).

    An extract weighs what a summary of this session does: so a replay reads no text, and its totals hang on none.
    """
    near = [
        (abs(compaction.request - brief.request), number)
        for number, compaction in enumerate(brief.weighed.transcript.compactions)
        if abs(compaction.request - brief.request) <= BESIDE
    ]
    if near:
        number = min(near)[1]
        made = products(brief.weighed, number)
        if made:
            return WrittenSummary(
                messages=made, source=f"recorded (compaction {number})", room=_room(brief.weighed, number, made)
            )
    tokens = typical_tokens(brief.weighed)
    why = "the median of this session's recorded summaries" if tokens is not None else "no summary is recorded here"
    tokens = DEFAULT_TOKENS if tokens is None else tokens
    draft = Draft(f"[extractive summary, weighed as {tokens:,} tokens]", tokens, summary=True)
    return WrittenSummary((draft,), source=f"extractive, weighed as {tokens:,} tokens: {why}", is_outline=True)


SUMMARIZER = Summarizer(
    name="recorded",
    label="As recorded",
    source="the recording: its products at its compactions, elsewhere an extract weighed as its median summary",
    write=write,
)
