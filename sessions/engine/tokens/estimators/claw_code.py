"""claw-code's estimate: UTF-8 bytes of a block by four, rounded down, plus one (policies 11.17).

Images have no rule of their own there; their base64 counts as bytes.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators.wire_bytes import block_bytes, media_bytes
from sessions.engine.transcript.types import Block


def size(block: Block, _model: ModelInfo) -> int:
    """Bytes of the block and its parts by 4, down, plus one."""
    return block_bytes(block, media_bytes) // 4 + 1


ESTIMATOR = Estimator(
    "claw_code", "claw-code estimate", "ultraworkers/claw-code rust/crates/runtime/src/compact.rs", "tokens", size
)
