"""A picture becomes a small WebP; what is broken, huge or of another kind has none, without an error."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from sessions.services import media as thumbnails
from sessions.services.media import MAX_BYTES, SIDE, thumbnail
from tests.services.claude_lines import png


def made(kind: str, size: tuple[int, int] = (900, 600), mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 90).convert(mode).save(out, kind, **options)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=["WEBP"])


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("PNG", "RGB"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "LA"), ("PNG", "1"), ("JPEG", "RGB"), ("JPEG", "CMYK"),
     ("JPEG", "L"), ("GIF", "P"), ("WEBP", "RGBA")],
)  # fmt: skip
def test_every_shown_kind_is_small_afterwards(kind: str, mode: str) -> None:
    small = thumbnail(made(kind, mode=mode))
    assert 0 < len(small) <= MAX_BYTES
    picture = opened(small)
    assert picture.format == "WEBP"
    assert max(picture.size) <= SIDE
    assert abs(picture.width / picture.height - 1.5) < 0.05


def test_a_small_picture_is_not_enlarged() -> None:
    assert opened(thumbnail(made("PNG", (20, 10)))).size == (20, 10)


def test_of_an_animation_the_first_frame_is_shown() -> None:
    frames = [Image.new("RGB", (60, 40), color) for color in ("red", "green", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], loop=0)
    red, green, _ = opened(thumbnail(out.getvalue())).convert("RGB").getpixel((30, 20))
    assert red > 200
    assert green < 60


def test_a_picture_on_its_side_stands_up() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    width, height = opened(thumbnail(made("JPEG", exif=turned))).size
    assert height > width


def test_a_bomb_is_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "_small", lambda _: pytest.fail("its pixels were touched"))
    assert thumbnail(png(60_000, 60_000)) == b""


def test_what_is_no_picture_has_none() -> None:
    whole = made("PNG")
    tiff = io.BytesIO()
    Image.new("RGB", (9, 9)).save(tiff, "TIFF")
    for data in (b"", b"hello", whole[:40], whole[: len(whole) // 2], png(1_254, 1_254), tiff.getvalue()):
        assert thumbnail(data) == b""


def test_damaged_bytes_never_raise() -> None:
    draw = random.Random(16)
    for kind in ("PNG", "JPEG", "GIF", "WEBP"):
        whole = made(kind, (64, 48))
        for _ in range(20):
            damaged = bytearray(whole)
            for _ in range(draw.randrange(1, 9)):
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            assert len(thumbnail(bytes(damaged))) <= MAX_BYTES
