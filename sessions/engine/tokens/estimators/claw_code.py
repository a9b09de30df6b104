"""claw-code's estimate: UTF-8 bytes of a block by four, rounded down, plus one (policies 11.17).

Images have no rule of their own there; their base64 counts as bytes.
"""

from __future__ import annotations

from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators.wire_bytes import block_bytes, media_bytes

ESTIMATOR = Estimator(
    "claw_code", "claw-code estimate", "ultraworkers/claw-code rust/crates/runtime/src/compact.rs", "tokens",
    lambda block, _model: block_bytes(block, media_bytes) // 4 + 1,
)  # fmt: skip
