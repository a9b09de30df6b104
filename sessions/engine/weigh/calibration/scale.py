"""How content becomes tokens: the family's prior, moved by enough clean growths of a session (estimators 7.2, 7.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import median
from typing import NamedTuple

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators._images import image_tokens
from sessions.engine.transcript.types import Block, Kind, Message, Role, Transcript
from sessions.engine.weigh.calibration.growth import Step, misses, trained_pairs
from sessions.engine.weigh.calibration.prior import AROUND, Prior, attachment_sort

MIN_GROWTHS = 5
"""Fewer clean growths than this and the family's prior is used."""
RATIO_RANGE = (0.5, 3.0)
MAX_SHARE = 2_000
"""No growth counts for more o200k tokens of text than this: one huge result decides nothing."""
LEAST_GROWTH = 200
"""Growths of fewer tokens count as if they had as many."""
MAX_WRAPPER = 60
MIN_PROMPTS = 3
"""Fewer clean growths with a prompt than this and the family's prompt wrapper is used."""
MIN_AGREEING, AGREEING_TOKENS = 2, 3
"""How many growths, and within how many tokens, agree on a wrapper where there are too few to fit a ratio."""
MAX_FITTED = 400
"""No more growths than about this are fitted, evenly spaced, nor messages for a mean: enough for three numbers."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What text weighs and, in tokens, what surrounds it.

    A text weighs what ``prior`` says times ``factor``; one of which only the o200k tokens are known, those times
    ``ratio``, which is what the session's texts weigh in the mean.  ``wrapper`` is around every tool result, ``prompt``
    around every other user message but attachments, ``frame`` around every image in a tool result; ``attachments`` what
    a harness says around an attachment of each sort (``attachment_sort``) and leaves out of the transcript.
    """

    ratio: float
    wrapper: int = 0
    prompt: int = 0
    frame: int = 0
    attachments: Mapping[str, int] = field(default_factory=dict)
    factor: float = 1.0
    prior: Prior = field(default_factory=lambda: Prior(1.0))

    @property
    def by_characters(self) -> bool:
        """Whether texts weigh by what they are made of, so that ``ratio`` is a mean alone."""
        return bool(self.prior.text)

    def tokens_of(self, leaf: Block) -> float:
        """Tokens of a block's own text, of a signed thinking block by its signature."""
        thought = self.prior.thinking(leaf)
        if thought is not None:
            return thought
        return self.factor * self.prior.weight_of(leaf) if self.prior.tells(leaf) else self.ratio * leaf.n_tokens


class Growth(NamedTuple):
    """``added`` tokens beyond the reply, for ``n_raw`` of text: ``body`` by the prior, ``media`` by the image rule."""

    added: float
    body: float
    n_raw: int
    n_results: int
    n_prompts: int
    n_images: int
    media: int


def prior_scale(transcript: Transcript, prior: Prior) -> Scale:
    """What is assumed where a session's own usage cannot say."""
    ratio = prior.factor * mean_weight(transcript, prior)
    sorts = {sort for message in transcript.messages if (sort := attachment_sort(message)) in AROUND}
    around = {sort: round(ratio * AROUND[sort]) for sort in sorted(sorts)}
    return Scale(ratio, prior.wrapper, prior.prompt, prior.frame, around, factor=prior.factor, prior=prior)


