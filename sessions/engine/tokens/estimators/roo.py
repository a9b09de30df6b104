"""Roo Code: tiktoken o200k x 1.5, rounded up per message; an image the square root of its base64 length (policies 2.4).

The frames are counted as measured with o200k (5 tokens for a call, 4 for a result, 3 for the error mark, 4 and 7 for
the two marks, 1 for a newline between parts); the name and the id, whose text is not kept as tokens, by the average of
public transcripts (``_counts``): a token or two a call.
"""

from __future__ import annotations

from math import isqrt

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators._counts import id_tokens, name_tokens, rounded_once, settled, up
from sessions.engine.transcript.types import Block, Kind, Media

UNKNOWN_IMAGE = 300
CALL_FRAME, RESULT_FRAME, ERROR_MARK, IMAGE_MARK, OTHER_MARK = 5, 4, 3, 4, 7


def tokens(block: Block, _model: ModelInfo) -> int:
    """O200k tokens before the factor; raises ValueError on a count that is not settled."""
    match block.kind:
        case Kind.TEXT:
            return settled(block)
        case Kind.IMAGE:
            return _image(block.media)
        case Kind.TOOL_USE:
            return CALL_FRAME + name_tokens(block) + settled(block)
        case Kind.TOOL_RESULT:
            return _result(block)
        case _:
            return 0


def _image(media: Media | None) -> int:
    if media is None or not media.n_base64:
        return UNKNOWN_IMAGE
    return isqrt(media.n_base64 - 1) + 1


def _result(block: Block) -> int:
    parts = [_part(part) for part in block.parts]
    error = ERROR_MARK if block.is_error else 0
    return RESULT_FRAME + error + id_tokens(block) + settled(block) + sum(parts) + max(0, len(parts) - 1)


def _part(part: Block) -> int:
    if part.kind is Kind.TEXT:
        return settled(part)
    return IMAGE_MARK if part.kind is Kind.IMAGE else OTHER_MARK


ESTIMATOR = rounded_once(
    "roo", "Roo Code estimate", "RooCodeInc/Roo-Code src/utils/tiktoken.ts", tokens, lambda n: up(3 * n, 2)
)
