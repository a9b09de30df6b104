"""The interval of a share that was counted: Wilson's, which stays between 0 and 1 for few units too."""

from __future__ import annotations

import math

Z = 1.959964
"""Of 95%, two-sided."""


def interval(n: int, of: int) -> tuple[float, float] | None:
    """The 95% interval of ``n`` out of ``of`` as shares from 0 to 1; None where nothing was counted.

    Wilson's score interval (E. B. Wilson, JASA 22, 1927), without continuity correction.
    """
    if of <= 0:
        return None
    share = n / of
    scale = 1 + Z * Z / of
    middle = (share + Z * Z / (2 * of)) / scale
    half = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)
