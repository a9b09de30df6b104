"""aider: tokens of the message's JSON by the model's tokenizer; an image 85 + 170 per 512-pixel tile.

Aider-AI/aider ``aider/history.py`` (``tokenize``: each message on its own) and ``aider/models.py`` (``token_count``:
``json.dumps`` through litellm's tokenizer; ``token_count_for_image``): an image is fitted into 2,048 x 2,048, then
scaled so that its short side is 768 pixels, *up* as well as down, each side cut to whole pixels, and its 512-pixel
tiles counted.

Text is the o200k count: exact for the models that use it, otherwise an estimate (cl100k: 1% off in the median, more
outside Latin script).  The JSON frame ``{"role": "user", "content": ""}`` is 11 tokens per message, measured; escapes
are not counted, and ``json.dumps`` writes a character outside ASCII as six, about four tokens: a lower bound there.
aider's history is text: what it has no rule for is assumed as follows.  Tool calls weigh name and arguments, results
their texts and images; thinking, which aider strips from replies, documents but for their text, encrypted and unknown
blocks weigh nothing.  An image of unknown size is taken as 1,024 x 1,024.
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
