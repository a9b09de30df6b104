"""Codex CLI: what codex-rs counts as model-visible bytes of an item, / 4, up; two rules for images (policies 2.4).

Where a file no longer holds the encrypted content (a tool took it out, or put a mark of a few letters in its place),
what its reply reported stands for it (policies 6.1).  Here the text, the names, the ids and the URLs are the serialised
bytes, so items of text are a lower bound (escapes alone add 4.8% of the characters of public transcripts, 0 to 16% by
file).  Documents count their base64, signatures elsewhere than at thinking their bytes.  One block is one item, except
that a message's text, images and documents are one item together.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import name_chars, up
from sessions.engine.tokens.estimators.wire_bytes import media_bytes
from sessions.engine.transcript.types import Block, Kind, Media, Message

BYTES_PER_TOKEN = 4
IMAGE_BYTES = 7_373
PATCH, MAX_PATCHES = 32, 10_000
ENCRYPTED_OVERHEAD = 650
STORED_PER_REPORTED = Fraction(126, 100)
"""Tokens that Codex counts for encrypted reasoning, for each token of reasoning that the provider reported."""

_ENCRYPTED = frozenset({Kind.THINKING, Kind.OPAQUE})
_CONTENT = frozenset({Kind.TEXT, Kind.IMAGE, Kind.DOCUMENT})


def tokens(n_bytes: int) -> int:
    """Bytes by 4, up."""
    return up(n_bytes, BYTES_PER_TOKEN)


def visible_bytes(block: Block, image: Callable[[Media], int]) -> int:
    """Model-visible bytes of one block; ``image`` weighs an inline image."""
    if block.kind in _ENCRYPTED and block.n_payload:
        return _encrypted_bytes(block)
    size = block.n_bytes + block.n_payload + name_chars(block) + len(block.call_id)
    if block.media is not None:
        inline = block.kind is Kind.IMAGE and block.media.n_base64
        size += image(block.media) if inline else media_bytes(block.media)
    return size + sum(_part_bytes(part, image) for part in block.parts) if block.parts else size


def reasoning_tokens(block: Block) -> int:
    """Tokens of a reasoning item that is stored encrypted; 0 for every other block."""
    return tokens(_encrypted_bytes(block)) if block.kind is Kind.THINKING and block.n_payload else 0


def stored_tokens(message: Message, reported: int) -> int:
    """Tokens of the encrypted reasoning of a message: by its length, else by what its reply ``reported``, in tokens."""
    held = sum(map(reasoning_tokens, message.blocks))
    thinks = Kind.THINKING in [block.kind for block in message.blocks]
    return held or (ceil(reported * STORED_PER_REPORTED) if thinks else 0)


def message_tokens(message: Message, image: Callable[[Media], int]) -> int:
    """Tokens of a message: its text and media as one item, every other block as one of its own."""
    if len(message.blocks) == 1:
        return tokens(visible_bytes(message.blocks[0], image))
    content = sum(visible_bytes(block, image) for block in message.blocks if block.kind in _CONTENT)
    items = (visible_bytes(block, image) for block in message.blocks if block.kind not in _CONTENT)
    return tokens(content) + sum(map(tokens, items))


def _encrypted_bytes(block: Block) -> int:
    return max(0, block.n_payload * 3 // 4 - ENCRYPTED_OVERHEAD)


def _part_bytes(part: Block, image: Callable[[Media], int]) -> int:
    if part.kind is Kind.OPAQUE and part.n_payload:
        return up(part.n_payload * 9, 16)
    return visible_bytes(part, image)


def original_bytes(media: Media) -> int:
    """Four bytes a patch."""
    if not (media.width and media.height):
        return IMAGE_BYTES
    return BYTES_PER_TOKEN * min(up(media.width, PATCH) * up(media.height, PATCH), MAX_PATCHES)


def _estimator(name: str, label: str, told: str, image: Callable[[Media], int]) -> Estimator:
    def size(block: Block, _model: ModelInfo) -> int:
        """Tokens of the block as an item of its own."""
        return tokens(visible_bytes(block, image))

    def of_message(message: Message, _model: ModelInfo) -> int:
        return message_tokens(message, image)

    source = f"openai/codex codex-rs context_manager/history.rs{told}"
    return Estimator(name, label, source, "tokens", size, of_message=of_message)


ESTIMATORS = (
    _estimator("codex", "Codex estimate", "", lambda _media: IMAGE_BYTES),
    _estimator(
        "codex_original", "Codex estimate, images at detail: original", ", original-detail images", original_bytes
    ),
)
