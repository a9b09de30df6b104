"""Characters of the list as JSON: ``len(json.dumps(messages, default=str, ensure_ascii=False))`` (seeds 1.2).

The list is that of the Messages API: keys, punctuation, blanks and escapes count, base64 too.  A user message of one
text is written as a string, every other content as a list of blocks; a reply is written as it was received.  The sum
over the messages is the length of the whole list: each carries the two characters of its place in it.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.transcript.types import Block, Kind, Message, Role

PLACE = len(", ")
"""Between two messages; the list's own brackets are as long, and stand once."""
FRAME = {
    Kind.TEXT: len('{"type": "text", "text": ""}'),
    Kind.THINKING: len('{"type": "thinking", "thinking": "", "signature": ""}'),
    Kind.TOOL_USE: len('{"type": "tool_use", "id": "", "name": "", "input": }'),
    Kind.TOOL_RESULT: len('{"type": "tool_result", "tool_use_id": "", "content": }'),
    Kind.OPAQUE: 0,
}
MEDIA_FRAME = len('{"type": "", "source": {"type": "base64", "media_type": "", "data": ""}}')
LINK_FRAME = len('{"type": "", "source": {"type": "url", "url": ""}}')
ERROR = len(', "is_error": true')
EMPTY = len("{}")


def written(block: Block) -> int:
    """Characters of a block as one element of a message's content; of an opaque one those of its own JSON."""
    if block.kind in (Kind.IMAGE, Kind.DOCUMENT):
        return _media(block)
    own = block.n_chars + block.n_json
    if block.kind is Kind.TOOL_USE:
        own = max(own, EMPTY) + len(block.name)
    elif block.kind is Kind.TOOL_RESULT:
        own = _content(block, own) + (ERROR if block.is_error else 0)
    return FRAME[block.kind] + own + block.n_payload + len(block.call_id)


def _content(block: Block, own: int) -> int:
    """A result's content: a string, or the list of its parts."""
    if not block.parts:
        return own + len('""')
    text = FRAME[Kind.TEXT] + own + PLACE if own else 0
    return text + sum(written(part) + PLACE for part in block.parts)


def _media(block: Block) -> int:
    media = block.media
    if media is None:
        return LINK_FRAME + len(block.kind)
    if media.n_base64 or not media.n_url:
        return MEDIA_FRAME + len(block.kind) + len(media.media_type) + media.n_base64
    return LINK_FRAME + len(block.kind) + media.n_url


def of_message(message: Message, _model: ModelInfo) -> int:
    """Characters of a message and of its place in the list."""
    blocks = message.blocks
    frame = len('{"role": "", "content": }') + len(message.role) + PLACE
    if len(blocks) == 1 and blocks[0].kind is Kind.TEXT and message.role is not Role.ASSISTANT:
        return frame + len('""') + blocks[0].n_chars + blocks[0].n_json
    return frame + max(len("[]"), sum(written(block) + PLACE for block in blocks))


ESTIMATOR = Estimator(
    "serialized_chars",
    "Characters of the list as JSON",
    "learn-claude-code s08: length of json.dumps of the messages",
    "chars",
    lambda block, _model: written(block),
    of_message=of_message,
)
