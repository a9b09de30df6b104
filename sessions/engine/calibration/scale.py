"""How a session's content becomes tokens: one ratio for text, and what the provider adds around messages.

Fitted on the session's own clean growths; where there are too few, the model family's prior (estimators 7.2).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.estimators._images import image_tokens
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sessions.engine.calibration.growth import Step
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Message, Transcript

MIN_GROWTHS = 5
"""Fewer clean growths than this and the family's prior is used."""
RATIO_RANGE = (0.5, 3.0)
PRIOR_WEIGHT = 100
"""Tokens of text that the family's prior counts for beside the growths, so that a few words alone fit no ratio."""
MAX_WRAPPER = 60
MAX_IMAGE_FRAME = 100
MIN_PROMPTS = 3
"""Fewer clean growths with a prompt than this and the family's prompt wrapper is used."""
MIN_AGREEING, AGREEING_TOKENS = 2, 3
"""How many growths, and within how many tokens, agree on a wrapper where there are too few to fit a ratio."""
MAX_FITTED = 400
"""No more growths than about this are fitted, evenly spaced: enough for three numbers."""
CLAUDE_WRAPPER = 12
"""Tokens of a tool result beside its content on Claude where they cannot be fitted (measured: mostly 10 to 16)."""
CLAUDE_IMAGE_FRAME = 12
"""Tokens of an image in a tool result on Claude beside the image's rule and the result's wrapper.

22 to 26 were measured for both together (estimators 12)."""
GPT_PROMPT = 6
"""Tokens of a prompt beside its text in a calibrated OpenAI session: three for it and three for the reply before it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Text x ``ratio`` and, in tokens, what surrounds it.

    ``wrapper`` is that of every tool result, ``prompt`` that of every other user message but attachments, ``frame``
    that of every image in a tool result; ``attachments`` what a harness says around an attachment of each sort
    (``attachment_sort``) and leaves out of the transcript.
    """

    ratio: float
    wrapper: int = 0
    prompt: int = 0
    frame: int = 0
    attachments: Mapping[str, int] = field(default_factory=dict)


class Growth(NamedTuple):
    """One measured growth: ``added`` tokens beyond the reply, for ``n_raw`` tiktoken tokens of text.

    ``media`` are the images' tokens by the provider's rule.
    """

    added: int
    n_raw: int
    n_results: int
    n_prompts: int
    n_images: int
    media: int


def prior_scale(model: ModelInfo) -> Scale:
    """What is assumed where a session's own usage cannot say."""
    claude = model.family == "claude"
    return Scale(model.text_prior, CLAUDE_WRAPPER if claude else 0, 0, CLAUDE_IMAGE_FRAME if claude else 0)


