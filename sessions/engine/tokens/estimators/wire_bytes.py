"""Serialized bytes: what the request body weighs (replay-semantics 1; buzz-agent's ``estimated_bytes``)."""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._wire import block_bytes, media_bytes
from sessions.engine.transcript.types import Block


def size(block: Block, _model: ModelInfo) -> int:
    """UTF-8 bytes of the block; an image or document counts its whole base64 and its media type."""
    return block_bytes(block, media_bytes)


ESTIMATOR = Estimator("wire_bytes", "Bytes", "buzz-agent estimated_bytes (pull request 1332)", "bytes", size)
