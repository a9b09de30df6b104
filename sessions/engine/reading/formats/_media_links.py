"""Images and documents as transcripts link them: data URIs, bare base64, addresses; base64 is never decoded here."""

from __future__ import annotations

import base64
import re
from urllib.parse import unquote_to_bytes

from sessions.engine.transcript.types import Content, Kind

_DATA_URI = re.compile(r"data:([^;,]*)(?:;[^;,]+)*?(;base64)?,", re.IGNORECASE)
_STARTS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi": "application/pdf",
}


def media_link(link: str, media_type: str = "", kind: Kind | None = None, name: str = "") -> Content:
    """The image or document that ``link`` holds (a data URI, bare base64) or points to (anything else).

    A data URI without base64 is made base64.  ``media_type`` is what is declared beside it; without ``kind`` the media
    type decides, and says image where it is empty.
    """
    match = _DATA_URI.match(link)
    if match:
        declared, data = match[1] or media_type, link[match.end() :]
        if not match[2]:
            data = base64.b64encode(unquote_to_bytes(data)).decode("ascii")
        return Content(kind or _kind(declared), media_type=declared, data=data, name=name)
    guessed = next((found for start, found in _STARTS.items() if link.startswith(start)), "")
    if guessed:
        declared = media_type or guessed
        return Content(kind or _kind(declared), media_type=declared, data=link, name=name)
    return Content(kind or _kind(media_type), media_type=media_type, url=link, name=name)


def _kind(media_type: str) -> Kind:
    return Kind.IMAGE if not media_type or media_type.startswith("image/") else Kind.DOCUMENT
