"""How much a run of the tests tries: every day less, with ``CTXWEB_EVERY=1`` everything."""

from __future__ import annotations

import os

from hypothesis import settings

EVERY = os.environ.get("CTXWEB_EVERY") == "1"
SHARE = 1 if EVERY else 4
"""Of Hypothesis' examples one in so many is drawn."""


def examples(n: int) -> settings:
    """``n`` examples, a quarter of them on most days."""
    return settings(max_examples=n // SHARE)
