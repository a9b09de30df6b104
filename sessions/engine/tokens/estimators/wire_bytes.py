"""Serialized bytes: what the request body weighs (replay-semantics 1; buzz-agent's ``estimated_bytes``)."""

from __future__ import annotations

from collections.abc import Callable

from sessions.engine.tokens.estimators import Estimator
from sessions.engine.transcript.types import Block, Kind, Media

IMAGE_BYTES = 16 * 1024
"""What buzz-agent's trigger charges for an image since its pull request 1332."""


def block_bytes(block: Block, image: Callable[[Media], int]) -> int:
    """Bytes of a block and its parts: text, payload, call id, a call's name, media; ``image`` sizes an image."""
    size = block.n_bytes + block.n_payload + _length(block.call_id)
    if block.kind is Kind.TOOL_USE:
        size += _length(block.name)
    if block.media is not None:
        size += image(block.media) if block.kind is Kind.IMAGE else media_bytes(block.media)
    return size + sum(block_bytes(part, image) for part in block.parts) if block.parts else size


def media_bytes(media: Media) -> int:
    """Bytes of an image or document as sent: base64 or URL, and the media type."""
    return media.n_base64 + media.n_url + _length(media.media_type)


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


ESTIMATOR = Estimator(
    "wire_bytes", "Bytes", "buzz-agent estimated_bytes (pull request 1332)", "bytes",
    lambda block, _model: block_bytes(block, media_bytes),
)  # fmt: skip
