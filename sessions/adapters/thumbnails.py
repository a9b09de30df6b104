"""Small pictures of stored images: the first frame as WebP, made by Pillow within bounds, or none at all.

Only the four kinds that a browser is shown are opened, whatever the transcript calls them.  The header's size is looked
at before any pixel is decoded, so that a bomb costs nothing; one picture is decoded at a time in a process.
"""

from __future__ import annotations

import io
import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

KINDS = ("PNG", "JPEG", "GIF", "WEBP")
SIDE = 320
"""Pixels of the longer side: twice the width that a list gives it, for dense screens."""
MAX_BYTES = 10_000
"""Of one thumbnail."""
MAX_PIXELS = 32_000_000
"""A larger picture has no thumbnail: 128 MB of memory at four bytes a pixel.  A screen of 6,000 x 4,000 is within."""
MAX_FILE_BYTES = 64_000_000
TRIES = ((SIDE, 72), (SIDE, 45), (200, 45), (120, 35))
"""Longer side and WebP quality, until the result is small enough."""

log = logging.getLogger(__name__)
_one_at_a_time = threading.Lock()


def thumbnail(data: bytes) -> bytes:
    """The picture as WebP of at most ``MAX_BYTES``; b"" where it is broken, too large, or of another kind."""
    if not data or len(data) > MAX_FILE_BYTES:
        return b""
    from PIL import Image  # commands that make no picture start without it

    try:
        with _one_at_a_time, Image.open(io.BytesIO(data), formats=KINDS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return b""
            return _small(opened)
    except Exception as error:  # hostile bytes make decoders fail in any way; none of them is a fault of ours
        log.debug("no thumbnail: %s: %s", type(error).__name__, error)
        return b""


def _small(opened: Image.Image) -> bytes:
    from PIL import ImageOps

    opened.draft("RGB", (2 * SIDE, 2 * SIDE))  # a JPEG is decoded at about this size; the others take no notice
    opened.thumbnail((SIDE, SIDE), reducing_gap=2.0)
    clear = "A" in opened.getbands() or "transparency" in opened.info
    picture = ImageOps.exif_transpose(opened.convert("RGBA" if clear else "RGB"))
    for side, quality in TRIES:
        picture.thumbnail((side, side))
        out = io.BytesIO()
        picture.save(out, "WEBP", quality=quality, method=2)
        if out.tell() <= MAX_BYTES:
            return out.getvalue()
    return b""
