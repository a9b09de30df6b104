"""What a reply weighs and what of it stays in the context: thinking, reasoning, by the growths (replay-semantics 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from sessions.engine.transcript.types import Kind, Message, Request, Transcript
from sessions.engine.weigh.calibration.growth import Step, contexts, trained_pairs
from sessions.engine.weigh.calibration.weights import Outputs, Scales, fill, is_hidden_thinking, message_estimate

UNSENT_FACTOR, UNSENT_FLOOR = 3, 50
"""An output above this many times what its content weighs, plus this many tokens, was not all recorded."""
FINAL_SHARE = 0.9
"""Where outputs of a session are streaming placeholders, one below this share of its content's estimate is one too."""
LEAST_APART = 50
"""Two ways differ in a growth when it is by this many tokens."""
LEAST_GROWTHS = 3
MAX_ERROR = 2_000
"""No growth speaks against a way with more tokens than this."""
CLEARLY = 0.7
"""Another way stands when its error is at most this share of what the model's own has."""


class Stays(StrEnum):
    """How long thinking is sent again."""

    KEPT = "kept"
    TURN = "until the next prompt"
    NEVER = "not sent again"


class Way(NamedTuple):
    """What is sent again: thinking, and reasoning no block holds; ``growths`` it rests on, 0 if known of the model."""

    thinking: Stays
    reasoning: bool = False
    growths: int = 0


class Replies(NamedTuple):
    """Tokens of every message, of its thinking, and of what the model is known not to send again, by message."""

    tokens: Sequence[int]
    thinking: Sequence[int]
    unsent: Mapping[int, int]


def bodies_of(
    transcript: Transcript, steps: Sequence[Step], replies: Replies, way: Way, hidden: Mapping[int, int] | None = None
) -> tuple[int | None, ...]:
    """Estimated tokens of the messages in every request's context, if replies stay that way."""
    sent = list(replies.tokens)
    aborted = {r.message for r in transcript.requests if r.aborted}
    for index, tokens in replies.unsent.items():
        if index in aborted or not way.reasoning:
            sent[index] -= tokens
    if way.thinking is Stays.NEVER:
        sent = [max(0, whole - thought) for whole, thought in zip(sent, replies.thinking, strict=True)]
    turn = way.thinking is Stays.TURN
    # What was never sent again cannot weigh less later.
    fading = [min(thought, whole) if turn else 0 for thought, whole in zip(replies.thinking, sent, strict=True)]
    return contexts(transcript, steps, sent, fading, hidden or {})


def way_of(
    transcript: Transcript, steps: Sequence[Step], replies: Replies, training: frozenset[int], *, keeps_thinking: bool
) -> Way:
    """The way that the trained growths bear out, else the model's."""
    known = Way(Stays.KEPT if keeps_thinking else Stays.TURN)
    ways = [known]
    if any(replies.thinking):
        ways += [Way(stays) for stays in Stays if stays is not known.thinking]
    if any(replies.unsent.values()):
        ways += [way._replace(reasoning=True) for way in ways]
    if len(ways) == 1:
        return known
    pairs = list(trained_pairs(steps, training))
    bodies = [bodies_of(transcript, steps, replies, way) for way in ways]
    grown = [[(each[step.request] or 0) - (each[before.request] or 0) for before, step in pairs] for each in bodies]
    apart = [n for n, each in enumerate(zip(*grown, strict=True)) if max(each) - min(each) >= LEAST_APART]
    if len(apart) < LEAST_GROWTHS:
        return known
    measured = [_measured(transcript, pairs[n]) for n in apart]
    errors = [
        sum(min(abs(each[n] - m), MAX_ERROR) for n, m in zip(apart, measured, strict=True)) for each in grown
    ]  # fmt: skip
    best = min(range(len(ways)), key=errors.__getitem__)
    return (ways[best] if errors[best] <= CLEARLY * errors[0] else known)._replace(growths=len(apart))


def _measured(transcript: Transcript, pair: tuple[Step, Step]) -> int:
    then, now = (transcript.requests[step.request].usage for step in pair)
    return (now.context if now else 0) - (then.context if then else 0)


def final_outputs(transcript: Transcript, scales: Scales) -> frozenset[int]:
    """Requests whose recorded output is the reply's (replay-semantics 1)."""
    replies = [r for r in transcript.requests if r.usage and r.usage.output and not r.usage.placeholder]
    if len(replies) == sum(1 for r in transcript.requests if r.usage and r.usage.output):
        return frozenset(r.index for r in replies)
    return frozenset(r.index for r in replies if _can_be(transcript, r, scales))


def _can_be(transcript: Transcript, request: Request, scales: Scales) -> bool:
    if request.message is None or not request.usage:
        return True
    reply = transcript.messages[request.message : request.message + request.n_messages]
    return request.usage.output >= FINAL_SHARE * sum(_estimate(m, scales) for m in reply)


def _estimate(message: Message, scales: Scales) -> int:
    own = scales.of(message.index)
    return message_estimate(message, own.scale, own.model)


def recorded_outputs(transcript: Transcript, final: frozenset[int], scales: Scales) -> Outputs:
    """Recorded output by message, of the requests whose output is the final one.

    A reply of several messages (Codex and Responses items) shares its output out by their estimates; what the
    estimates leave over is reasoning whose text is hidden, where the reply has such.
    """
    outputs: dict[int, int] = {}
    parts: set[int] = set()
    for request in transcript.requests:
        usage, first = request.usage, request.message
        if first is None or not usage or request.index not in final:
            continue
        if request.n_messages == 1:
            outputs[first] = usage.output
            continue
        reply = transcript.messages[first : first + request.n_messages]
        shares = {str(m.index): _estimate(m, scales) for m in reply}
        hidden = next((m for m in reply if m.blocks and all(is_hidden_thinking(b) for b in m.blocks)), None)
        if hidden:
            shares[str(hidden.index)] += max(0, usage.output - sum(shares.values()))
        outputs |= {int(index): tokens for index, tokens in fill(shares, usage.output).items()}
        parts |= {m.index for m in reply}
    return Outputs(outputs, frozenset(parts))


def reasoned(transcript: Transcript, final: frozenset[int]) -> dict[int, int]:
    """Tokens of reasoning that the provider reports within the final output of a reply, by message."""
    found = {r.message: r.usage.reasoning for r in transcript.requests if r.usage and r.index in final}
    return {message: tokens for message, tokens in found.items() if message is not None and tokens}


def unsent_tokens(transcript: Transcript, tokens: Sequence[int], scales: Scales) -> dict[int, int]:
    """Tokens of replies that no later request sends, by message index (replay-semantics 3)."""
    unsent: dict[int, int] = {}
    for request in transcript.requests:
        index, usage = request.message, request.usage
        if index is None:
            continue
        if request.aborted:
            unsent |= {i: tokens[i] for i in range(index, index + request.n_messages)}
            continue
        claude = scales.of(index).model.family == "claude"
        if not usage or usage.placeholder or request.n_messages > 1 or claude:
            continue
        message = transcript.messages[index]
        if any(block.kind in (Kind.THINKING, Kind.OPAQUE) for block in message.blocks):
            continue
        content = _estimate(message, scales)
        excess = usage.output > UNSENT_FACTOR * content + UNSENT_FLOOR
        unsent[index] = max(usage.output - content, 0) if excess else min(usage.reasoning, usage.output)
    return unsent
