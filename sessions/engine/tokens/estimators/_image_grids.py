"""Image rules of models whose makers publish how a picture is cut, Qwen, Kimi, GLM and Grok (estimators 18).

All arithmetic is exact: with s = sqrt(a / b) the floor of w · s is an integer square root.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from sessions.engine.tokens.estimators._counts import up

CELL, PATCH = 28, 14
"""Pixels of a cell, which is one token, and of the vision encoder's patch: a cell has 2 x 2 of them."""
LONGEST_SIDE = 512 * PATCH
"""Kimi scales a longer side down."""
XAI_TILE, XAI_TOKENS, XAI_MOST_TILES = 448, 256, 6


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
    if short < CELL:
        width, height = width * CELL // short, height * CELL // short
    return grid_tokens(width, height, CELL, least, most)


def kimi_tokens(width: int, height: int, most_patches: int) -> int:
    """Cells of 28 pixels, padded up; scaled down where it has more whole patches than the limit (estimators 18.2)."""
    n_patches = max(1, width // PATCH) * max(1, height // PATCH)
    fitted = []
    for side in (width, height):
        by_patches = isqrt(side * side * most_patches // n_patches)
        by_side = side * LONGEST_SIDE // max(width, height)
        fitted.append(max(1, min(side, by_patches, by_side)))
    return up(fitted[0], CELL) * up(fitted[1], CELL)


def xai_tokens(width: int, height: int) -> int:
    """256 for each tile of 448 pixels, at most six, and for one tile more (estimators 18.4)."""
    n_tiles = up(width, XAI_TILE) * up(height, XAI_TILE)
    return XAI_TOKENS * (min(n_tiles, XAI_MOST_TILES) + 1)


def _up_root(above: int, below: int) -> int:
    """The square root of above / below, rounded up: at least 1, for neither is 0."""
    root = isqrt(above // below)
    return root if root * root * below >= above else root + 1
