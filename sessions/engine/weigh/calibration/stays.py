"""What of a reply stays in the context: thinking and reasoning, read from the growths (replay-semantics 3).

Providers and clients differ, by model and by version.  Every way is tried on the growths in which the ways differ, and
the one that they bear out stands; where they do not tell, what is known of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.growth import Step, contexts, trained_pairs

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
    """What is sent again: thinking, and the reasoning that no block holds.

    ``growths`` is on how many growths it rests, 0 where it is what is known of the model.
    """

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
    grown = [_grown(pairs, bodies_of(transcript, steps, replies, way)) for way in ways]
    apart = [n for n, each in enumerate(zip(*grown, strict=True)) if max(each) - min(each) >= LEAST_APART]
    if len(apart) < LEAST_GROWTHS:
        return known
    measured = [_measured(transcript, pairs[n]) for n in apart]
    errors = [
        sum(min(abs(each[n] - m), MAX_ERROR) for n, m in zip(apart, measured, strict=True)) for each in grown
    ]  # fmt: skip
    best = min(range(len(ways)), key=errors.__getitem__)
    return (ways[best] if errors[best] <= CLEARLY * errors[0] else known)._replace(growths=len(apart))


def _grown(pairs: Sequence[tuple[Step, Step]], bodies: Sequence[int | None]) -> list[int]:
    return [(bodies[step.request] or 0) - (bodies[before.request] or 0) for before, step in pairs]


def _measured(transcript: Transcript, pair: tuple[Step, Step]) -> int:
    then, now = (transcript.requests[step.request].usage for step in pair)
    return (now.context if now else 0) - (then.context if then else 0)
