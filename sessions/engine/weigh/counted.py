"""Counts the texts of a session with an estimator's own vocabulary, where they are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.base.session_cache import Remembered
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.types import Block, Content
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.reading.texts import Texts
    from sessions.engine.tokens.estimator import Estimator

MOST_CHARS = 40_000_000
"""A session with more text than this is not read a second time: a minute of counting."""
COUNTED: Remembered[Estimator] = Remembered("counted")
"""By the estimator's name."""


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
