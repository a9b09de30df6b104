"""Images and documents at one pixel more and less: each provider's rule at its edges (estimators 9 to 11)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.tokens.estimators import (
    _images,
)
from sessions.engine.transcript.types import NOT_IN_FILE, Block, Kind, Media

GPT, CLAUDE = model_info("gpt-4.1"), model_info("claude-sonnet-4-5")


def text(n, kind=Kind.TEXT, **facts):
    return Block(kind, **{"n_chars": n, "n_bytes": n, "n_tokens": n, **facts})


def picture(width=0, height=0, **facts):
    return Media("image/png", width=width, height=height, **facts)


@pytest.mark.parametrize(
    ("width", "height", "tier", "expected"),
    [
        (28, 28, "standard", 1),
        (29, 28, "standard", 2),
        (28, 29, "standard", 2),
        (1_568, 28, "standard", 56),
        (1_569, 28, "standard", 56),
        (1_092, 1_092, "standard", 1_521),
        (1_093, 1_092, "standard", 1_560),
        (1_120, 1_092, "standard", 1_560),
        (1_120, 1_093, "standard", 1_560),
        (1_000, 1_000, "standard", 1_296),
        (1_568, 784, "standard", 1_568),
        (2_576, 28, "high-res", 92),
        (2_576, 1_456, "high-res", 4_784),
        (1_932, 1_932, "high-res", 4_761),
    ],
)
def test_claude_s_patches(width, height, tier, expected):
    """28 pixels, 1,568 of a side and 1,568 patches at most; 2,576 and 4,784 in the high tier (9.1)."""
    assert _images.claude_image_tokens(width, height, tier) == expected
    assert _images.claude_image_tokens(height, width, tier) == expected
    assert _images.tokens_of_size(width, height, tier) == expected


@pytest.mark.parametrize(
    ("size", "tier"),
    [
        ((3_000, 2_000), "standard"),
        ((2_000, 3_000), "standard"),
        ((5_000, 30), "standard"),
        ((9_000, 1), "high-res"),
        ((4_000, 4_000), "high-res"),
        ((2_436, 1_540), "high-res"),  # 87 x 55 patches: one too many
    ],
)
def test_claude_shrinks_to_the_largest_that_fits(size, tier):
    """Of all sizes of the same shape the widest within both limits (9.2)."""
    side, most = {"standard": (1_568, 1_568), "high-res": (2_576, 4_784)}[tier]
    width, height = max(size), min(size)
    best = 1
    for wide in range(1, width + 1):
        high = max(1, round(wide / (width / height)))
        across, down = -(-wide // 28), -(-high // 28)
        if max(across, down) * 28 <= side and across * down <= most:
            best = wide
    expected = (best, max(1, round(best / (width / height))))
    assert _images.claude_image_size(*size, tier) == (expected if size[0] >= size[1] else expected[::-1])


@pytest.mark.parametrize(
    ("width", "height", "tiles"),
    [
        (1, 1, 1),
        (512, 512, 1),
        (513, 512, 2),
        (512, 513, 2),
        (513, 513, 4),
        (768, 768, 4),
        (769, 769, 4),
        (4_000, 4_000, 4),
        (1_024, 512, 2),
        (1_025, 512, 3),
        (2_048, 512, 4),
        (2_049, 512, 4),
        (2_048, 768, 8),
        (1_536, 768, 6),
        (1_537, 768, 8),
        (1_540, 769, 8),
        (4_096, 1_024, 4),
        (4_096, 1_025, 8),
        (3_072, 1_536, 6),
    ],
)
def test_openai_s_tiles(width, height, tiles):
    """Within 2,048, the short side down to 768, 512 a tile; nothing is enlarged (10.1)."""
    for given in ((width, height), (height, width)):
        assert _images.openai_tile_tokens(*given, 85, 170) == 85 + 170 * tiles
    assert _images.tokens_of_size(width, height, "tiles-85-170") == 85 + 170 * tiles


@pytest.mark.parametrize(
    ("width", "height", "budget", "patches"),
    [
        (32, 32, 9, 1),
        (33, 32, 9, 2),
        (96, 96, 9, 9),
        (97, 96, 9, 6),
        (128, 64, 4, 2),
        (97, 97, 9, 9),
        (1_024, 1_024, 1_536, 1_024),
        (1_800, 2_400, 1_536, 1_452),
        (2_400, 1_800, 1_536, 1_452),
        (64, 32, 2, 2),
        (65, 32, 2, 2),
        (64, 128, 4, 2),
        (20, 60_000, 1_536, 1_536),
        (60_000, 20, 1_536, 1_536),
    ],
)
def test_openai_s_patches(width, height, budget, patches):
    """32 pixels; scaled so that they are no more than the budget: 33 × 44 of 1,800 × 2,400 (10.2).

    The rule has no answer for an image of less than a patch across; it is one row, of no more than the budget.
    """
    assert _images.openai_patches(width, height, budget) == patches
    assert _images.tokens_of_size(width, height, f"patches-{budget}-1.62") == -(-patches * 162 // 100)
    assert _images.tokens_of_size(width, height, f"patches-{budget}-1.62") == -(-patches * 162 // 100)


@pytest.mark.parametrize(
    ("width", "height", "tiles"),
    [
        (1, 1, 1),
        (384, 384, 1),
        (385, 384, 1),
        (384, 385, 1),
        (768, 768, 1),
        (769, 768, 3),
        (768, 769, 3),
        (1_536, 768, 3),
        (1_537, 768, 4),
        (3_072, 768, 5),
        (3_073, 768, 5),
        (6_144, 1_536, 5),
        (6_144, 1_537, 9),
        (3_008, 2_000, 13),
        (3_072, 2_304, 13),
        (3_072, 2_305, 17),
    ],
)
def test_gemini_s_tiles(width, height, tiles):
    """258 a tile of 768 pixels within 3,072, and one more over one tile; 3.x: 1,120 whatever it is (11)."""
    assert _images.gemini_tokens(width, height, "2") == 258 * tiles
    assert _images.tokens_of_size(height, width, "gemini-2") == 258 * tiles
    assert _images.gemini_tokens(width, height, "3") == 1_120


def test_pictures_without_a_size_and_documents():
    """1,024 × 1,024 is 37 × 37 patches on Claude; a page of A4 at 130 dpi 1,551, beside 2,250 of text."""
    assert _images.image_tokens(picture(), CLAUDE) == _images.image_tokens(picture(1_024, 0), CLAUDE) == 1_369
    assert _images.image_tokens(picture(0, 1_024), CLAUDE) == _images.image_tokens(picture(1_024, 1_024), CLAUDE)
    assert _images.image_tokens(picture(), model_info("gpt-5-mini")) == 1_229  # ⌈32 x 32 x 1.2⌉
    assert _images.image_tokens(picture(28, 56), CLAUDE) == 2
    assert _images.image_tokens(picture(28, 56, problem=NOT_IN_FILE), CLAUDE) == 0
    page = _images.claude_image_tokens(1_075, 1_520, CLAUDE.image_tier)
    assert page == 1_551
    for n_pages, pages in ((0, 1), (1, 1), (2, 2)):
        pdf = Media("application/pdf", n_base64=999, n_pages=n_pages)
        assert _images.document_tokens(pdf, CLAUDE) == pages * (2_250 + page)
        assert _images.document_tokens(pdf, replace(GPT, family="gemini", image_tier="gemini-2")) == pages * 258
        assert _images.document_tokens(pdf, replace(GPT, family="gemini", image_tier="gemini-3")) == pages * 1_120
    assert [_images.document_tokens(Media("text/plain", n_base64=n), CLAUDE) for n in (0, 1, 16, 17, 32, 33)] == [
        0,
        1,
        3,
        4,
        6,
        7,
    ]
