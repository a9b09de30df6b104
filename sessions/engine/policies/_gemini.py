"""How long Gemini CLI's contents are, as JSON and as its estimate counts them (policies 7).

google-gemini/gemini-cli ``packages/core/src/utils/tokenCalculation.ts`` (0.61.0): a quarter of a token a
character of ASCII text, of the name and JSON of a tool response, of the whole JSON of any other part, rounded
down over what is counted together.  Lengths are exact for text without characters that JSON escapes.  What the CLI
looks at is the history up to the last reply: what is about to be sent is not in it yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.policies._lists import last_assistant
from sessions.engine.policies._roles import ASSISTANT, role_of
from sessions.engine.policies.edits import result_chars
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.policies.policy import Item
    from sessions.engine.transcript.types import Block

USER_FRAME, MODEL_FRAME = len('{"role":"user","parts":[]}'), len('{"role":"model","parts":[]}')
TEXT_FRAME = len('{"text":""}')
CALL_FRAME = len('{"functionCall":{"id":"","name":"","args":}}')
RESPONSE_FRAME = len('{"functionResponse":{"id":"","name":"","response":{"output":""}}}')
OUTPUT_FRAME = len('{"output":""}')


def n_history(items: Sequence[Item]) -> int:
    """How many messages the history has: all up to the last reply."""
    return last_assistant(items) + 1


def json_length(item: Item, names: Mapping[str, str]) -> int:
    """Characters of a message as JSON."""
    parts = [_part_length(block, names) for block in item.message.blocks]
    frame = MODEL_FRAME if role_of(item) == ASSISTANT else USER_FRAME
    return frame + sum(parts) + max(0, len(parts) - 1)


def _part_length(block: Block, names: Mapping[str, str]) -> int:
    if block.kind is Kind.TOOL_USE:
        return CALL_FRAME + len(block.call_id) + len(block.name) + block.n_chars
    if block.kind is Kind.TOOL_RESULT:
        return RESPONSE_FRAME + len(block.call_id) + len(names.get(block.call_id, "")) + result_chars(block)
    return TEXT_FRAME + block.n_chars


def quarter_tokens(block: Block, names: Mapping[str, str]) -> int:
    """The estimate of a part, in quarters of a token."""
    if block.kind is Kind.TOOL_RESULT:
        return len(names.get(block.call_id, "")) + OUTPUT_FRAME + result_chars(block)
    return block.n_chars if block.kind is Kind.TEXT else _part_length(block, names)
