"""Wire bytes with a flat charge per image (replay-semantics 1; buzz-agent's ``context_pressure_bytes``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.estimator import Estimator
from sessions.engine.estimators._wire import block_bytes, pressure_media_bytes

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Block


def size(block: Block, _model: ModelInfo) -> int:
    """UTF-8 bytes of the block; an image counts 16,384 and its media type, a document as on the wire."""
    return block_bytes(block, pressure_media_bytes)


ESTIMATOR = Estimator(
    "pressure_bytes", "Pressure bytes", "buzz-agent context_pressure_bytes (pull request 1332)", "bytes", size
)
