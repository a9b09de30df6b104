"""aider: tokens of the message's JSON by the model's tokenizer; an image 85 + 170 per 512-pixel tile (policies 2.4).

Text is the o200k count: exact for the models that use it, otherwise an estimate.  Escapes are not counted: a lower
bound outside ASCII.  What it has no rule for is assumed; an image of unknown size is taken as 1,024 x 1,024.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import name_tokens, settled, up
from sessions.engine.tokens.estimators._images import ASSUMED_SIDE
from sessions.engine.transcript.types import Block, Kind, Media

FRAME_TOKENS = 11
IMAGE_BASE, TILE_TOKENS, TILE = 85, 170, 512
LONGEST, SHORT_SIDE = 2_048, 768


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block and its parts; raises ValueError on a count that is not settled."""
    if block.kind in (Kind.THINKING, Kind.OPAQUE):
        return 0
    if block.kind is Kind.IMAGE:
        return image_tokens(block.media)
    return settled(block) + name_tokens(block) + sum(size(part, model) for part in block.parts)


def image_tokens(media: Media | None) -> int:
    """Base and tiles, with the source's own cuts to whole pixels."""
    known = media is not None and media.width and media.height
    width, height = (media.width, media.height) if media is not None and known else (ASSUMED_SIDE, ASSUMED_SIDE)
    if max(width, height) > LONGEST:
        width, height = _scaled(width, height, LONGEST / max(width, height))
    width, height = _scaled(width, height, SHORT_SIDE / max(1, min(width, height)))
    return IMAGE_BASE + TILE_TOKENS * up(width, TILE) * up(height, TILE)


def _scaled(width: int, height: int, factor: float) -> tuple[int, int]:
    return int(width * factor), int(height * factor)


ESTIMATOR = Estimator(
    "aider", "aider estimate", "Aider-AI/aider history.py, models.py", "tokens", size, per_message=FRAME_TOKENS
)
