"""What providers bill for an image, from its dimensions.

All arithmetic is exact: with s = sqrt(a / b) the floor of w · s is an integer square root.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.models.models_table import OTHERS
from sessions.engine.tokens.estimators._counts import up
from sessions.engine.transcript.types import NOT_IN_FILE, Media

PATCH = 28
TIERS = {"standard": (1568, 1568), "high-res": (2576, 4784)}
"""Claude tiers: longest padded side in pixels, most tokens."""
ASSUMED_SIDE = 1024
"""An image whose size is not known (at an address, or with a broken header) weighs as a square of this side."""
GEMINI_2_TILE, GEMINI_3_IMAGE = 258, 1120
GEMINI_SIDE = 3072
"""Gemini 2.x scales larger images down to this side before it tiles them."""
QWEN_LEAST, QWEN_MARKS = 4, 2
"""The fewest cells, and the marks before and after an image that Model Studio bills with it (estimators 18.1)."""
GLM_LEAST = 8
ENCODER_PATCH = 14
"""Pixels of the patch of Kimi's vision encoder: a cell, which is one token, has 2 x 2 of them."""
LONGEST_SIDE = 512 * ENCODER_PATCH
"""Kimi scales a longer side down."""
XAI_TILE, XAI_TOKENS, XAI_MOST_TILES = 448, 256, 6
PDF_TEXT_PER_PAGE = 2_250
"""Middle of Anthropic's 1,500 to 3,000 tokens of text a page (estimators 11)."""
PDF_PAGE_PIXELS = (1075, 1520)
"""A4 at 130 dpi, the page image that is billed beside the text."""


def image_tokens(media: Media, model: ModelInfo) -> int:
    """Tokens that the provider bills: of an unknown size as for 1024 x 1024, none for a picture not in the file."""
    if media.problem == NOT_IN_FILE:
        return 0
    width, height = (media.width, media.height) if media.width and media.height else (ASSUMED_SIDE, ASSUMED_SIDE)
    return tokens_of_size(width, height, model.image_tier)


def document_tokens(media: Media, model: ModelInfo) -> int:
    """Tokens of a base64 or linked document: pages by the provider's rule, other bytes as text of 4 bytes a token.

    A PDF whose pages could not be counted weighs one page: a lower bound.  Gemini 2.x bills 258 a page, 3.x one image;
    the others are taken as Claude documents itself: the page's image and its text, for a full page.  A page of a few
    words weighs little more than its image (recorded on Claude: 1,615 tokens for a whole request, 1,551 of them that).
    """
    if media.media_type not in ("application/pdf", ""):
        return up(media.n_base64 * 3, 16)
    if model.family == "gemini":
        page = GEMINI_2_TILE if model.image_tier == "gemini-2" else GEMINI_3_IMAGE
    else:
        page = PDF_TEXT_PER_PAGE + tokens_of_size(*PDF_PAGE_PIXELS, model.image_tier)
    return max(1, media.n_pages) * page


@lru_cache(maxsize=4096)
def tokens_of_size(width: int, height: int, tier: str) -> int:
    """Tokens of a width x height image under the rule called ``tier``; raises KeyError for an unknown rule."""
    if tier in TIERS:
        return claude_image_tokens(width, height, tier)
    kind, _, numbers = tier.partition("-")
    return _RULES[kind](width, height, numbers)


def claude_image_size(width: int, height: int, tier: str) -> tuple[int, int]:
    """The size that a model of ``tier`` sees: the original if it fits, else the largest that does (estimators 9.2)."""
    side, most = TIERS[tier]
    if _fits(width, height, side, most):
        return width, height
    if height > width:
        fitted_height, fitted_width = claude_image_size(height, width, tier)
        return fitted_width, fitted_height
    aspect = width / height
    low, high = 1, width
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(middle, max(1, round(middle / aspect)), side, most):
            low = middle
        else:
            high = middle - 1
    return low, max(1, round(low / aspect))


def claude_image_tokens(width: int, height: int, tier: str) -> int:
    """Patches of 28 x 28 pixels after resizing (estimators 9.1)."""
    return _patches(*claude_image_size(width, height, tier), PATCH)


def openai_tile_tokens(width: int, height: int, base: int, per_tile: int) -> int:
    """Fit inside 2048 x 2048, short side down to 768, then 512-pixel tiles; nothing is enlarged (estimators 10.1)."""
    scale = min(Fraction(1), Fraction(2048, max(width, height)))
    scale = min(scale, Fraction(768, min(width, height)))
    return base + per_tile * ceil(width * scale / 512) * ceil(height * scale / 512)


