"""The over-count view: where known gates fire, and what the reference says of each firing."""

from __future__ import annotations

from sessions.engine.calibrate import weigh
from sessions.engine.overcount import FALSE, GateResult, over_count
from sessions.engine.types import Role
from tests.engine.sessions import Build, image, text

SCREENSHOT_BASE64, SCREENSHOT_SIDE = 3_118_884, 1_254
"""buzz-agent's founding example: 2.23 MiB of PNG (seeds 2.1)."""
SCREENSHOT_TOKENS = 1_521
"""On the standard tier: resized to 1092 x 1092, 39 x 39 patches (estimators 9.3)."""


def gate(build: Build, name: str, *, window: int | None = None) -> GateResult:
    """One gate's result on a session."""
    return over_count(weigh(build.done()), window=window, names=[name]).results[0]


def screenshot_first(n_turns: int = 80) -> Build:
    """A fresh context whose first prompt is the screenshot, then small turns."""
    build = Build(overhead=10_000)
    build.add(Role.USER, text(50), image(SCREENSHOT_BASE64, SCREENSHOT_SIDE), typed=True)
    build.context += SCREENSHOT_TOKENS
    for turn in range(n_turns):
        build.reply(100, f"call{turn}")
        build.result(f"call{turn}", 500)
    build.reply(100)
    return build


def test_the_screenshot_trips_the_wire_gate_on_a_fresh_context() -> None:
    """3,118,884 base64 + 9 of media type + 200 of text against 167,232, 18 times over, for 1,521 tokens."""
    result = gate(screenshot_first(), "buzz_wire")
    first = result.firings[0]
    assert result.threshold == 167_232
    assert (first.request, first.measure, first.verdict) == (0, SCREENSHOT_BASE64 + len("image/png") + 200, FALSE)
    assert first.measure // result.threshold == 18
    assert first.reference == 10_000 + 50 + SCREENSHOT_TOKENS
    assert first.for_media
    culprit = first.culprits[0]
    assert (culprit.message, culprit.tokens, culprit.tested) == (0, 50 + SCREENSHOT_TOKENS, True)


def test_the_flat_charge_does_not() -> None:
    result = gate(screenshot_first(), "buzz_pressure")
    assert not result.firings
    assert result.missed is None
