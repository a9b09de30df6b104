"""Thumbnails of stored images, each made once: after its upload was read, or when a page first asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.adapters import thumbnails
from sessions.models import Media
from sessions.services.media import media_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
AT_ONCE_BYTES = 40_000_000
"""Bytes of images whose thumbnails an upload makes itself; those of the others are made when a page asks.

About a second of work: it comes after the sessions are there, but before the next upload is read.
"""
BATCH = 400


def make_thumbnails(hashes: Iterable[str], most_bytes: int = AT_ONCE_BYTES) -> int:
    """Make what is missing of these images, the smallest first, within ``most_bytes``; returns how many were tried."""
    names, tried = sorted(set(hashes)), 0
    for start in range(0, len(names), BATCH):
        waiting = Media.objects.filter(pk__in=names[start : start + BATCH], thumbnail=None, media_type__in=KINDS)
        for media in waiting.order_by("n_bytes"):
            most_bytes -= media.n_bytes
            if most_bytes < 0:
                return tried
            thumbnail_of(media)
            tried += 1
    return tried


def thumbnail_of(media: Media) -> bytes:
    """WebP of at most 10 KB, made now where nobody has; b"" where there can be none or the bytes are missing."""
    if media.thumbnail is not None:
        return bytes(media.thumbnail)
    try:
        made = thumbnails.thumbnail(media_bytes(media))
    except FileNotFoundError:
        return b""  # the bytes may come back (``ctxweb doctor``): nothing is kept of this try
    Media.objects.filter(pk=media.pk).update(thumbnail=made)
    media.thumbnail = made
    return made
