"""opencode V1: characters of text / 4, halves up, per part; no image rule.  V2 has one (policies 2.4).

Assumed for what V1 does not estimate: thinking its text, a call its name and JSON arguments, an unknown block its JSON;
signatures, payloads and ids nothing.  In V2: an image whose media type is not stated is an image, a document's text
counts as text, an unknown block as its JSON.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import half_up, name_chars
from sessions.engine.transcript.types import Block, Kind

IMAGE_TOKENS, PDF_TOKENS = 1_500, 2_000


def size(block: Block, model: ModelInfo) -> int:
    """Text of the block and of each part by 4, halves up."""
    return half_up(block.n_chars + name_chars(block), 4) + sum(size(part, model) for part in block.parts)


def size_v2(block: Block, model: ModelInfo) -> int:
    """The same with what media weigh."""
    text = half_up(block.n_chars + name_chars(block), 4)
    own = text if block.media is None and block.kind is not Kind.IMAGE else text + _media(block)
    return own + sum(size_v2(part, model) for part in block.parts) if block.parts else own


def _media(block: Block) -> int:
    if block.kind is Kind.IMAGE:
        return IMAGE_TOKENS
    if block.kind is Kind.DOCUMENT and block.media is not None:
        return PDF_TOKENS if block.media.media_type.lower() == "application/pdf" else 0
    return 0


ESTIMATORS = (
    Estimator("opencode", "opencode V1 estimate", "opencode util/token.ts (V1)", "tokens", size),
    Estimator("opencode_v2", "opencode V2 estimate", "opencode core session/compaction.ts (V2)", "tokens", size_v2),
)
