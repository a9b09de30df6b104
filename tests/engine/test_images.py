from __future__ import annotations

import base64
import io
import random
import textwrap

import imagesize  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sessions.engine.models.model_info import model_info
from sessions.engine.reading.images import header_bytes, media_facts, read_header
from sessions.engine.tokens.estimators._images import image_tokens

SIZES = [(1, 1), (16, 9), (375, 667), (1254, 1254), (2000, 31)]
FORMATS: dict[str, tuple[str, dict[str, object]]] = {
    "png": ("image/png", {"format": "PNG"}),
    "gif": ("image/gif", {"format": "GIF"}),
    "jpeg": ("image/jpeg", {"format": "JPEG"}),
    "progressive": ("image/jpeg", {"format": "JPEG", "progressive": True}),
    "exif": ("image/jpeg", {"format": "JPEG", "exif": b"Exif\0\0" + bytes(60_000), "icc_profile": bytes(250_000)}),
    "webp": ("image/webp", {"format": "WEBP"}),
    "lossless": ("image/webp", {"format": "WEBP", "lossless": True}),
    "extended": ("image/webp", {"format": "WEBP", "exif": b"Exif\0\0" + bytes(100)}),
}


def made(size: tuple[int, int], options: dict[str, object]) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (200, 30, 90)).save(file, **options)  # type: ignore[arg-type]
    return file.getvalue()


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(head + bytes(40)).decode()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FORMATS)
def test_size_as_other_readers_see_it(name: str, size: tuple[int, int]) -> None:
    media_type, options = FORMATS[name]
    data = made(size, options)
    encoded = base64.b64encode(data).decode()
    with Image.open(io.BytesIO(data)) as opened:
        assert opened.size == size
    if name != "exif":
        assert imagesize.get(io.BytesIO(data)) == size
    broken_lines = "\r\n".join(textwrap.wrap(encoded, 76)) if len(encoded) < 200_000 else encoded
    urlsafe = base64.urlsafe_b64encode(data).decode().rstrip("=")
    for text in (encoded, broken_lines, urlsafe, encoded.rstrip("=")):
        facts = media_facts(media_type, text)
        assert (facts.width, facts.height, facts.problem, facts.n_base64) == (*size, "", len(text))


def made_header(media_type: str, width: int, height: int) -> str:
    """The beginning of an image of any type, in base64."""
    return base64.b64encode(header_bytes(media_type, width, height)).decode()


@pytest.mark.parametrize(
    ("media_type", "data", "size", "problem"),
    [
        ("image/png", "", (0, 0), "empty"),
        ("image/png", "%%%%", (0, 0), "not base64"),
        ("image/png", base64.b64encode(b"<svg/>").decode(), (0, 0), "not a PNG"),
        ("image/png", png(60_000, 5), (60_000, 5), "the API rejects sides over 8,000"),
        ("image/png", png(60_000, 60_000), (0, 0), "claims 60,000 x 60,000, which is no picture of its bytes"),
        ("image/png", png(2_036, 1_141_637_267), (0, 0), "claims 2,036 x 1,141,637,267"),
        ("image/gif", made_header("image/gif", 2_036, 61_234), (0, 0), "claims 2,036 x 61,234"),
        ("image/jpeg", made_header("image/jpeg", 65_535, 900), (0, 0), "claims 65,535 x 900"),
        ("image/webp", made_header("image/webp", 9_000_000, 900), (0, 0), "claims 9,000,000 x 900"),
        ("image/png", png(8_000, 8_000), (8_000, 8_000), ""),
        ("image/png", png(4_000_000_000, 5), (0, 0), "claims 4,000,000,000 x 5"),
        ("image/png", png(0, 7), (0, 7), "0 pixels"),
        ("image/png", png(7, 7)[:16], (0, 0), "ends inside its header"),
        ("image/jpeg", png(7, 9), (7, 9), "declared as image/jpeg, but the bytes are image/png"),
        ("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIDAT" + bytes(60)).decode(), (0, 0), "without IHDR"),
        ("image/jpeg", base64.b64encode(b"\xff\xd8\xff\xda\0\x08" + bytes(60)).decode(), (0, 0), "frame header"),
        ("image/jpeg", base64.b64encode(b"\xff\xd8\xff\xe0\0\x04ab\x00\x01\x02\x03").decode(), (0, 0), "marker"),
    ],
)
def test_broken_and_lying_headers(media_type: str, data: str, size: tuple[int, int], problem: str) -> None:
    facts = media_facts(media_type, data)
    assert (facts.width, facts.height) == size
    assert problem in facts.problem if problem else not facts.problem


def test_a_damaged_header_is_charged_as_an_image_of_unknown_size() -> None:
    """A tool that took letters out of the base64 makes a side of millions: 1024 x 1024 stands for it, as for others."""
    model = model_info("gpt-5.5")
    damaged = media_facts("image/png", png(2_036, 1_141_637_267))
    assert image_tokens(damaged, model) == image_tokens(media_facts("image/png", "AAAA"), model) > 0


def test_pages_of_a_pdf() -> None:
    pages = b"".join(b"%d 0 obj <</Type /Page /Parent 1 0 R>> endobj\n" % n for n in range(2, 5))
    open_pdf = b"%PDF-1.4\n1 0 obj <</Type/Pages/Count 3>> endobj\n" + pages
    assert media_facts("application/pdf", base64.b64encode(open_pdf).decode()).n_pages == 3
    closed = media_facts("application/pdf", base64.b64encode(b"%PDF-1.7 stream").decode())
    assert closed.n_pages == 0
    assert "could not be counted" in closed.problem


@given(st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8 ", b"GIF89a"]), st.binary())
def test_no_bytes_raise(start: bytes, rest: bytes) -> None:
    header = read_header(start + rest)
    assert not header.more
    assert header.problem or (header.width and header.height)


def test_a_huge_jpeg_without_a_size_ends() -> None:
    rng = random.Random(1)
    segments = b"".join(b"\xff\xe1\xff\xff" + rng.randbytes(100) + bytes(65_433) for _ in range(300))
    facts = media_facts("image/jpeg", base64.b64encode(b"\xff\xd8" + segments).decode())
    assert facts.width == 0
    assert "no size found" in facts.problem
