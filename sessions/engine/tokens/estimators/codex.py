"""Codex CLI: UTF-8 bytes / 4, up; an inline image 7,373 bytes whatever its size; encrypted reasoning len x 3/4 - 650.

openai/codex ``codex-rs/core/src/context_manager/history.rs`` (``RESIZED_IMAGE_BYTES_ESTIMATE``); what else it counts
and what is assumed stands in ``_codex``.  An image that is only linked weighs its URL, as serialised.  Images sent
with ``detail: original`` have a rule of their own: ``codex_original``.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._codex import IMAGE_BYTES, message_tokens, tokens, visible_bytes
from sessions.engine.transcript.types import Block, Media, Message


def size(block: Block, _model: ModelInfo) -> int:
    """Tokens of the block as an item of its own."""
    return tokens(visible_bytes(block, _image))


def of_message(message: Message, _model: ModelInfo) -> int:
    """Tokens of a message's items."""
    return message_tokens(message, _image)


def _image(_media: Media) -> int:
    return IMAGE_BYTES


ESTIMATOR = Estimator(
    "codex", "Codex estimate", "openai/codex codex-rs context_manager/history.rs", "tokens", size, of_message=of_message
)
