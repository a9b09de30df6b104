"""Characters of what is sent, base64 counted: no JSON around it (that is ``serialized_chars``)."""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators.chars_per_4 import chars
from sessions.engine.transcript.types import Block


def size(block: Block, _model: ModelInfo) -> int:
    """Characters of the block and its parts as sent."""
    return chars(block)


ESTIMATOR = Estimator(
    "chars", "Characters, base64 counted", "browser-use: length of the history's texts (policies 11.16)", "chars", size
)
