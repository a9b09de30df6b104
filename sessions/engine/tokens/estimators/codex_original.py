"""Codex CLI with images sent at ``detail: original``: 32-pixel patches, at most 10,000, one token each.

openai/codex ``codex-rs/core/src/context_manager/history.rs`` (``estimate_original_image_bytes``,
``ORIGINAL_IMAGE_PATCH_SIZE``, ``ORIGINAL_IMAGE_MAX_PATCHES``): patches = ceil(width / 32) x ceil(height / 32), four
bytes a patch; an image whose size cannot be read weighs 7,373 bytes.  Everything else as ``codex``.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._codex import BYTES_PER_TOKEN, IMAGE_BYTES, message_tokens, tokens, visible_bytes
from sessions.engine.tokens.estimators._counts import up
from sessions.engine.transcript.types import Block, Media, Message

PATCH = 32
MAX_PATCHES = 10_000


def size(block: Block, _model: ModelInfo) -> int:
    """Tokens of the block as an item of its own."""
    return tokens(visible_bytes(block, image_bytes))


def of_message(message: Message, _model: ModelInfo) -> int:
    """Tokens of a message's items."""
    return message_tokens(message, image_bytes)


def image_bytes(media: Media) -> int:
    """Four bytes a patch."""
    if not (media.width and media.height):
        return IMAGE_BYTES
    return BYTES_PER_TOKEN * min(up(media.width, PATCH) * up(media.height, PATCH), MAX_PATCHES)


ESTIMATOR = Estimator(
    "codex_original",
    "Codex estimate, images at detail: original",
    "openai/codex codex-rs context_manager/history.rs, original-detail images",
    "tokens",
    size,
    of_message=of_message,
)
