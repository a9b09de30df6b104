"""Arithmetic that several harness rules share: rounding, UTF-8 and media lengths, and a rule rounded per message."""

from __future__ import annotations

from collections.abc import Callable

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.transcript.types import Block, Kind, Media, Message

NAME_TOKENS, NAME_CHARS = 1, 5
"""A tool's name: 0.199 o200k tokens a character over the 158 names of public transcripts (10th to 90th: 0.14, 0.28)."""
ID_TOKENS, ID_CHARS = 5, 8
"""A call id: 0.623 o200k tokens a character over 1,767 ids of public transcripts (10th to 90th: 0.55, 0.69)."""
DATA_URL = len("data:;base64,")
"""Characters that a data URL adds to its media type and base64."""


def up(amount: int, per: int) -> int:
    """``amount / per``, rounded up."""
    return -(-amount // per)


def half_up(amount: int, per: int) -> int:
    """``amount / per``, halves up: JavaScript's Math.round for what is not negative."""
    return (2 * amount + per) // (2 * per)


def non_ascii(block: Block) -> int:
    """Characters outside ASCII; where the block does not say, half of the bytes that UTF-8 adds, rounded up.

    A character of two, three or four bytes adds one, two or three: three bytes are assumed then.
    """
    return block.n_non_ascii or up(block.n_bytes - block.n_chars, 2)


def own_chars(block: Block) -> int:
    """Characters of everything a block carries itself but its media: text, payload, call id, name of a call."""
    return block.n_chars + block.n_payload + len(block.call_id) + name_chars(block)


def name_chars(block: Block) -> int:
    """Characters of the name that a tool call sends; names of other blocks are ours."""
    return len(block.name) if block.kind is Kind.TOOL_USE else 0


def media_chars(media: Media | None) -> int:
    """Characters of an image or document as sent: base64, URL and media type."""
    return 0 if media is None else media.n_base64 + media.n_url + len(media.media_type)


def name_tokens(block: Block) -> int:
    """Estimated o200k tokens of a call's name."""
    return up(len(block.name) * NAME_TOKENS, NAME_CHARS) if block.kind is Kind.TOOL_USE else 0


def id_tokens(block: Block) -> int:
    """Estimated o200k tokens of a call id."""
    return up(len(block.call_id) * ID_TOKENS, ID_CHARS)


def settled(block: Block) -> int:
    """The block's o200k count; raises ValueError where it is not settled."""
    if block.n_tokens < 0:
        raise ValueError("the block's token count is not settled (measure.settle)")
    return block.n_tokens


def rounded_once(
    name: str, label: str, source: str, amount: Callable[[Block, ModelInfo], int], rounded: Callable[[int], int]
) -> Estimator:
    """An estimator in tokens that rounds the sum of ``amount`` over a message once, that of a block on its own."""

    def size(block: Block, model: ModelInfo) -> int:
        return rounded(amount(block, model))

    def of_message(message: Message, model: ModelInfo) -> int:
        blocks = message.blocks
        if len(blocks) == 1:
            return rounded(amount(blocks[0], model))
        return rounded(sum(amount(block, model) for block in blocks))

    return Estimator(name, label, source, "tokens", size, of_message=of_message)
