"""What every message and every context of a session weighs in tokens, and how it is known (replay-semantics 1, 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sessions.engine.models.model_info import GUESSED_WINDOW, ModelInfo, model_info, offered
from sessions.engine.models.models_table import OLD_CLAUDE
from sessions.engine.tokens.estimators._images import has_own_image_rule
from sessions.engine.transcript.types import Kind, Label, Message, Role, Transcript
from sessions.engine.weigh.calibration import growth, stays, weights
from sessions.engine.weigh.calibration.context_windows import DEFAULT, window_of
from sessions.engine.weigh.calibration.growth import Step
from sessions.engine.weigh.calibration.hidden import base_of, hidden_tokens, untold_tokens, with_base
from sessions.engine.weigh.calibration.prior import Prior
from sessions.engine.weigh.calibration.prior_table import CLAUDE
from sessions.engine.weigh.calibration.scale import Evidence, fit_attachments, fit_scale, prior_scale
from sessions.engine.weigh.calibration.stays import Replies, Stays
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.calibration.weights import Own, Scales

CLAUDE_WRAPPER = 12
"""Tokens of a tool result beside its content on Claude where they cannot be fitted (measured: mostly 10 to 16)."""
CLAUDE_IMAGE_FRAME = 12
"""Tokens of an image in a tool result on Claude beside the image's rule and the result's wrapper.

22 to 26 were measured for both together (estimators 12)."""
GPT_PROMPT = 6
"""Tokens of a prompt beside its text on OpenAI's models: three for it and three for the reply before it (7.2)."""
Family = tuple[str, float]
"""Models that one scale weighs: of one maker, with one tokenizer."""
NO_IMAGE_RULE = (
    "no image rule of {model}'s provider is known: its images are estimated as Claude's, so their tokens may be wrong"
)


def weigh(transcript: Transcript, *, train_fraction: float = 1.0, prior: Prior | None = None) -> Weighed:
    """Weigh a transcript by usage of the first ``train_fraction`` of requests, at least two (replay-semantics 1)."""
    model, _ = offered(transcript, transcript.model)
    steps = growth.steps_of(transcript)
    flagged = growth.find_flagged(transcript, steps)
    training = growth.training_requests(transcript, train_fraction) - flagged
    start = prior_scale(transcript, prior or prior_of(model, transcript))
    models = models_at(transcript, steps, model)
    parts = tuple(stretches(transcript, steps, models))
    starts = {
        family: Own(prior_scale(transcript, prior_of(m, transcript)), Label.ESTIMATED, m)
        for family, m in {family_of(m): m for m in models}.items() if family != family_of(model)
    }  # fmt: skip
    starts[family_of(model)] = Own(start, Label.ESTIMATED, model)
    scales = scales_of(starts, parts, model)
    final = stays.final_outputs(transcript, scales)
    replies, _ = _replies(transcript, final, scales)
    way = stays.way_of(transcript, steps, replies, training, keeps_thinking=model.keeps_thinking)
    fitted, n_growths = {}, 0
    for family, own in starts.items():
        own_training = training & requests_of(family, steps, models) if len(starts) > 1 else training
        # Thinking that is never sent again is no part of a growth.
        left = dict(enumerate(replies.thinking)) if way.thinking is Stays.NEVER else {}
        evidence = Evidence(transcript, own.model, steps, own_training, final, left)
        scale, n_growths = fit_scale(evidence, own.scale)
        fitted[family] = Own(scale, Label.CALIBRATED if n_growths else Label.ESTIMATED, own.model)
    scales = scales_of(fitted, parts, model)
    replies, labels = _replies(transcript, final, scales)
    anew = counted_anew(transcript, parts, fitted, scales, replies.tokens) if len(fitted) > 1 else {}
    bodies = stays.bodies_of(transcript, steps, replies, way, anew)
    known = scales.main.scale.attachments
    said = fit_attachments(transcript, steps, bodies, training, known)
    if said != known:
        scales = with_attachments(scales, said)
        replies, labels = _replies(transcript, final, scales)
        bodies = stays.bodies_of(transcript, steps, replies, way, anew)
    scale = scales.main.scale
    hidden = hidden_tokens(transcript, steps, bodies, training, scale.prior)
    if hidden:
        bodies = stays.bodies_of(transcript, steps, replies, way, summed(anew, hidden))
    base = base_of(transcript, steps, bodies, training, scale.ratio)
    untold = untold_tokens(transcript, steps, bodies, training, scale.prior)
    if untold:
        bodies = stays.bodies_of(transcript, steps, replies, way, summed(anew, hidden, untold))
    estimated = with_base(bodies, steps, base)
    shifts = growth.find_shifts(transcript, steps, estimated, training)
    of_base = [base.warning] if base.warning else []
    warnings = (*transcript.warnings, *of_base, *_model_warnings(model, transcript, flagged))
    return Weighed(
        transcript, model, tuple(replies.tokens), labels, tuple(replies.thinking), scale,
        Label.CALIBRATED if n_growths else Label.ESTIMATED, n_growths,
        base.overhead, base.label, steps, growth.shifted(steps, estimated, shifts), flagged, warnings, base.history,
        hidden, shifts, way, scales.others,
    )  # fmt: skip


