"""What every message weighs in tokens under a scale: recorded output for replies, else text by it, images by rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.packing.packed_sequence import shared
from sessions.engine.tokens.estimators._images import document_tokens, image_tokens
from sessions.engine.transcript.types import Block, Kind, Label, Message, Transcript
from sessions.engine.weigh.calibration.prior import attachment_sort
from sessions.engine.weigh.calibration.scale import Scale, n_framed, n_prompts, n_results


def media_tokens(block: Block, model: ModelInfo) -> int:
    """Tokens of an image or of a document without text, by the provider's rule; 0 for other blocks."""
    if block.media is None:
        return 0
    if block.kind is Kind.IMAGE:
        return image_tokens(block.media, model)
    return document_tokens(block.media, model) if block.kind is Kind.DOCUMENT and not block.n_tokens else 0


class Outputs(NamedTuple):
    """Recorded output by message, and the messages that hold only their share of one."""

    tokens: Mapping[int, int]
    parts: frozenset[int]


class Own(NamedTuple):
    """What weighs a message: a scale, how figures by it are known, and the model whose rules its images go by."""

    scale: Scale
    label: Label
    model: ModelInfo


class Scales(NamedTuple):
    """What weighs every message: ``main``, and by index what else weighs those that came under another model."""

    main: Own
    others: Mapping[int, Own]

    def of(self, index: int) -> Own:
        """What weighs the message at ``index``."""
        return self.others.get(index, self.main)


def message_tokens(
    transcript: Transcript, outputs: Outputs, scales: Scales
) -> tuple[tuple[int, ...], tuple[Label, ...]]:
    """Tokens and label of every message: recorded output for replies, else text by the scale and images by rule."""
    tokens: list[int] = []
    labels: list[Label] = []
    for message in transcript.messages:
        scale, ratio_label, model = scales.of(message.index)
        if message.index in outputs.tokens:
            tokens.append(outputs.tokens[message.index])
            labels.append(ratio_label if message.index in outputs.parts else Label.MEASURED)
            continue
        shares = estimate_by_kind(message, scale, model)
        tokens.append(sum(shares.values()))
        only_media = bool(shares) and not any(leaf.n_tokens for leaf in message.leaves())
        labels.append(Label.ESTIMATED if only_media else ratio_label)
    return tuple(shared(tokens)), tuple(labels)


def is_hidden_thinking(block: Block) -> bool:
    """Whether a thinking block came without its text."""
    return block.kind is Kind.THINKING and not block.n_chars


def estimate_by_kind(message: Message, scale: Scale, model: ModelInfo) -> dict[str, int]:
    """Estimated tokens by kind: text by the scale (rounded once per kind), images and documents by rule.

    Text inside a tool result counts as tool_result, an image inside it as image; what a call, a result and an image in
    it weigh beside their content (ids, framing) is theirs too, what is said around a prompt or attachment text.
    """
    raw: dict[str, float] = {}
    media: dict[str, int] = {}
    kind: str
    for block in message.blocks:
        if block.kind is Kind.TOOL_USE and scale.prior.call:
            raw[Kind.TOOL_USE] = raw.get(Kind.TOOL_USE, 0) + scale.prior.call
        for leaf in block.leaves():
            if leaf.kind is Kind.IMAGE or leaf.kind is Kind.DOCUMENT:
                media[leaf.kind] = media.get(leaf.kind, 0) + media_tokens(leaf, model)
            if leaf.n_tokens or leaf.n_payload:
                kind = block.kind if leaf.kind is Kind.TEXT else leaf.kind
                raw[kind] = raw.get(kind, 0) + scale.tokens_of(leaf)
    shares = {kind: round(count) for kind, count in raw.items()}
    if scale.wrapper and (results := n_results(message)):
        shares[Kind.TOOL_RESULT] = shares.get(Kind.TOOL_RESULT, 0) + scale.wrapper * results
    for kind, count in media.items():
        shares[kind] = shares.get(kind, 0) + count
    if scale.frame and (framed := n_framed(message)):
        shares[Kind.TOOL_RESULT] = shares.get(Kind.TOOL_RESULT, 0) + scale.frame * framed
    said = scale.attachments.get(attachment_sort(message), 0) if message.attachment else 0
    if around := said or scale.prompt * n_prompts(message):
        shares[Kind.TEXT] = shares.get(Kind.TEXT, 0) + around
    return shares


def message_estimate(message: Message, scale: Scale, model: ModelInfo) -> int:
    """What a message weighs by estimate alone, in tokens: its text by the scale, images and documents by rule."""
    return sum(estimate_by_kind(message, scale, model).values())


def fill(shares: dict[str, int], total: int) -> dict[str, int]:
    """Shares scaled so that they add up to ``total``; the largest takes the rounding."""
    whole = sum(shares.values())
    if not shares or whole == total:
        return shares or ({Kind.TEXT: total} if total else {})
    if whole == 0:
        return {next(iter(shares)): total}
    scaled = {kind: value * total // whole for kind, value in shares.items()}
    largest = max(scaled, key=lambda kind: scaled[kind])
    scaled[largest] += total - sum(scaled.values())
    return scaled


def thinking_tokens(message: Message, tokens: int, estimate: Mapping[str, int], label: Label, reasoned: int = 0) -> int:
    """Tokens of the thinking of a reply that has some: reported, by the scale, or what the output leaves over.

    ``reasoned`` is what the provider reports.  What a reply with visible thinking leaves over is the framing of its
    calls, which stays (50 to 80 tokens a call); where thinking is hidden it is the thinking.
    """
    if reasoned or all(b.kind is Kind.THINKING for b in message.blocks):
        return min(tokens, reasoned or tokens)
    visible = estimate.get(Kind.THINKING, 0)
    if label is Label.MEASURED:
        left = max(0, tokens - sum(estimate.values()) + visible)
        return min(left, visible) if visible else left
    return visible
