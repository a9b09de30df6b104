"""Text in tool results that addresses whoever summarises: it can steer a compaction (verdicts 6.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sessions.engine.quality.rules import FENCE, source_of
from sessions.engine.transcript.types import Content, Kind, Message, Transcript

Read = Callable[[Message], tuple[Content, ...]]

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
