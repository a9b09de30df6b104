"""The overhead, bounded by every context that was measured, and what came before a file (replay-semantics 3).

The first measured context less its messages is the overhead only where the session begins with the file.  One that
goes on from elsewhere holds an earlier part that its file does not: a context measured right after a recorded
compaction, or one smaller than the supposed overhead, shows it.  That part is named, is no overhead, and leaves there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.transcript.types import Label, Role, Transcript

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.growth import Step

HISTORY_LABEL = "history before this file"
SHARE, SLACK = 0.15, 1_000
"""What a list left by a compaction may weigh less than its estimate, and what tools may come and go, in tokens."""


class Base(NamedTuple):
    """The overhead and the history before the file, in tokens; ``left_at`` is the request that no longer held that."""

    overhead: int
    label: Label
    warning: str = ""
    history: int = 0
    left_at: int | None = None


class _Seen(NamedTuple):
    """A measured context, the estimate of its messages, and of its system messages, which never leave; in tokens."""

    step: Step
    context: int
    body: int
    system: int

    @property
    def room(self) -> int:
        """What the context can hold beside its system messages, at least 0."""
        return max(0, self.context - self.system)

    @property
    def beside(self) -> int:
        """What the context holds beside its messages, at least 0."""
        return max(0, self.context - self.body)


def base_of(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], ratio: float
) -> Base:
    """The first measured context less its messages, at most what others leave; without usage what the file has."""
    seen = _measured(transcript, steps, bodies, training, ratio)
    if seen:
        return _bounded(transcript, seen)
    if transcript.system:
        return Base(round(sum(b.n_tokens for b in transcript.system) * ratio), Label.ESTIMATED)
    told = any(message.role is Role.SYSTEM for message in transcript.messages)
    missing, unknown = ("tools", "tools, hidden text") if told else ("system prompt", "system prompt, tools")
    warning = f"no usage and no {missing} in the file: the fixed overhead ({unknown}) is unknown, shown as 0"
    return Base(0, Label.ESTIMATED, warning)


def with_base(bodies: Sequence[int | None], steps: Sequence[Step], base: Base) -> tuple[int | None, ...]:
    """The estimated contexts: messages, overhead and, until it left, the history before the file."""
    contexts: list[int | None] = [None] * len(bodies)
    beside = base.overhead + base.history
    for step in steps:
        if step.request == base.left_at:
            beside = base.overhead
        body = bodies[step.request]
        contexts[step.request] = None if body is None else body + beside
    return tuple(contexts)


def _measured(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], ratio: float
) -> list[_Seen]:
    found: list[_Seen] = []
    system = 0
    for step in steps:
        for message in transcript.messages[step.start : step.stop]:
            if message.role is Role.SYSTEM:
                system += ceil(sum(block.n_tokens for block in message.leaves()) * ratio)
        usage, body = transcript.requests[step.request].usage, bodies[step.request]
        if usage and body is not None and step.request in training:
            found.append(_Seen(step, usage.context, body, system))
    return found


def _bounded(transcript: Transcript, seen: Sequence[_Seen]) -> Base:
    first, *later = seen
    whole = first.beside
    # The list that the first compaction left is known and small: what its context holds beside it is the overhead.
    restart = next((one for one in later if one.step.compaction is not None), None)
    left_there = restart if restart and _is_shorter(transcript, restart, whole) else None
    overhead = min([whole, *([left_there.beside] if left_there else []), *(one.room for one in later)])
    left = whole - overhead
    if first.step.compaction is not None or left <= SLACK:
        return Base(overhead, Label.CALIBRATED)
    if left_there:
        at = left_there.step.request
        words = f"this session goes on from an earlier one, and they left at the compaction before request {at}"
        return Base(overhead, Label.CALIBRATED, f"{HISTORY_LABEL}: {left:,} tokens; {words}", left, at)
    smaller = next(one for one in later if one.room < whole)
    at = smaller.step.request
    words = f"request {at} sent {smaller.context:,} tokens in all, so they are no overhead"
    return Base(overhead, Label.CALIBRATED, f"{HISTORY_LABEL} (likely): {left:,} tokens; {words}", left, at)


def _is_shorter(transcript: Transcript, one: _Seen, whole: int) -> bool:
    """Whether a context right after a compaction cannot hold ``whole`` tokens beside its messages, errors allowed."""
    number = one.step.compaction
    known = number is not None and not transcript.compactions[number].outside
    return known and one.context - (1 - SHARE) * one.body + SLACK < whole
