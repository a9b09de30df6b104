"""LangChain's approximate counter: characters / 4 (3.3 for Claude), up, + 3 per message; an image 85 (policies 2.4).

Every tool result is a message of its own there (role "tool"), so each one in a message of ours is rounded up and
charged 3.  The scale by the last usage needs the whole list and is left out; message names are not kept.  A repr is
counted as the block's own characters, the frame below and the blanks that Python writes between the parts of arguments.
Whether a frame is that of ``tool_calls`` or of a content block differs by provider: the former is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import media_chars, own_chars
from sessions.engine.transcript.types import Block, Kind, Message

CHARS_PER_TOKEN, CLAUDE_CHARS_PER_TOKEN = 4.0, 3.3
PER_MESSAGE = 3
IMAGE_TOKENS = 85
FRAMES = {
    Kind.TOOL_USE: len("[{'name': '', 'args': , 'id': '', 'type': 'tool_call'}]"),
    Kind.THINKING: len("{'type': 'thinking', 'thinking': '', 'signature': ''}"),
    Kind.DOCUMENT: len("{'type': 'file', 'base64': '', 'mime_type': ''}"),
}
TOOL_ROLE = "tool"


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block on its own, without role and without what a message costs."""
    return _rounded(_chars(block), model) + _images((block,))


def of_message(message: Message, model: ModelInfo) -> int:
    """Tokens of a message, its tool results as messages of their own; the first one's 3 tokens are ``per_message``."""
    total = n_messages = n_rest = 0
    n_chars = len(message.role)
    for block in message.blocks:
        if block.kind is Kind.TOOL_RESULT:
            total += _rounded(_chars(block) + len(TOOL_ROLE), model)
            n_messages += 1
        else:
            n_chars += _chars(block)
            n_rest += 1
    if n_rest or not n_messages:
        total += _rounded(n_chars, model)
        n_messages += 1
    return total + _images(message.blocks) + PER_MESSAGE * (n_messages - 1)


def _chars(block: Block) -> int:
    if block.kind is Kind.IMAGE:
        return 0
    own = own_chars(block) + FRAMES.get(block.kind, 0)
    if block.kind is Kind.TOOL_USE:
        own += block.n_json
    if block.kind is Kind.DOCUMENT:
        own += media_chars(block.media)
    return own + sum(map(_chars, block.parts)) if block.parts else own


def _images(blocks: Sequence[Block]) -> int:
    total = 0
    for block in blocks:
        if block.kind is Kind.IMAGE:
            total += IMAGE_TOKENS
        if block.parts:
            total += _images(block.parts)
    return total


def _rounded(n_chars: int, model: ModelInfo) -> int:
    return ceil(n_chars / (CLAUDE_CHARS_PER_TOKEN if model.family == "claude" else CHARS_PER_TOKEN))


ESTIMATOR = Estimator(
    "langchain",
    "LangChain approximate",
    "langchain-core messages/utils.py count_tokens_approximately",
    "tokens",
    size,
    per_message=PER_MESSAGE,
    of_message=of_message,
)
