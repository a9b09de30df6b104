"""Real PNG files of an exact length for the demo, the same bytes on every machine.

Pixels are palette indices in stored (uncompressed) deflate blocks, so no zlib version can change them; an ancillary
chunk, which viewers skip, fills the file up to the length wanted.
"""

from __future__ import annotations

import base64
import random
import struct
import zlib

_BLOCK = 65_535
_UI = ((246, 247, 249), (255, 255, 255), (33, 37, 41), (13, 110, 253), (222, 226, 230), (134, 142, 150), (220, 53, 69))
_PAGE, _CARD, _INK, _BUTTON, _RULE, _GREY, _ALERT = range(len(_UI))
_FOUR = (_PAGE, _INK, _BUTTON, _ALERT)
_NOISE = bytes(16 + value % 240 for value in range(256))


def screenshot(width: int, height: int, n_base64: int, seed: int, *, bits: int = 8) -> str:
    """Base64, exactly ``n_base64`` characters long, of a PNG that looks like a checkout page on a phone.

    ``bits`` per pixel are 8 (a photo in it) or 2 (four colours).  ``n_base64`` must be a multiple of 4 and leave room
    for width x height pixels; raises ValueError otherwise.
    """
    if n_base64 % 4:
        raise ValueError("a base64 length is a multiple of 4")
    rng = random.Random(seed)  # noqa: S311  the same picture every time
    head = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 3, 0, 0, 0))
    rows = _rows(width, height, rng)
    pixels = b"".join(b"\0" + (row if bits == 8 else _packed(row)) for row in rows)
    palette = _palette() if bits == 8 else b"".join(bytes(_UI[index]) for index in _FOUR)
    body = _chunk(b"PLTE", palette) + _chunk(b"IDAT", _stored(pixels))
    end = _chunk(b"IEND", b"")
    room = n_base64 // 4 * 3 - len(head) - len(body) - len(end) - 12
    if room < 0:
        raise ValueError(f"{width} x {height} pixels do not fit into {n_base64:,} base64 characters")
    return base64.b64encode(head + body + _chunk(b"paDd", rng.randbytes(room)) + end).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _palette() -> bytes:
    shades = [bytes((60 + value * 3 // 4, 40 + value * 2 // 3, 30 + value // 2)) for value in range(256 - 16)]
    return b"".join(map(bytes, _UI)) + bytes(3 * (16 - len(_UI))) + b"".join(shades)


def _stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks."""
    blocks = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)]
    parts = [
        struct.pack("<BHH", at == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
        for at, block in enumerate(blocks)
    ]
    return b"\x78\x01" + b"".join(parts) + struct.pack(">I", zlib.adler32(data))


def _packed(row: bytes) -> bytes:
    """A row of palette indices as 2-bit pixels of the four colours that stay."""
    small = [_FOUR.index(index) if index in _FOUR else 0 for index in row] + [0] * (-len(row) % 4)
    return bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in zip(*(small[n::4] for n in range(4)), strict=True))


def _rows(width: int, height: int, rng: random.Random) -> list[bytes]:
    """A photo, order lines, a total, and a pay button that lies over the total."""
    edge = width // 16
    inner = width - 2 * edge
    rows = []
    for y in range(height):
        part = y * 100 // height
        row = bytes([_PAGE]) * width
        if 6 <= part < 42:
            row = _framed(rng.randbytes(inner).translate(_NOISE), edge)
        elif 48 <= part < 74:
            ink = _INK if part % 6 < 2 else _CARD
            row = _framed(bytes([ink]) * (inner // 2) + bytes([_CARD]) * (inner - inner // 2), edge)
        elif 76 <= part < 80:
            row = _framed(bytes([_ALERT]) * (inner // 3) + bytes([_RULE]) * (inner - inner // 3), edge)
        elif 79 < part < 90:
            row = _framed(bytes([_BUTTON]) * inner, edge)
        elif part >= 96:
            row = bytes([_GREY]) * width
        rows.append(row)
    return rows


def _framed(inner: bytes, edge: int) -> bytes:
    return bytes([_PAGE]) * edge + inner + bytes([_PAGE]) * edge if edge else inner
