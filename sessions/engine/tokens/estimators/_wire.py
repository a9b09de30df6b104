"""The byte sizes shared by wire_bytes and pressure_bytes (replay-semantics 1)."""

from __future__ import annotations

from collections.abc import Callable

from sessions.engine.transcript.types import Block, Kind, Media


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


IMAGE_BYTES = 16 * 1024
"""What buzz-agent's gate charges for an image since its pull request 1332."""


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
