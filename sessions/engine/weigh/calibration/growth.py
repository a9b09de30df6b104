"""Steps between requests, the contexts they add up to, and usages that cannot be right (replay-semantics 3).

A growth that misses its estimate too far is the step's own (estimators 7.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sessions.engine.transcript.types import Kind, Message, Request, Role, Transcript

JUMP_FACTOR, JUMP_FLOOR = 3.0, 4_000
"""A usage jump is flagged when it exceeds this many times what the step's content explains, plus this many tokens."""
LEAST_SHIFT, SHIFT_SHARE = 500, 0.3
"""A difference is none of the estimate from this many tokens on, and from this share of the estimated growth."""


@dataclass(frozen=True, slots=True)
class Step:
    """The messages that entered between two requests on the branch, the earlier reply included.

    ``request`` is the index of the request that first sent them; messages ``start`` to ``stop`` (exclusive).
    ``compaction`` is the recorded compaction whose first request this is, None elsewhere; ``afresh`` the message with
    which the conversation began anew in this step (``Message.afresh``), None elsewhere.
    """

    request: int
    start: int
    stop: int
    compaction: int | None = None
    afresh: int | None = None

    @property
    def restarts(self) -> bool:
        """Whether the list that its request sent is no continuation of the one before."""
        return self.compaction is not None or self.afresh is not None


def branch_requests(transcript: Transcript) -> list[Request]:
    """The requests of the selected branch, in the order sent."""
    return [r for r in transcript.requests if r.on_branch]


def steps_of(transcript: Transcript) -> tuple[Step, ...]:
    """One step for every request of the branch, in order; together they cover all messages sent."""
    at_request = {c.request: k for k, c in enumerate(transcript.compactions)}
    begun = [message.index for message in transcript.messages if message.afresh]
    compactions = transcript.compactions
    steps: list[Step] = []
    start = 0
    for request in branch_requests(transcript):
        stop = len(transcript.messages) if request.message is None else max(start, request.message)
        compaction = at_request.get(request.index)
        least = start if compaction is None else max(start, compactions[compaction].boundary)
        afresh = max((index for index in begun if least <= index < stop), default=None)
        steps.append(Step(request.index, start, stop, compaction, afresh))
        start = stop
    return tuple(steps)


class Standing(NamedTuple):
    """What a list that began anew holds: the earlier messages ``kept``, and its step's own from ``first`` on."""

    kept: tuple[int, ...]
    first: int


def standing_at(transcript: Transcript, step: Step) -> Standing | None:
    """What the list of a step holds that restarts; None where it continues the one before."""
    if step.afresh is not None:
        return Standing((), step.afresh)
    if step.compaction is None:
        return None
    compaction = transcript.compactions[step.compaction]
    return Standing(compaction.preserved, min(max(step.start, compaction.boundary), step.stop))


def ends_turn(message: Message) -> bool:
    """True for user content that is not a tool result: a typed prompt or a reminder attachment ends a turn."""
    return message.role is Role.USER and any(b.kind is not Kind.TOOL_RESULT for b in message.blocks)


def trained_pairs(steps: Sequence[Step], training: frozenset[int]) -> Iterator[tuple[Step, Step]]:
    """Each step whose usage is trained on, with the one before it, where its list continues the one before."""
    for before, step in pairwise(steps):
        if before.request in training and step.request in training and not step.restarts:
            yield before, step


class Miss(NamedTuple):
    """A step whose usage is trained on: its growth by estimate, and what was measured beyond that, in tokens."""

    step: Step
    estimated: int
    rest: int


def misses(
    transcript: Transcript, steps: Sequence[Step], contexts: Sequence[int | None], training: frozenset[int]
) -> Iterator[Miss]:
    """What every trained growth holds beyond its estimate; ``contexts`` are estimated, by request."""
    for before, step in trained_pairs(steps, training):
        then, now = transcript.requests[before.request].usage, transcript.requests[step.request].usage
        earlier, later = contexts[before.request], contexts[step.request]
        if then and now and earlier is not None and later is not None:
            yield Miss(step, later - earlier, now.context - then.context - (later - earlier))


def training_requests(transcript: Transcript, fraction: float) -> frozenset[int]:
    """Indices of the first max(2, ⌊F·n⌋) requests that report usage."""
    with_usage = [r.index for r in branch_requests(transcript) if r.usage]
    return frozenset(with_usage[: max(2, int(fraction * len(with_usage)))])


def contexts(
    transcript: Transcript, steps: Sequence[Step], sent: Sequence[int], fading: Sequence[int], hidden: Mapping[int, int]
) -> tuple[int | None, ...]:
    """Estimated tokens of the messages in the recorded context of every request; None off the branch.

    ``sent`` is what later requests send of every message, ``fading`` what of that weighs nothing from the next user
    content on that is not a tool_result, ``hidden`` what a client added by request and did not record.  At a recorded
    compaction the context restarts from what it kept and made, where the conversation began anew from there.
    """
    bodies: list[int | None] = [None] * len(transcript.requests)
    total, open_fading = 0, 0
    for step in steps:
        first = step.start
        if anew := standing_at(transcript, step):
            total, open_fading, first = sum(sent[i] for i in anew.kept), 0, anew.first
        for index in range(first, step.stop):
            if open_fading and ends_turn(transcript.messages[index]):
                total, open_fading = total - open_fading, 0
            total += sent[index]
            open_fading += fading[index]
        total += hidden.get(step.request, 0)
        bodies[step.request] = total
    return tuple(bodies)


def find_flagged(transcript: Transcript, steps: Sequence[Step]) -> frozenset[int]:
    """Requests whose usage cannot be right: a jump beyond its content that falls back (estimators 7.2), or no input."""
    rows = [(s, transcript.requests[s.request].usage) for s in steps]
    flagged = {s.request for s, usage in rows if usage and not usage.context}
    for (_, before), (step, here), (after_step, after) in zip(rows, rows[1:], rows[2:], strict=False):
        if not (before and here and after) or step.restarts or after_step.restarts:
            continue
        explained = explained_jump(transcript, step)
        jump = here.context - before.context
        fell_back = after.context < before.context + jump / 2
        if jump > explained and fell_back:
            flagged.add(step.request)
    return frozenset(flagged)


def explained_jump(transcript: Transcript, step: Step) -> float:
    """The most tokens that a step's content can explain, generously: by tiktoken's count, images left out."""
    raw = sum(leaf.n_tokens for m in transcript.messages[step.start : step.stop] for leaf in m.leaves())
    return JUMP_FACTOR * raw + JUMP_FLOOR


def find_shifts(
    transcript: Transcript, steps: Sequence[Step], contexts: Sequence[int | None], training: frozenset[int]
) -> dict[int, int]:
    """Tokens by request: what its measured growth has beyond its estimate, where that is far more than an error."""
    every = misses(transcript, steps, contexts, training)
    return {step.request: rest for step, by, rest in every if abs(rest) > max(LEAST_SHIFT, SHIFT_SHARE * abs(by))}


def shifted(steps: Sequence[Step], contexts: Sequence[int | None], shifts: Mapping[int, int]) -> tuple[int | None, ...]:
    """The contexts with every shift from its request on, until a list begins anew."""
    found, beside = list(contexts), 0
    for step in steps:
        beside = 0 if step.restarts else beside + shifts.get(step.request, 0)
        body = found[step.request]
        found[step.request] = None if body is None else max(0, body + beside)
    return tuple(found)
