"""Characters of the serialised message, base64 counted: what ``len(json.dumps(messages))`` measures, give or take JSON.

JSON punctuation and escapes are not counted (what ``wire_bytes`` leaves out as well).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.estimator import Estimator
from sessions.engine.estimators.chars_per_4 import chars

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Block


def size(block: Block, _model: ModelInfo) -> int:
    """Characters of the block and its parts as sent."""
    return chars(block)


ESTIMATOR = Estimator(
    "serialized_chars",
    "Characters, base64 counted",
    "learn-claude-code s08: length of the serialised messages",
    "chars",
    size,
)
