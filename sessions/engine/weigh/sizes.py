"""Sizes of messages under an estimator, and an estimator that counts their texts with its own vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessions.engine.base.registry import get
from sessions.engine.base.session_cache import Remembered
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.packing.packed_sequence import shared
from sessions.engine.reading.texts import Texts
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.types import Block, Content, Message
from sessions.engine.weigh.calibration.weighed import Weighed

MOST_CHARS = 40_000_000
"""A session with more text than this is not read a second time: a minute of counting."""
COUNTED: Remembered[Estimator] = Remembered("counted")
"""By the estimator's name."""
SIZES: Remembered[list[int]] = Remembered("sizes")
"""By the key of the estimator."""


def estimator_named(name: str) -> Estimator:
    """The registered estimator; raises UnknownName with those that exist."""
    estimator: Estimator = get("estimators", name)
    return estimator


def message_size(message: Message, estimator: Estimator, model: ModelInfo) -> int:
    """Size of a message in the estimator's unit: the sum of its blocks, or what the estimator has for a message."""
    if estimator.of_message is not None:
        return estimator.per_message + estimator.of_message(message, model)
    size, blocks = estimator.size, message.blocks
    if len(blocks) == 1:
        return estimator.per_message + size(blocks[0], model)
    return estimator.per_message + sum(size(block, model) for block in blocks)


def known_sizes(weighed: Weighed, estimator: Estimator) -> list[int] | None:
    """Those that ``message_sizes`` computed before, None where it did not."""
    return weighed.cache.find(SIZES, estimator.key)


def message_sizes(weighed: Weighed, estimator: Estimator) -> list[int]:
    """Size of every message of a session by an estimator, in its unit; computed once per estimator."""

    def made() -> list[int]:
        each = zip(weighed.transcript.messages, weighed.models, strict=True)
        return list(shared(message_size(m, estimator, model) for m, model in each))

    return weighed.cache.value(SIZES, made, estimator.key)


def counted(estimator: Estimator, weighed: Weighed, texts: Texts | None) -> Estimator:
    """The estimator with every block of the session counted, or itself: no vocabulary, no texts, or too many.

    Blocks that a policy writes, and those whose text the file no longer gives, keep the estimator's own rule.  Made
    once per session.  Raises UnreadableInput where the file is gone.
    """
    rule = estimator.exactly
    if texts is None or rule is None or not estimator.vocabulary:
        return estimator
    known = weighed.cache.find(COUNTED, estimator.name)
    if known is not None:
        return known
    if sum(leaf.n_chars for m in weighed.transcript.messages for leaf in m.leaves()) > MOST_CHARS:
        return estimator
    found: dict[int, int] = {}
    for message in weighed.transcript.messages:
        if message.origins:
            _count(message.blocks, texts.of(message), estimator.vocabulary, found)

    def size(block: Block, model: ModelInfo) -> int:
        # By identity: two texts may agree in every size and not in this one.  The session keeps its blocks alive.
        return rule(block, model, lambda part: found.get(id(part)))

    made = replace(estimator, label=f"tiktoken {estimator.vocabulary}", size=size, is_counted=True)
    return weighed.cache.put(COUNTED, made, estimator.name)


def _count(blocks: Sequence[Block], contents: Sequence[Content], name: str, found: dict[int, int]) -> None:
    if len(blocks) != len(contents):
        return
    for block, content in zip(blocks, contents, strict=True):
        if block.n_chars == len(content.text):
            found[id(block)] = count(content.text, name).n_tokens if content.text else 0
        _count(block.parts, content.parts, name, found)
