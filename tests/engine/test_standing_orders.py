"""Standing orders under a heading over how a thing is worked."""

from __future__ import annotations

import pytest

from sessions.engine.quality.orders import stands


@pytest.mark.parametrize(
    ("sentence", "heading", "binds"),
    [
        ("Use uv, not pip.", "Setup", True),
        ("Run the tests before every commit.", "To commit", True),
        ("Sign every commit.", "Prerequisites for a pull request", True),
        ("Run the installer.", "Setup", False),
        ("Run the installer.", "Conventions", True),
    ],
)
def test_what_binds_lastingly_binds_under_a_how_to(sentence: str, heading: str, binds: bool) -> None:
    assert stands(sentence, "given", heading) == binds