def fit_scale(
    transcript: Transcript, steps: Sequence[Step], training: frozenset[int], model: ModelInfo
) -> tuple[Scale, int]:
    """The scale of a session, and on how many clean growths its ratio rests: 0 where that is the family's prior.

    A growth is clean when it is positive, both usages are trained on and of one model, and no image, document,
    attachment or compaction stands between (estimators 7.2).  The reply's recorded output is taken off first, unless
    it is a placeholder.  What an image adds is the median of the growths that hold images.
    """
    growths = list(_growths(transcript, steps, training, model))
    clean = [growth for growth in growths if not growth.n_images]
    scale, n_clean = prior_scale(model), 0
    if len(clean) >= MIN_GROWTHS:
        scale, n_clean = _fitted(clean[:: 1 + len(clean) // MAX_FITTED], scale, model), len(clean)
    else:
        scale = replace(scale, wrapper=_agreed_wrapper(clean, scale))
    frames = [(_rest(growth, scale) - growth.media) / growth.n_images for growth in growths if growth.n_images]
    if frames:
        scale = replace(scale, frame=_bounded(frames, MAX_IMAGE_FRAME))
    return scale, n_clean


def attachment_sort(message: Message) -> str:
    """The sort of an attachment, "" for other messages; one that holds nothing (``[]``) is a sort of its own.

    Harnesses put other words around an empty list than around a full one.
    """
    empty = message.attachment and sum(leaf.n_tokens for leaf in message.leaves()) <= 2
    return f"{message.attachment}, empty" if empty else message.attachment


def fit_attachments(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int]
) -> dict[str, int]:
    """Tokens that attachments of each sort weigh beyond their text: the median of what growths with one leave over.

    ``bodies`` are the contexts by estimate without them.  The reminder of Claude Code's to-do list says about a
    hundred tokens around the list that the transcript holds.
    """
    rests: dict[str, list[int]] = {}
    for before, step in _trained(steps, training):
        then, now = transcript.requests[before.request].usage, transcript.requests[step.request].usage
        body, earlier = bodies[step.request], bodies[before.request]
        attached = [m for m in transcript.messages[step.start : step.stop] if m.attachment]
        if then and now and body is not None and earlier is not None and len(attached) == 1:
            rest = now.context - then.context - (body - earlier)
            rests.setdefault(attachment_sort(attached[0]), []).append(rest)
    return {sort: max(0, round(median(values))) for sort, values in rests.items()}


def n_results(message: Message) -> int:
    """How many tool results a message holds."""
    return sum(block.kind is Kind.TOOL_RESULT for block in message.blocks)


def n_prompts(message: Message) -> int:
    """1 for user content that is neither a tool result nor an attachment, else 0."""
    return int(message.role is Role.USER and not message.attachment and not n_results(message))


def n_framed(message: Message) -> int:
    """How many images its tool results hold."""
    results = (block for block in message.blocks if block.kind is Kind.TOOL_RESULT)
    return sum(leaf.kind is Kind.IMAGE for block in results for leaf in block.leaves())


def _fitted(growths: Sequence[Growth], prior: Scale, model: ModelInfo) -> Scale:
    """The ratio and the result wrapper of least absolute error over the growths, then what a prompt adds."""
    wrappers = range(MAX_WRAPPER + 1) if any(growth.n_results for growth in growths) else range(1)
    _, wrapper = min((_error(growths, w, prior.ratio), w) for w in wrappers)
    scale = Scale(_ratio(growths, wrapper, prior.ratio), wrapper, 0, prior.frame)
    prompts = [_rest(growth, scale) / growth.n_prompts for growth in growths if growth.n_prompts]
    if len(prompts) >= MIN_PROMPTS:
        return replace(scale, prompt=_bounded(prompts, MAX_WRAPPER))
    return replace(scale, prompt=GPT_PROMPT) if model.family == "gpt" else scale


def _agreed_wrapper(growths: Sequence[Growth], prior: Scale) -> int:
    """The wrapper that a few growths say alike under the prior's ratio, else the prior's.

    Too few for a ratio, but two or more results whose framing comes out the same tell that framing.
    """
    rests = [(g.added - prior.ratio * g.n_raw) / g.n_results for g in growths if g.n_results and not g.n_prompts]
    alike = len(rests) >= MIN_AGREEING and max(rests) - min(rests) <= AGREEING_TOKENS
    return _bounded(rests, MAX_WRAPPER) if alike else prior.wrapper


def _bounded(values: Sequence[float], most: int) -> int:
    return round(min(most, max(0, median(values))))


def _rest(growth: Growth, scale: Scale) -> float:
    """What a growth holds beyond its text and the wrappers of its results and prompts."""
    around = scale.wrapper * growth.n_results + scale.prompt * growth.n_prompts
    return growth.added - scale.ratio * growth.n_raw - around


def _error(growths: Sequence[Growth], wrapper: int, prior: float) -> float:
    """Sum of absolute errors of the growths in tokens, under a wrapper and the ratio that goes with it."""
    ratio = _ratio(growths, wrapper, prior)
    return sum(abs(ratio * g.n_raw + wrapper * g.n_results - g.added) for g in growths)


def _ratio(growths: Sequence[Growth], wrapper: int, prior: float) -> float:
    """The ratio of least absolute error under a wrapper: the median, weighted by text, of the growths' own ratios."""
    samples = [((g.added - wrapper * g.n_results) / g.n_raw, g.n_raw) for g in growths if g.n_raw]
    low, high = RATIO_RANGE
    return min(high, max(low, _weighted_median([*samples, (prior, PRIOR_WEIGHT)])))


def _weighted_median(samples: list[tuple[float, int]]) -> float:
    """The value at which half of the weight lies on either side."""
    ordered = sorted(samples)
    half, running = sum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        running += weight
        if running >= half:
            return value
    return ordered[-1][0]


def _trained(steps: Sequence[Step], training: frozenset[int]) -> Iterator[tuple[Step, Step]]:
    """Each step whose usage is trained on, with the one before it, without recorded compactions."""
    for before, step in itertools.pairwise(steps):
        if before.request in training and step.request in training and step.compaction is None:
            yield before, step


def _growths(
    transcript: Transcript, steps: Sequence[Step], training: frozenset[int], model: ModelInfo
) -> Iterator[Growth]:
    for before, step in _trained(steps, training):
        growth = _growth(transcript, before, step, model)
        if growth is not None:
            yield growth


def _growth(transcript: Transcript, before: Step, step: Step, model: ModelInfo) -> Growth | None:
    """The growth between two requests, None where what stands between does not tell what it measures."""
    then, now = transcript.requests[before.request], transcript.requests[step.request]
    messages = transcript.messages[step.start : step.stop]
    if not then.usage or not now.usage or then.model != now.model or then.aborted:
        return None
    if any(m.attachment or any(leaf.kind is Kind.DOCUMENT for leaf in m.leaves()) for m in messages):
        return None
    added = now.usage.context - then.usage.context
    if added <= 0:
        return None
    if not then.usage.placeholder and then.message == step.start:
        added -= then.usage.output
        messages = messages[then.n_messages :]
    leaves = [leaf for m in messages for leaf in m.leaves()]
    images = [leaf.media for leaf in leaves if leaf.kind is Kind.IMAGE and leaf.media]
    n_raw = sum(leaf.n_tokens for leaf in leaves)
    if added <= 0 or not messages:
        return None
    around = sum(map(n_results, messages)), sum(map(n_prompts, messages))
    return Growth(added, n_raw, *around, len(images), sum(image_tokens(media, model) for media in images))
