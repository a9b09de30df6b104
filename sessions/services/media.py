"""Images and documents of transcripts: each is stored once, in the transcript, and read from its place there.

Apart, as a blob of its own, lies what has no such place: base64 that is written in another way, or stands inside a zip
archive or a database.

Thumbnails are first frames as WebP, made by Pillow within bounds, or none at all.  Only the four kinds that a browser
is shown are opened, whatever the transcript calls them.  The header's size is looked at before any pixel is decoded, so
that a bomb costs nothing; one picture is decoded at a time in a process.
"""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO

from sessions import selectors
from sessions.adapters import storage
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading import media_places
from sessions.engine.reading.images import Place
from sessions.engine.transcript.types import Parsed
from sessions.models import Media, MediaUse
from sessions.services.blobs import batches

if TYPE_CHECKING:
    from PIL import Image

    from sessions.engine.reading.measure import OnMedia
    from sessions.services.session_rows import PackedSession


@dataclass(slots=True)
class MediaStore:
    """The media of the files that are read one after the other; ``seen`` are their rows, by hash."""

    seen: dict[str, Media] = field(default_factory=dict)

    def read(self, file: BinaryIO, parse: Callable[[OnMedia], Parsed]) -> Parsed:
        """What ``parse`` makes of the file, with the places of its media; those without one are put away."""
        if not media_places.has_places(file):
            parsed = parse(self._put)
        else:
            traces: dict[str, media_places.Base64Fingerprint] = {}

            def note(sha256: str, media_type: str, data: bytes) -> None:
                if sha256 not in traces:
                    traces[sha256] = media_places.fingerprint_of(data)
                    self._row(sha256, media_type, len(data))

            parsed = parse(note)
            places = media_places.find(file, parsed, traces) if traces else {}
            for sha256, data in media_places.read_again(file, parsed, traces.keys() - places.keys()):
                self._put(sha256, self.seen[sha256].media_type, data)
            parsed = replace(parsed, places=places)
        self._note(parsed)
        return parsed

    def _row(self, sha256: str, media_type: str, n_bytes: int) -> Media:
        return self.seen.setdefault(sha256, Media(sha256=sha256, media_type=media_type[:100], n_bytes=n_bytes))

    def _put(self, sha256: str, media_type: str, data: bytes) -> None:
        row = self._row(sha256, media_type, len(data))
        if not row.apart:
            storage.put_bytes(data, sha256)
            row.apart = True

    def _note(self, parsed: Parsed) -> None:
        """Take the sizes that the headers tell."""
        for transcript in parsed.transcripts:
            for message in transcript.messages:
                for leaf in message.leaves():
                    if leaf.media and (row := self.seen.get(leaf.media.sha256)):
                        row.width, row.height = leaf.media.width, leaf.media.height


def media_bytes(media: Media) -> bytes:
    """The decoded bytes, from apart or the first transcript that has them; FileNotFoundError where they are nowhere."""
    if media.apart:
        with suppress(OSError), storage.open_blob(media.sha256) as file:
            return file.read()
    uses = MediaUse.objects.filter(sha256=media.sha256, n_chars__gt=0).select_related("session__upload").order_by("pk")
    needed = ("sha256", "offset", "n_chars", "session__text_sha256", "session__upload__sha256")
    for use in uses.only(*needed).iterator(chunk_size=4):
        if found := in_transcript(use):
            return found
    raise FileNotFoundError(media.sha256)


def in_transcript(use: MediaUse) -> bytes | None:
    """The bytes as the session's transcript has them where the row says, None where it does not."""
    with suppress(UnreadableInput, OSError), selectors.open_text(use.session) as file:
        return media_places.read(file, Place(use.offset, use.n_chars), use.sha256)
    return None


def write_media(packed: Sequence[PackedSession], rows: Sequence[Media]) -> set[str]:
    """Write the media that these sessions show, and where; returns the blobs that need not lie apart any longer.

    What lies apart and no session shows is the first session's; what neither has nor needs bytes has no row.  Call
    inside a transaction, and ``blobs.remove_unnamed`` with the answer after it.
    """
    placed = {sha256 for one in packed for sha256, place in one.media.items() if place}
    kept = [row for row in rows if row.apart or row.sha256 in placed]
    Media.objects.bulk_create(kept, ignore_conflicts=True, batch_size=150)
    apart = [row.sha256 for row in kept if row.apart]
    for some in batches(apart):
        Media.objects.filter(pk__in=some).update(apart=True)  # the rows are locked, too: see ``together``
    _note_uses(packed, {row.sha256 for row in kept})
    return together(placed)


def together(hashes: Iterable[str]) -> set[str]:
    """Those of the media that lay apart though every session has them in its transcript: they do not from now on.

    Call inside a transaction: the rows are locked first, so that what another one has just put apart is seen.
    """
    found: set[str] = set()
    for some in batches(sorted(hashes)):
        rows = Media.objects.filter(pk__in=some, apart=True).order_by("pk")
        apart = set(rows.select_for_update().values_list("pk", flat=True))
        unplaced = MediaUse.objects.filter(sha256__in=apart, n_chars=0)
        now = apart - set(unplaced.values_list("sha256", flat=True))
        if now:
            Media.objects.filter(pk__in=now).update(apart=False)
            found.update(now)
    return found


def _note_uses(packed: Sequence[PackedSession], kept: set[str]) -> None:
    """Which session shows which of the ``kept`` media; the first has those that no message shows."""
    stray = kept - {sha256 for one in packed for sha256 in one.media}
    uses = [
        MediaUse(session_id=one.session.id, sha256=sha256, offset=offset, n_chars=n_chars)
        for position, one in enumerate(packed)
        for sha256 in sorted(kept & {*one.media, *(stray if position == 0 else ())})
        for offset, n_chars in [one.media.get(sha256) or (0, 0)]
    ]
    MediaUse.objects.filter(session__in=[one.session.id for one in packed]).delete()
    MediaUse.objects.bulk_create(uses, batch_size=400)


KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
AT_ONCE_BYTES = 40_000_000
"""Bytes of images whose thumbnails an upload makes, in about a second; those of others are made when a page asks."""


def make_thumbnails(hashes: Iterable[str], most_bytes: int = AT_ONCE_BYTES) -> int:
    """Make what is missing of these images, the smallest first, within ``most_bytes``; returns how many were tried."""
    names, tried = sorted(set(hashes)), 0
    for some in batches(names):
        waiting = Media.objects.filter(pk__in=some, thumbnail=None, media_type__in=KINDS)
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
        made = thumbnail(media_bytes(media))
    except FileNotFoundError:
        return b""  # the bytes may come back (``ctxweb doctor``): nothing is kept of this try
    Media.objects.filter(pk=media.pk).update(thumbnail=made)
    media.thumbnail = made
    return made


DECODED = ("PNG", "JPEG", "GIF", "WEBP")
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
        with _one_at_a_time, Image.open(io.BytesIO(data), formats=DECODED) as opened:
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