def mean_weight(transcript: Transcript, prior: Prior) -> float:
    """What the prior makes of an o200k token of the session's texts in the mean; 1 for one that is a ratio."""
    if not prior.text:
        return 1.0
    messages = transcript.messages[:: 1 + len(transcript.messages) // MAX_FITTED]
    told = [leaf for m in messages for leaf in m.leaves() if prior.tells(leaf)]
    n_raw = sum(leaf.n_tokens for leaf in told)
    return sum(map(prior.weight_of, told)) / n_raw if n_raw else 1.0


class Evidence(NamedTuple):
    """Which requests are trained on, which outputs final; ``left``: tokens of those not sent again, by message."""

    transcript: Transcript
    model: ModelInfo
    steps: Sequence[Step]
    training: frozenset[int]
    final: frozenset[int]
    left: Mapping[int, int] = {}


def fit_scale(evidence: Evidence, scale: Scale) -> tuple[Scale, int]:
    """The scale of a session, and on how many clean growths it rests (estimators 7.2): 0 where it is the prior."""
    pairs = trained_pairs(evidence.steps, evidence.training)
    growths = [growth for before, step in pairs if (growth := _growth(evidence, before, step, scale)) is not None]
    clean, n_clean = [growth for growth in growths if not growth.n_images], 0
    if len(clean) >= MIN_GROWTHS:
        scale, n_clean = _fitted(clean[:: 1 + len(clean) // MAX_FITTED], scale), len(clean)
    else:
        scale = replace(scale, wrapper=_agreed_wrapper(clean, scale))
    frames = [(_rest(growth, scale) - growth.media) / growth.n_images for growth in growths if growth.n_images]
    if frames:
        scale = replace(scale, frame=_bounded(frames, 100))
    return scale, n_clean


def fit_attachments(
    transcript: Transcript,
    steps: Sequence[Step],
    bodies: Sequence[int | None],
    training: frozenset[int],
    known: Mapping[str, int],
) -> dict[str, int]:
    """Tokens of attachments beyond their text, by sort: the median that growths with one leave over, else ``known``."""
    rests: dict[str, list[int]] = {}
    for step, _, rest in misses(transcript, steps, bodies, training):
        sorts = list(filter(None, map(attachment_sort, transcript.messages[step.start : step.stop])))
        if len(sorts) == 1:
            rests.setdefault(sorts[0], []).append(rest + known.get(sorts[0], 0))
    return {**known, **{sort: max(0, round(median(values))) for sort, values in rests.items()}}


def n_results(message: Message) -> int:
    """How many tool results a message holds."""
    return len([1 for block in message.blocks if block.kind is Kind.TOOL_RESULT])


def n_prompts(message: Message) -> int:
    """1 for user content that is neither a tool result nor an attachment, else 0."""
    return int(message.role is Role.USER and not message.attachment and not n_results(message))


def n_framed(message: Message) -> int:
    """How many images its tool results hold."""
    results = (block for block in message.blocks if block.kind is Kind.TOOL_RESULT)
    return sum(leaf.kind is Kind.IMAGE for block in results for leaf in block.leaves())


def _fitted(growths: Sequence[Growth], start: Scale) -> Scale:
    """The factor and the result wrapper of least absolute error over the growths, then what a prompt adds."""
    wrappers = range(MAX_WRAPPER + 1) if any(growth.n_results for growth in growths) else [start.wrapper]
    claims = [_claim(growth) for growth in growths]
    _, wrapper = min((_error(claims, w, start.prior), w) for w in wrappers)
    factor = _factor(claims, wrapper, start.prior)
    ratio = factor * (start.ratio / start.factor if start.prior.text else 1.0)
    scale = replace(start, ratio=ratio, factor=factor, wrapper=wrapper)
    prompts = [_rest(growth, replace(scale, prompt=0)) / growth.n_prompts for growth in growths if growth.n_prompts]
    if len(prompts) >= MIN_PROMPTS:
        return replace(scale, prompt=_bounded(prompts, MAX_WRAPPER))
    return scale


def _agreed_wrapper(growths: Sequence[Growth], start: Scale) -> int:
    """The wrapper on which a few growths agree under the prior, though too few for a factor; else the prior's."""
    rests = [(g.added - start.factor * g.body) / g.n_results for g in growths if g.n_results and not g.n_prompts]
    alike = len(rests) >= MIN_AGREEING and max(rests) - min(rests) <= AGREEING_TOKENS
    return _bounded(rests, MAX_WRAPPER) if alike else start.wrapper


def _bounded(values: Sequence[float], most: int) -> int:
    return round(min(most, max(0, median(values))))


def _rest(growth: Growth, scale: Scale) -> float:
    """What a growth holds beyond its text and the wrappers of its results and prompts."""
    around = scale.wrapper * growth.n_results + scale.prompt * growth.n_prompts
    return growth.added - scale.factor * growth.body - around


class Claim(NamedTuple):
    """``added`` is a factor times ``body`` and a wrapper a result; ``share`` weighs it, ``root`` its error."""

    added: float
    body: float
    n_results: int
    share: int
    root: float


def _claim(g: Growth) -> Claim:
    """Small growths decide a wrapper, and none counts for more text than MAX_SHARE, or for less than LEAST_GROWTH."""
    size = max(LEAST_GROWTH, g.added) * max(1, g.n_raw / MAX_SHARE)
    return Claim(g.added, g.body, g.n_results, min(g.n_raw, MAX_SHARE), sqrt(size))


def _error(claims: Sequence[Claim], wrapper: int, prior: Prior) -> float:
    """What the growths miss under a wrapper and its factor, each over the root of its size (estimators 7.2)."""
    factor = _factor(claims, wrapper, prior)
    errors = prior.results * abs(wrapper - prior.wrapper) / sqrt(LEAST_GROWTH)
    for added, body, n_results, _, root in claims:
        errors += abs(factor * body + wrapper * n_results - added) / root
    return errors


def _factor(claims: Sequence[Claim], wrapper: int, prior: Prior) -> float:
    """The factor of least absolute error under a wrapper: the median of the growths' own and the prior's, by weight."""
    own = [((added - wrapper * n_results) / body, share) for added, body, n_results, share, _ in claims if body > 0]
    low, high = RATIO_RANGE
    return min(high, max(low, _weighted_median([*own, (prior.factor, prior.weight)])))


def _weighted_median(samples: list[tuple[float, int]]) -> float:
    """The value at which half of the weight lies on either side."""
    ordered = sorted(samples)
    half, running = sum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        running += weight
        if running >= half:
            return value
    return ordered[-1][0]


def _growth(evidence: Evidence, before: Step, step: Step, scale: Scale) -> Growth | None:
    """The growth between two requests, None where what stands between does not tell what it measures."""
    transcript, prior = evidence.transcript, scale.prior
    then, now = transcript.requests[before.request], transcript.requests[step.request]
    messages = transcript.messages[step.start : step.stop]
    if not then.usage or not now.usage or then.model != now.model or then.aborted:
        return None
    if any((m.attachment and m.blocks) or any(leaf.kind is Kind.DOCUMENT for leaf in m.leaves()) for m in messages):
        return None
    added: float = now.usage.context - then.usage.context
    if added <= 0:
        return None
    if then.index in evidence.final and then.message == step.start:
        added -= then.usage.output - evidence.left.get(step.start, 0)
        messages = messages[then.n_messages :]
    body, n_raw, images = 0.0, 0, []
    for leaf in (leaf for m in messages for leaf in m.leaves()):
        thought = prior.thinking(leaf)
        if thought is None:
            body, n_raw = body + prior.weight_of(leaf), n_raw + leaf.n_tokens
        else:
            added -= thought
        if leaf.kind is Kind.TOOL_USE:
            added -= prior.call
        elif leaf.kind is Kind.IMAGE and leaf.media:
            images.append(image_tokens(leaf.media, evidence.model))
    if added <= 0 or not messages:
        return None
    around = sum(map(n_results, messages)), sum(map(n_prompts, messages))
    return Growth(added, body, n_raw, *around, len(images), sum(images))
