"""The messages behind a gate's wrong count: by how much an estimator's size of each exceeds, or misses, its tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.transcript.types import Block, Kind, Message
from sessions.engine.weigh.calibration.weighed import Weighed

N_CULPRITS = 3


@dataclass(frozen=True, slots=True)
class Culprit:
    """One message and what a gate charges for it: ``size`` in the gate's unit against ``tokens`` of the reference.

    ``factor`` is size ÷ tokens, None for a message of no tokens.  Where ``tested``, ``without`` is the request at which
    the gate fires first when this message is left out, None when it then never fires.
    """

    message: int
    size: int
    tokens: int
    has_media: bool
    tested: bool = False
    without: int | None = None

    @property
    def factor(self) -> float | None:
        """The over-count factor: under 1 where the gate counts too little."""
        return self.size / self.tokens if self.tokens else None


def heaviest(weighed: Weighed, sizes: Sequence[int], span: range, *, under: bool) -> tuple[Culprit, ...]:
    """The messages of ``span`` that are over-counted most (or ``under``-counted most), largest difference first."""
    tokens, messages = weighed.tokens, weighed.transcript.messages
    pairs = zip(sizes[span.start : span.stop], tokens[span.start : span.stop], strict=True)
    differences = [token - size for size, token in pairs] if under else [size - token for size, token in pairs]
    for index in weighed.left_out:
        if index in span:
            differences[index - span.start] = 0
    found: list[Culprit] = []
    while len(found) < N_CULPRITS and differences and (most := max(differences)) > 0:
        at = differences.index(most)
        differences[at] = 0
        i = span.start + at
        found.append(Culprit(i, sizes[i], tokens[i], has_media(messages[i])))
    return tuple(found)


def media_excess(weighed: Weighed, sizes: Sequence[int], span: range, media: Sequence[int]) -> int:
    """By how much the estimator exceeds the tokens of the ``media`` messages (all, ascending) that lie in ``span``."""
    inside = media[bisect_left(media, span.start) : bisect_left(media, span.stop)]
    return sum(max(0, sizes[i] - weighed.tokens[i]) for i in inside)


def media_messages(weighed: Weighed) -> list[int]:
    """Indices of the messages that hold an image or a document, without those that a compaction made."""
    left_out = weighed.left_out
    return [m.index for m in weighed.transcript.messages if m.index not in left_out and has_media(m)]


def has_media(message: Message) -> bool:
    """Whether a message holds an image or a document, in a tool result or beside one."""
    return _holds(message.blocks)


def _holds(blocks: Sequence[Block]) -> bool:
    # A loop and not any(): this runs for every message of a session.
    for block in blocks:
        if block.kind is Kind.IMAGE or block.kind is Kind.DOCUMENT:
            return True
        if block.parts and _holds(block.parts):
            return True
    return False