def openai_patches(width: int, height: int, budget: int) -> int:
    """32-pixel patches, scaled into ``budget`` (estimators 10.2).

    With r = sqrt(32^2 B / (w h)), w r / 32 = sqrt(w B / h): its floor is an integer square root, and the scale that
    makes that side whole makes the other side a ratio of integers.
    """
    patches = _patches(width, height, 32)
    if patches <= budget:
        return patches
    across, down = max(1, isqrt(width * budget // height)), max(1, isqrt(height * budget // width))
    if across * height <= down * width:
        return min(budget, across * up(height * across, width))
    return min(budget, down * up(width * down, height))


def gemini_tokens(width: int, height: int, generation: str) -> int:
    """2.x: 258, or 258 per 768-pixel tile and one more where a side is over 384; 3.x: flat (estimators 11).

    The published rule has the tiles alone.  The one recording of a tiled image, 3,008 x 2,000 at 3,354 tokens, is its
    12 tiles and a thirteenth: the whole image once more, small.  An image of one tile is that overview itself.
    """
    if generation != "2":
        return GEMINI_3_IMAGE
    if max(width, height) <= 384:
        return GEMINI_2_TILE
    scale = min(Fraction(1), Fraction(GEMINI_SIDE, max(width, height)))
    n_tiles = ceil(width * scale / 768) * ceil(height * scale / 768)
    return GEMINI_2_TILE * (n_tiles + 1 if n_tiles > 1 else 1)


def grid_tokens(width: int, height: int, cell: int, least: int, most: int) -> int:
    """Cells of the size rounded to whole cells, scaled into ``least`` to ``most`` where it has fewer or more."""
    across, down = (round(Fraction(side, cell)) for side in (width, height))
    if across * down > most:
        return max(1, isqrt(width * most // height)) * max(1, isqrt(height * most // width))
    if across * down < least:
        return _up_root(width * least, height) * _up_root(height * least, width)
    return across * down


def glm_tokens(width: int, height: int, least: int, most: int) -> int:
    """The grid of 28-pixel cells after a side shorter than a cell was brought to one (estimators 18.3)."""
    short = min(width, height)
    if short < PATCH:
        width, height = width * PATCH // short, height * PATCH // short
    return grid_tokens(width, height, PATCH, least, most)


def kimi_tokens(width: int, height: int, most_patches: int) -> int:
    """Cells of 28 pixels, padded up; scaled down where it has more whole patches than the limit (estimators 18.2)."""
    n_patches = max(1, width // ENCODER_PATCH) * max(1, height // ENCODER_PATCH)
    fitted = []
    for side in (width, height):
        by_patches = isqrt(side * side * most_patches // n_patches)
        by_side = side * LONGEST_SIDE // max(width, height)
        fitted.append(max(1, min(side, by_patches, by_side)))
    return up(fitted[0], PATCH) * up(fitted[1], PATCH)


def xai_tokens(width: int, height: int) -> int:
    """256 for each tile of 448 pixels, at most six, and for one tile more (estimators 18.4)."""
    n_tiles = up(width, XAI_TILE) * up(height, XAI_TILE)
    return XAI_TOKENS * (min(n_tiles, XAI_MOST_TILES) + 1)


def _up_root(above: int, below: int) -> int:
    """The square root of above / below, rounded up: at least 1, for neither is 0."""
    root = isqrt(above // below)
    return root if root * root * below >= above else root + 1


def _patches_rule(width: int, height: int, numbers: str) -> int:
    """Patches times the model's multiplier, rounded up."""
    budget, multiplier = numbers.split("-")
    return ceil(openai_patches(width, height, int(budget)) * Fraction(multiplier))


def _qwen_rule(width: int, height: int, numbers: str) -> int:
    cell, most = (int(number) for number in numbers.split("-"))
    return grid_tokens(width, height, cell, QWEN_LEAST, most) + QWEN_MARKS


_RULES: dict[str, Callable[[int, int, str], int]] = {
    "tiles": lambda width, height, numbers: openai_tile_tokens(width, height, *map(int, numbers.split("-"))),
    "patches": _patches_rule,
    "gemini": gemini_tokens,
    "qwen": _qwen_rule,
    "kimi": lambda width, height, most: kimi_tokens(width, height, int(most)),
    "glm": lambda width, height, most: glm_tokens(width, height, GLM_LEAST, int(most)),
    "xai": lambda width, height, _: xai_tokens(width, height),
}
_WORDS = {
    "tiles": "OpenAI's: tiles of 512 pixels",
    "patches": "OpenAI's: patches of 32 pixels",
    "gemini-2": "Gemini's: tiles of 768 pixels",
    "gemini-3": "Gemini's: one figure for every size",
    "qwen": "Qwen's: cells of {} pixels, at most {:,} unless the agent asks for high resolution",
    "kimi": "Kimi's published image processor: cells of 28 pixels",
    "glm": "GLM's published image processor: cells of 28 pixels",
    "xai": "xAI's of 2025: tiles of 448 pixels, an upper bound for over 6 tiles",
}


def has_own_image_rule(model: ModelInfo) -> bool:
    """Whether a rule of the model's own provider is known; else Claude's patches stand in for it."""
    return model.family != OTHERS or model.image_tier not in TIERS


def image_rule_words(model: ModelInfo) -> str:
    """Whose rule the images are counted by, in words."""
    if not has_own_image_rule(model):
        return "none known for this model: Claude's patches of 28 pixels stand in for it"
    if model.image_tier in TIERS:
        return "Claude's: patches of 28 pixels"
    kind, _, numbers = model.image_tier.partition("-")
    figures = [int(number) for number in numbers.split("-")] if kind == "qwen" else []
    return (_WORDS.get(model.image_tier) or _WORDS[kind]).format(*figures)


def _fits(width: int, height: int, side: int, most: int) -> bool:
    padded = max(up(width, PATCH), up(height, PATCH)) * PATCH
    return padded <= side and _patches(width, height, PATCH) <= most


def _patches(width: int, height: int, size: int) -> int:
    return up(width, size) * up(height, size)
