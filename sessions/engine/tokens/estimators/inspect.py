"""Inspect AI: tiktoken o200k x 1.1, rounded down per message, at least 1; an image 765 (policies 2.4).

Text beside an encrypted payload is taken as a summary of the reasoning, except for Claude models, whose payload is a
signature.  The newlines of the join are not counted; the source may count several messages in one join, here each is
rounded by itself; the name of a tool is estimated from its length (``_counts``).
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import DATA_URL, name_tokens, settled
from sessions.engine.transcript.types import Block, Kind, Media, Message

BUFFER = 1.1
IMAGE_TOKENS = 765
LINKED_DOCUMENT, LEAST_DOCUMENT = 5_000, 100
BYTES_PER_PAGE, TOKENS_PER_PAGE = 100_000, 1_000


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block; raises ValueError on a count that is not settled."""
    return _with_buffer(_text(block, model)) + _media(block)


def of_message(message: Message, model: ModelInfo) -> int:
    """Tokens of a message: its texts together, then its media; at least 1."""
    text = media = 0
    for block in message.blocks:
        text += _text(block, model)
        if block.parts or block.media is not None or block.kind is Kind.IMAGE:
            media += _media(block)
    return max(1, _with_buffer(text) + media)


def _with_buffer(n_tokens: int) -> int:
    # The same floating-point product as the source's: int(10 * 1.1) is 11.
    return max(1, int(n_tokens * BUFFER)) if n_tokens else 0


def _text(block: Block, model: ModelInfo) -> int:
    is_summary = block.n_payload and model.family != "claude"
    if block.kind is Kind.OPAQUE or (block.kind is Kind.THINKING and not is_summary):
        return 0
    own = settled(block) + name_tokens(block)
    return own + sum(_text(part, model) for part in block.parts) if block.parts else own


def _media(block: Block) -> int:
    inner = sum(map(_media, block.parts)) if block.parts else 0
    if block.kind is Kind.IMAGE:
        return IMAGE_TOKENS + inner
    if block.kind is Kind.DOCUMENT and block.media is not None:
        return _document(block.media) + inner
    return inner


def _document(media: Media) -> int:
    if media.n_base64:
        n_bytes = (DATA_URL + len(media.media_type) + media.n_base64) * 3 // 4
        return max(LEAST_DOCUMENT, int(n_bytes / BYTES_PER_PAGE * TOKENS_PER_PAGE))
    return LINKED_DOCUMENT if media.n_url else 0


ESTIMATOR = Estimator(
    "inspect",
    "Inspect AI estimate",
    "UKGovernmentBEIS/inspect_ai model/_tokens.py",
    "tokens",
    size,
    of_message=of_message,
)
