"""pi: characters / 4, rounded up per message; an image counts as 4,800 characters (1,200 tokens, policies 2.4).

Anything else weighs nothing there: documents but for their text (assumed), encrypted and unknown blocks.  Versions
differ on images of user messages: some count text alone there; here they count like those of tool results.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators._counts import name_chars, rounded_once, up
from sessions.engine.transcript.types import Block, Kind

IMAGE_CHARS = 4_800


def chars(block: Block, model: ModelInfo) -> int:
    """Characters charged for the block and its parts."""
    if block.kind is Kind.OPAQUE:
        return 0
    if block.kind is Kind.IMAGE:
        return IMAGE_CHARS
    own = block.n_chars + name_chars(block)
    return own + sum(chars(part, model) for part in block.parts) if block.parts else own


ESTIMATOR = rounded_once(
    "pi", "pi estimate", "badlogic/pi-mono compaction.ts estimateTokens", chars, lambda n: up(n, 4)
)
