"""Characters of what is sent, base64 counted: no JSON around it (that is ``serialized_chars``).

``chars_per_4`` is the naive rule: every character of what is sent, base64 too, divided by 4 and rounded up per block.
Not one agent's rule but the mistake that several share (estimators 13).  JSON punctuation and escapes are not counted
(what ``wire_bytes`` leaves out as well).
"""

from __future__ import annotations

from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import media_chars, own_chars, up
from sessions.engine.transcript.types import Block


def chars(block: Block) -> int:
    """Characters of the block and its parts as sent."""
    size = own_chars(block)
    if block.media is not None:
        size += media_chars(block.media)
    if block.parts:
        size += sum(chars(part) for part in block.parts)
    return size


ESTIMATORS = (
    Estimator(
        "chars",
        "Characters, base64 counted",
        "browser-use: length of the history's texts (policies 11.16)",
        "chars",
        lambda block, _model: chars(block),
    ),
    Estimator(
        "chars_per_4",
        "Characters ÷ 4, base64 counted",
        "rule of thumb applied to the serialised message",
        "tokens",
        lambda block, _model: up(chars(block), 4),
    ),
)
