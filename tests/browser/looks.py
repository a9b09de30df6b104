"""How wide a page is looked at, and in which theme."""

from __future__ import annotations

import pytest

from tests.every import EVERY


def looks(*widths: int) -> pytest.MarkDecorator:
    """Each width once, each theme at least once, the narrowest in the dark; ``CTXWEB_EVERY=1`` takes all pairs.

    Colours come from the theme and what fits from the width, so that no pair shows what its two halves do not.
    """
    pairs = [(width, "dark" if width == min(widths) else "light") for width in widths]
    if EVERY:
        pairs = [(width, scheme) for width in widths for scheme in ("light", "dark")]
    return pytest.mark.parametrize(("width", "scheme"), pairs)
