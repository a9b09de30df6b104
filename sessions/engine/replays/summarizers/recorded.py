"""The summaries the recording holds, at the events where it has one; elsewhere an extract of what was dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sessions.engine.base.session_cache import Remembered
from sessions.engine.policies.policy import Draft
from sessions.engine.replays.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.replays.summarizers.stub import DEFAULT_TOKENS
from sessions.engine.transcript.types import Kind, Message
from sessions.engine.weigh.calibration.weighed import Weighed

BESIDE = 1
"""An event at a recorded compaction's request or this many requests beside it takes that compaction's products."""


@dataclass(frozen=True, slots=True)
class _Products:
    """What a session's compactions made, gathered once: message indices by compaction, its summaries' median in tokens.

    ``at`` are the numbers of the compactions by request.
    """

    made: Mapping[int, Sequence[int]]
    at: Mapping[int, Sequence[int]]
    typical: int | None


PRODUCTS: Remembered[_Products] = Remembered("products")


def _products(weighed: Weighed) -> _Products:
    return weighed.cache.value(PRODUCTS, lambda: _gathered(weighed))


def _gathered(weighed: Weighed) -> _Products:
    made, at = defaultdict(list), defaultdict(list)
    for index, compaction, _ in weighed.produced:
        if compaction is not None:
            made[compaction].append(index)
    for number, recorded in enumerate(weighed.transcript.compactions):
        at[recorded.request].append(number)
    summaries = [weighed.tokens[index] for index, _, is_summary in weighed.produced if is_summary]
    return _Products(dict(made), dict(at), round(median(summaries)) if summaries else None)


def products(weighed: Weighed, compaction: int) -> tuple[Message, ...]:
    """What a recorded compaction made: its summary and what it re-attached, in order."""
    messages = weighed.transcript.messages
    return tuple(messages[index] for index in _products(weighed).made.get(compaction, ()))


def typical_tokens(weighed: Weighed) -> int | None:
    """The session's median recorded summary in tokens, None where it has none."""
    return _products(weighed).typical


def _room(weighed: Weighed, compaction: int, made: Sequence[Message]) -> int | None:
    """What the next measured context holds beside the products: files put back, or a summary, that the file lacks.

    0 where it has some of them, None where that context is not measured.
    """
    if any(not message.summary for message in made):
        return 0
    recorded = weighed.transcript.compactions[compaction]
    place = weighed.places.get(recorded.request)
    measured = None if place is None else weighed.transcript.requests[recorded.request].usage
    if place is None or measured is None or recorded.request in weighed.flagged:
        return None
    step = weighed.steps[place]
    known = {*recorded.preserved, *(m.index for m in made), *range(max(recorded.boundary, step.start), step.stop)}
    held: int = sum(weighed.tokens[index] for index in known)
    return max(0, measured.context - weighed.overhead - held)


def write(brief: Brief) -> WrittenSummary:
    """The products of the recorded compaction at this request or beside it, else an extract (replay-semantics 5).

    An extract weighs what a summary of this session does: so a replay reads no text, and its totals hang on none.
    """
    at = _products(brief.weighed).at
    near = [
        (abs(beside), number) for beside in range(-BESIDE, BESIDE + 1) for number in at.get(brief.request + beside, ())
    ]
    if near:
        number = min(near)[1]
        made = products(brief.weighed, number)
        source, room = f"recorded (compaction {number + 1})", _room(brief.weighed, number, made)
        if made and all(block.kind is Kind.OPAQUE for message in made for block in message.blocks):
            return WrittenSummary(messages=made, source=source, unseen=room or 0)
        if made:
            return WrittenSummary(messages=made, source=source, room=room)
        if room:
            draft = Draft(f"[summary of {room:,} tokens, its words not in the file]", room, summary=True)
            return WrittenSummary((draft,), source=f"{source}, its size by the next context", is_outline=True)
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
