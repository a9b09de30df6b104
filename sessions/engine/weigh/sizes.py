"""Sizes of messages under an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.registry import get
from sessions.engine.base.session_cache import Remembered
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.packing.packed_sequence import shared
from sessions.engine.transcript.types import Message
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.tokens.estimator import Estimator

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
