"""A session whose requests went to models of several families: each weighs by its own scale (replay-semantics 1).

A message weighs what the model makes of it that it was first sent to.  From a change of family on the provider counts
the whole list anew, with another tokenizer: that difference enters the context with the first request of the change.
The overhead, which no line tells, stays what the first request showed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.models.model_info import ModelInfo, model_info
from sessions.engine.transcript.types import Message, Transcript
from sessions.engine.weigh.calibration.weights import Own, Scales, message_estimate

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.growth import Step


Family = tuple[str, float]
"""Models that one scale weighs: of one maker, with one tokenizer."""


def family_of(model: ModelInfo) -> Family:
    """The family of a model."""
    return model.family, model.text_prior


def models_at(transcript: Transcript, steps: Sequence[Step], main: ModelInfo) -> tuple[ModelInfo, ...]:
    """The model that every step's request went to; one that is not listed counts as the session's own."""
    found: list[ModelInfo] = []
    now = main
    for step in steps:
        if name := transcript.requests[step.request].model:
            info = model_info(name)
            now = info if info.known else main
        found.append(now)
    return tuple(found)


def requests_of(family: Family, steps: Sequence[Step], models: Sequence[ModelInfo]) -> frozenset[int]:
    """The requests that went to a family's models."""
    return frozenset(s.request for s, model in zip(steps, models, strict=True) if family_of(model) == family)


class Stretch(NamedTuple):
    """Messages ``start`` to ``stop`` by model and the step that sent them first; ``made``: as the reply before."""

    start: int
    stop: int
    model: ModelInfo
    step: Step | None
    made: bool = False


def stretches(transcript: Transcript, steps: Sequence[Step], models: Sequence[ModelInfo]) -> Iterator[Stretch]:
    """All messages in order: the reply of the request before, then what was sent with it."""
    before: Stretch | None = None
    for step, model in zip(steps, models, strict=True):
        start = step.start
        if before and before.step:
            made = transcript.requests[before.step.request]
            if made.message == start:
                start = min(step.stop, start + made.n_messages)
                yield Stretch(step.start, start, before.model, step, made=True)
        before = Stretch(start, step.stop, model, step)
        yield before
    if before:
        yield Stretch(before.stop, len(transcript.messages), before.model, None, made=True)


def scales_of(families: Mapping[Family, Own], parts: Sequence[Stretch], main: ModelInfo) -> Scales:
    """What weighs every message: the main model's, and of what is another's, its family's scale and its own rules."""
    others: dict[int, Own] = {}
    for part in parts:
        if part.model is not main:
            own = families[family_of(part.model)]._replace(model=part.model)
            others |= dict.fromkeys(range(part.start, part.stop), own)
    return Scales(families[family_of(main)], others)


def with_attachments(scales: Scales, said: Mapping[str, int]) -> Scales:
    """The same where attachments of these sorts weigh more than their text."""

    def anew(own: Own) -> Own:
        return own._replace(scale=replace(own.scale, attachments=dict(said)))

    return Scales(anew(scales.main), {index: anew(own) for index, own in scales.others.items()})


def summed(*additions: Mapping[int, int]) -> dict[int, int]:
    """Tokens by request of several maps together, of either sign."""
    found: dict[int, int] = {}
    for each in additions:
        for request, tokens in each.items():
            found[request] = found.get(request, 0) + tokens
    return found


def counted_anew(
    transcript: Transcript,
    parts: Sequence[Stretch],
    families: Mapping[Family, Own],
    scales: Scales,
    tokens: Sequence[int],
) -> dict[int, int]:
    """By request at which the family changes: how many tokens more, or less, the list before it weighs from then on."""
    found: dict[int, int] = {}
    held, standing = list(tokens), list[int]()
    now = family_of(parts[0].model) if parts else None
    for part in parts:
        step = part.step
        if step and not part.made and step.compaction is not None:
            standing = list(transcript.compactions[step.compaction].preserved)
        if step and not part.made and (family := family_of(part.model)) != now:
            now, before = family, sum(held[i] for i in standing)
            for i in standing:
                held[i] = _anew(transcript.messages[i], tokens[i], scales.of(i), families[family])
            found[step.request] = sum(held[i] for i in standing) - before
        standing.extend(range(part.start, part.stop))
    return found


def _anew(message: Message, tokens: int, own: Own, new: Own) -> int:
    """What a message of so many tokens weighs by another scale: in proportion to both estimates."""
    estimate = message_estimate(message, own.scale, own.model)
    return round(tokens * message_estimate(message, new.scale, new.model) / estimate) if estimate else tokens
