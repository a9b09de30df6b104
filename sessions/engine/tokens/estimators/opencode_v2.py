"""opencode V2: characters / 4, halves up, per part; an image 1,500, a PDF 2,000, other media nothing.

anomalyco/opencode ``packages/core/src/session/compaction.ts`` (``estimatePart``, ``IMAGE_TOKEN_ESTIMATE``,
``PDF_TOKEN_ESTIMATE``): text and reasoning their text; a tool call its name and JSON input; a tool result each of its
texts and media on its own; an encrypted checkpoint its text alone, "no locally measurable token size".  Assumed: an
image whose media type is not stated is an image, a document's text counts as text, an unknown block as its JSON.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._counts import half_up, name_chars
from sessions.engine.transcript.types import Block, Kind

IMAGE_TOKENS, PDF_TOKENS = 1_500, 2_000


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block and of each of its parts."""
    text = half_up(block.n_chars + name_chars(block), 4)
    own = text if block.media is None and block.kind is not Kind.IMAGE else text + _media(block)
    return own + sum(size(part, model) for part in block.parts) if block.parts else own


def _media(block: Block) -> int:
    if block.kind is Kind.IMAGE:
        return IMAGE_TOKENS
    if block.kind is Kind.DOCUMENT and block.media is not None:
        return PDF_TOKENS if block.media.media_type.lower() == "application/pdf" else 0
    return 0


ESTIMATOR = Estimator("opencode_v2", "opencode V2 estimate", "opencode core session/compaction.ts (V2)", "tokens", size)