def _replies(transcript: Transcript, final: frozenset[int], scales: Scales) -> tuple[Replies, tuple[Label, ...]]:
    """What every message weighs under its scale, its thinking and what is not sent again; and the label of each."""
    outputs = stays.recorded_outputs(transcript, final, scales)
    tokens, labels = weights.message_tokens(transcript, outputs, scales)
    reported = stays.reasoned(transcript, final)
    thinking = [0] * len(tokens)
    for message in transcript.messages:
        if message.role is Role.ASSISTANT and any(block.kind is Kind.THINKING for block in message.blocks):
            index, own = message.index, scales.of(message.index)
            estimate = weights.estimate_by_kind(message, own.scale, own.model)
            thinking[index] = weights.thinking_tokens(
                message, tokens[index], estimate, labels[index], reported.get(index, 0)
            )
    return Replies(tokens, thinking, stays.unsent_tokens(transcript, tokens, scales)), labels


def _model_warnings(model: ModelInfo, transcript: Transcript, flagged: frozenset[int]) -> tuple[str, ...]:
    if model.known and transcript.n_images and not has_own_image_rule(model):
        return (NO_IMAGE_RULE.format(model=model.name), *filter(None, (model.note,)))
    is_assumed = window_of(transcript, transcript.model, flagged).source == DEFAULT
    note = model.note if is_assumed else model.note.replace(GUESSED_WINDOW, "")
    return (note,) if note else ()


def prior_of(model: ModelInfo, transcript: Transcript) -> Prior:
    """The prior of the model's family (estimators 6, 7.3): one ratio without a corpus, or without classes of blocks."""
    if is_measured(model) and any(leaf.classes for message in transcript.messages for leaf in message.leaves()):
        return CLAUDE
    claude = model.family == "claude"
    return Prior(
        model.text_prior,
        wrapper=CLAUDE_WRAPPER if claude else 0,
        prompt=GPT_PROMPT if model.family == "gpt" else 0,
        frame=CLAUDE_IMAGE_FRAME if claude else 0,
    )


def is_measured(model: ModelInfo) -> bool:
    """Whether the corpus has sessions with the model's tokenizer: Claude before Opus 4.7."""
    return model.family == "claude" and model.text_prior == OLD_CLAUDE


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
        if step and not part.made and (anew := growth.standing_at(transcript, step)):
            standing = list(anew.kept)
        if step and not part.made and (family := family_of(part.model)) != now:
            now, before = family, sum(held[i] for i in standing)
            for i in standing:
                held[i] = _anew(transcript.messages[i], tokens[i], scales.of(i), families[family])
            found[step.request] = sum(held[i] for i in standing) - before
        standing.extend(range(part.start, part.stop))
    return found


def _anew(message: Message, tokens: int, own: Own, new: Own) -> int:
    """What a message of so many tokens weighs by another scale: in proportion to both estimates."""
    estimate = weights.message_estimate(message, own.scale, own.model)
    return round(tokens * weights.message_estimate(message, new.scale, new.model) / estimate) if estimate else tokens
