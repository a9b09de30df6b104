"""opencode V1: characters of text / 4, halves up, per part; no image rule.

anomalyco/opencode ``packages/opencode/src/util/token.ts`` (``Token.estimate``: ``Math.round(length / 4)``), applied
by ``session/compaction.ts`` to each completed tool part's output (prune).  V1 has no rule for media, which weigh
nothing here: in what it summarises they become "[Attached mime: name]".  (Its tail selection estimates the JSON of
whole model messages, where an inline image's base64 does count: ``chars_per_4`` shows that.)  Assumed for what it
does not estimate: thinking its text, a call its name and JSON arguments, an unknown block its JSON; signatures,
payloads and ids nothing.

V2 gives an image 1,500, a PDF 2,000 and other media nothing: anomalyco/opencode
``packages/core/src/session/compaction.ts`` (``estimatePart``, ``IMAGE_TOKEN_ESTIMATE``, ``PDF_TOKEN_ESTIMATE``): text
and reasoning their text; a tool call its name and JSON input; a tool result each of its texts and media on its own; an
encrypted checkpoint its text alone, "no locally measurable token size".  Assumed: an image whose media type is not
stated is an image, a document's text counts as text, an unknown block as its JSON.
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
