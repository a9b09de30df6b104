"""The summaries the recording holds, at the events where it has one."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from sessions.engine.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.summarizers.stub import DEFAULT_TOKENS, stub

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import Message

BESIDE = 1
"""An event at a recorded compaction's request or this many requests beside it takes that compaction's products."""


def products(weighed: Weighed, compaction: int) -> tuple[Message, ...]:
    """What a recorded compaction made: its summary and what it re-attached, in order."""
    return tuple(m for m in weighed.transcript.messages if m.compaction == compaction)


def typical_tokens(weighed: Weighed) -> int | None:
    """The session's median recorded summary in tokens, None where it has none."""
    summaries = [weighed.tokens[m.index] for m in weighed.transcript.messages if m.summary]
    return round(median(summaries)) if summaries else None


def write(brief: Brief) -> WrittenSummary:
    """The products of the recorded compaction at this request or beside it, else a stub (replay-semantics 5)."""
    near = [
        (abs(compaction.request - brief.request), number)
        for number, compaction in enumerate(brief.weighed.transcript.compactions)
        if abs(compaction.request - brief.request) <= BESIDE
    ]
    if near:
        number = min(near)[1]
        made = products(brief.weighed, number)
        if made:
            return WrittenSummary(messages=made, source=f"recorded (compaction {number})")
    tokens = typical_tokens(brief.weighed)
    if tokens is None:
        return stub(DEFAULT_TOKENS, f"stub of {DEFAULT_TOKENS:,} tokens: no summary is recorded here")
    return stub(tokens, f"stub of {tokens:,} tokens, the median of this session's recorded summaries")


SUMMARIZER = Summarizer(
    name="recorded",
    label="As recorded",
    source="the recording: its products at its compactions, elsewhere a stub of its median summary",
    write=write,
)
