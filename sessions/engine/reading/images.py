"""Reads the size of an image from its header: never its pixels, so a bomb costs nothing (estimators 14).

The header is decoded from a growing prefix of the base64 text, because a JPEG may hide its size behind hundreds of
kilobytes of EXIF and colour profile.  What is broken or cannot be true is kept and named in ``Media.problem``.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from sessions.engine.base.limits import MAX_SIDE_PIXELS
from sessions.engine.transcript.types import Media

PREFIXES = (64, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
"""Decoded bytes tried one after the other until the header is complete."""
MAX_PDF_BYTES = 32 << 20
"""The API takes no larger document (estimators 11)."""
API_SIDE_PIXELS = 8_000
"""A longer side is rejected by Anthropic's API (estimators 9.5)."""
PIXELS_PER_BYTE = 8 * 1_032
"""The most that a format packs: a bit a pixel, and what deflate makes of a run of equal bytes."""

_NOT_SIZES = frozenset({0xC4, 0xC8, 0xCC})
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


class Header(NamedTuple):
    """What a prefix tells; ``more`` means that a longer one is needed."""

    media_type: str = ""
    width: int = 0
    height: int = 0
    problem: str = ""
    more: bool = False


class Place(NamedTuple):
    """The letters of base64 in a file, padding included: their offset and how many they are, both in bytes."""

    offset: int
    n_chars: int


def media_facts(media_type: str, data_base64: str) -> Media:
    """Facts of a base64 image or document; ``n_base64`` is the length as written, the bytes' hash is the caller's."""
    n_base64 = len(data_base64)
    if media_type == "application/pdf":
        # Page objects written in the open; none where all of them stand inside compressed object streams.
        n_pages = len(_PAGE.findall(prefix(data_base64, MAX_PDF_BYTES)[0]))
        return Media(media_type, n_base64, n_pages=n_pages, problem="" if n_pages else "the pages could not be counted")
    header = _header(data_base64)
    problems = [header.problem] if header.problem else []
    declared = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg"}.get(media_type, media_type)
    if header.media_type and media_type.startswith("image/") and header.media_type != declared:
        problems.append(f"declared as {media_type}, but the bytes are {header.media_type}")
    width, height = header.width, header.height
    if _is_impossible(width, height, n_base64):
        problems.append(f"the header claims {width:,} x {height:,}, which is no picture of its bytes")
        width = height = 0
    if max(width, height) > API_SIDE_PIXELS:
        problems.append(f"{width:,} x {height:,}: the API rejects sides over {API_SIDE_PIXELS:,} pixels")
    return Media(media_type or header.media_type, n_base64, 0, width, height, problem="; ".join(problems))


def _is_impossible(width: int, height: int, n_base64: int) -> bool:
    """Whether a header is damaged: a side beyond every format's, or more pixels than its bytes can hold.

    A file that was cut after its header keeps its size, which was what the provider saw: bytes are asked of sides alone
    that no provider documents to take.
    """
    longest = max(width, height)
    n_bytes = n_base64 * 3 // 4
    return longest > MAX_SIDE_PIXELS or (longest > API_SIDE_PIXELS and width * height > n_bytes * PIXELS_PER_BYTE)


def read_header(data: bytes, *, whole: bool = True) -> Header:
    """The size in the first bytes of an image; ``whole`` says that nothing follows ``data``."""
    header = _parse(data)
    if header.more:
        return header._replace(problem="the image ends inside its header", more=False) if whole else header
    is_empty = not header.problem and not (header.width and header.height)
    return header._replace(problem="the header claims a side of 0 pixels") if is_empty else header


def header_bytes(media_type: str, width: int, height: int) -> bytes:
    """The beginning of an image of that size, in bytes that base64 needs no padding for; no pixel follows."""
    if media_type == "image/jpeg":
        size = height.to_bytes(2, "big") + width.to_bytes(2, "big")
        return b"\xff\xd8\xff\xc0\x00\x11\x08" + size + bytes.fromhex("03012200021101031101")
    if media_type == "image/gif":
        return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes(2)
    if media_type == "image/webp":
        size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        return b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0" + bytes(4) + size
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")


def _header(data_base64: str) -> Header:
    header = Header(problem="empty data")
    for n_bytes in PREFIXES:
        data, whole = prefix(data_base64, n_bytes)
        if not data:
            return Header(problem="the data is not base64" if data_base64.strip() else "empty data")
        header = read_header(data, whole=whole)
        if not header.more:
            return header
    return header._replace(problem="no size found in the first 16 MiB", more=False)


def prefix(data_base64: str, n_bytes: int) -> tuple[bytes, bool]:
    """About the first ``n_bytes`` decoded, and whether that is all; white space and URL-safe letters are accepted."""
    n_chars = n_bytes * 4 // 3 + n_bytes // 8 + 8  # room for line breaks
    raw = data_base64[:n_chars].encode("ascii", "ignore")
    whole = n_chars >= len(data_base64)
    raw = b"".join(raw.split()).replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    raw = raw[: len(raw) - len(raw) % 4] if len(raw) % 4 == 1 or not whole else raw
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4)), whole
    except binascii.Error:
        return b"", whole


def _parse(data: bytes) -> Header:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if data[:6] in (b"GIF87a", b"GIF89a"):
        if len(data) < 10:
            return Header("image/gif", more=True)
        return Header("image/gif", int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data[:2] == b"\xff\xd8":
        return _jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b""):
        return _webp(data)
    return Header(problem="not a PNG, JPEG, GIF or WebP image")


def _png(data: bytes) -> Header:
    if len(data) < 24:
        return Header("image/png", more=True)
    if data[12:16] != b"IHDR":
        return Header("image/png", problem="a PNG without IHDR at its start")
    return Header("image/png", int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))


def _jpeg(data: bytes) -> Header:
    """Walks the segments to the first start-of-frame marker."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return Header("image/jpeg", problem="a JPEG segment does not begin with its marker")
        marker = data[at + 1]
        if marker == 0xFF or marker in _BARE_MARKERS:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in (0xD9, 0xDA):
            return Header("image/jpeg", problem="a JPEG without a frame header")
        if 0xC0 <= marker <= 0xCF and marker not in _NOT_SIZES:
            if at + 9 > len(data):
                break
            height, width = int.from_bytes(data[at + 5 : at + 7], "big"), int.from_bytes(data[at + 7 : at + 9], "big")
            return Header("image/jpeg", width, height)
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return Header("image/jpeg", more=True)


def _webp(data: bytes) -> Header:
    if len(data) < 30:
        return Header("image/webp", more=True)
    form = data[12:16]
    if form == b"VP8X":
        return Header("image/webp", _le(data, 24, 3) + 1, _le(data, 27, 3) + 1)
    if form == b"VP8L" and data[20] == 0x2F:
        bits = _le(data, 21, 4)
        return Header("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if form == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return Header("image/webp", _le(data, 26, 2) & 0x3FFF, _le(data, 28, 2) & 0x3FFF)
    return Header("image/webp", problem="a WebP image with an unknown first chunk")


def _le(data: bytes, at: int, n_bytes: int) -> int:
    return int.from_bytes(data[at : at + n_bytes], "little")
