"""Images and documents that stand in a transcript as a link or as a ``data:`` URI."""

from __future__ import annotations

import base64
from urllib.parse import unquote_to_bytes

from sessions.engine.types import Content, Kind

MARK = ";base64,"


def media_content(kind: Kind, url: str, *, name: str = "", media_type: str = "") -> Content:
    """An image or document whose ``url`` is a ``data:`` URI, or a link; a data URI without base64 is made base64."""
    if not url.startswith("data:"):
        return Content(kind, name=name, media_type=media_type, url=url)
    head, comma, data = url.partition(",")
    declared = head[5:].split(";", 1)[0] or media_type or "text/plain"
    if not comma:
        return Content(kind, name=name, media_type=media_type, url=url)
    if not head.endswith(MARK[:-1]):
        data = base64.b64encode(unquote_to_bytes(data)).decode("ascii")
    return Content(kind, name=name, media_type=declared, data=data)
