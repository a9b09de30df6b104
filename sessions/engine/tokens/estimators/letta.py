"""Letta: bytes / 4, up, then x 1.3, rounded down; base64 of images counted (policies 2.4).

Of characters outside ASCII only the number is known: six bytes each, an emoji too.  Each message is rounded, not the
whole list: less than one token a message apart.  JSON punctuation, keys and other escapes are not counted: a lower
bound.  Assumed: an image or document weighs its data URL or URL, signatures and encrypted payloads their bytes.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators._counts import DATA_URL, media_chars, non_ascii, own_chars, rounded_once, up
from sessions.engine.transcript.types import Block

BYTES_PER_TOKEN = 4
ESCAPED_BYTES = len("\\u4e2d")
SAFETY_MARGIN = 1.3


def n_bytes(block: Block, model: ModelInfo) -> int:
    """Bytes of the block and its parts in escaped JSON."""
    own = own_chars(block)
    if block.n_bytes != block.n_chars:
        own += (ESCAPED_BYTES - 1) * non_ascii(block)
    if block.media is not None:
        own += media_chars(block.media) + (DATA_URL if block.media.n_base64 else 0)
    return own + sum(n_bytes(part, model) for part in block.parts) if block.parts else own


ESTIMATOR = rounded_once(
    "letta", "Letta estimate", "letta-ai/letta token_counter.py ApproxTokenCounter", n_bytes,
    lambda amount: int(up(amount, BYTES_PER_TOKEN) * SAFETY_MARGIN),  # the same product as the source's
)  # fmt: skip
