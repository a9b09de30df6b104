"""Rules said before a recorded compaction, lost by it and broken after, and what could steer it (verdicts 6.1, 6.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.constraints import constraints_at
from sessions.engine.quality.index import Index, Read, build_index
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.rules import FENCE, MEMORY, source_of
from sessions.engine.quality.standing import GONE
from sessions.engine.transcript.types import Content, Kind, Message, Transcript
from sessions.engine.weigh.calibration.weighed import Weighed

MAX_CHARS = 300
MOST = 50
"""Sentences that are named of one session."""
_HINT = re.compile(r"summar|compact|condens", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LIST = r"(?:this|the|our|your)\s+(?:\w+\s+)?(?:conversation|context|session|chat|history|transcript|dialogue)"
_DO = r"(?:summari[sz](?:e|ing)|compact(?:ing)?|condens(?:e|ing))"
_ORDER = (
    r"(?:always|never|keep|include|preserve|remember|do\s+not|don['’]t|make\s+sure|mention|repeat|drop|omit|state|add|"
    r"say|write|copy|ensure|retain|ignore|forget|carry)"
)
_ADDRESSED = re.compile(
    rf"\b(?:when|while|whenever|if|before|after)\s+(?:you\s+(?:are\s+)?)?{_DO}\s+{_LIST}\b"
    rf"|\b(?:when|while|whenever|if)\s+(?:you\s+(?:are\s+)?)?{_DO}\b[^.!?]{{0,40}}[,:]\s*(?:please\s+|you\s+must\s+)?{_ORDER}\b"
    rf"|\b{_ORDER}\b[^.!?]{{1,120}}\b(?:in|into|through|across|out\s+of|from)\s+(?:the|your|any|every)\s+"
    r"(?:(?:conversation|context|session|compaction|hand-?off)\s+(?:summary|summaries)|compactions?)\b"
    r"|\b(?:instructions?|notes?|message|attention)\b[^.!?]{0,20}\b(?:for|to)?\s*(?:the\s+|whoever\s+)?"
    r"(?:summari[sz]er|summari[sz]ing\s+(?:model|agent|assistant)|compactor)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule, and the later call that does what it forbids; ``may_stand``: its memory file may have been sent again."""

    text: str
    source: str
    said_at: int
    broken_at: int
    broken_by: str
    may_stand: bool


@dataclass(frozen=True, slots=True)
class RulesAfter:
    """What became of the rules at one recorded compaction: ``n_lost`` of ``n_rules`` that stood before are lost."""

    compaction: int
    n_rules: int
    n_lost: int
    broken: tuple[Broken, ...]
    steering: tuple[Steering, ...]


def rules_after(weighed: Weighed, read: Read, index: Index | None = None) -> tuple[RulesAfter, ...]:
    """One entry for each recorded compaction whose originals are in the session; reads every message."""
    if not weighed.transcript.compactions:
        return ()
    index = index or build_index(weighed.transcript, read)
    said = steering(weighed.transcript, read)
    assessor = Assessor(weighed, index)
    events = recorded_events(weighed)
    n_messages = len(weighed.transcript.messages)
    ends = [event.message for _, event in events[1:]]
    stops = [*(n_messages if end is None else end + 1 for end in ends), n_messages]
    found = []
    for (number, event), stop in zip(events, stops[: len(events)], strict=True):
        before, after = assessor.look(event, {})
        fates = constraints_at(before, after, index, stop)
        broken = tuple(
            Broken(f.text, f.source, f.source_message, f.broken_at, f.broken_by, f.source == MEMORY)
            for f in fates
            if f.state == GONE and f.broken_at is not None and not f.broken_before
        )
        steered = tuple(one for one in said if one.message in before.whole)
        n_rules, n_lost = sum(not f.lost_before for f in fates), sum(f.is_lost for f in fates)
        found.append(RulesAfter(number, n_rules, n_lost, broken, steered))
    return tuple(found)


def rules_document(one: RulesAfter) -> dict[str, Any]:
    """``rules`` of a compaction in ``ctxweb.aftermath/1``."""
    kept = asdict(one)
    return {key: kept[key] for key in ("n_rules", "n_lost", "broken")} | {
        "steering": [row._asdict() for row in one.steering]
    }


class Steering(NamedTuple):
    """A sentence of a tool result, by its message, that tells the summariser what to write."""

    message: int
    text: str


def steering(transcript: Transcript, read: Read) -> tuple[Steering, ...]:
    """Such sentences of a session, in order; memory files and skills that a tool read may give orders, and are none."""
    targets = {b.call_id: b.target for m in transcript.messages for b in m.blocks if b.kind is Kind.TOOL_USE}
    found: list[Steering] = []
    for message in transcript.messages:
        if message.compaction is None and any(block.kind is Kind.TOOL_RESULT for block in message.blocks):
            found += _of_message(message, read(message), targets)
    return tuple(found[:MOST])


def _of_message(message: Message, contents: tuple[Content, ...], targets: dict[str, str]) -> Iterator[Steering]:
    for content in contents:
        target = targets.get(content.call_id, "")
        if content.kind is Kind.TOOL_RESULT and not (target and source_of(message, read_path=target)):
            for text in addressed("\n".join(_texts(content))):
                yield Steering(message.index, text)


def addressed(text: str) -> Iterator[str]:
    """The sentences of a text that address whoever summarises; what stands in a code fence is none."""
    if not _HINT.search(text):
        return
    for piece in _SENTENCE.split(FENCE.sub("\n", text)):
        sentence = " ".join(piece.split())
        if len(sentence) <= MAX_CHARS and _ADDRESSED.search(sentence):
            yield sentence


def _texts(content: Content) -> Iterator[str]:
    yield content.text
    for part in content.parts:
        yield from _texts(part)
