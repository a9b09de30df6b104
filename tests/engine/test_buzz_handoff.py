"""The handoff gate: thresholds, both measures, and the false trigger on one screenshot."""

from __future__ import annotations

import pytest

from sessions.engine.policies.buzz import HandoffParams as Params
from sessions.engine.policies.buzz import threshold
from sessions.engine.policies.params import build
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image

WINDOW = 200_000
SCREENSHOT = 3_118_884


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(
    ("given", "window", "expected"),
    [
        ({}, 200_000, 167_232),
        ({"reserve_output": "off"}, 200_000, 180_000),
        ({"max_output": 8_192}, 200_000, 180_000),
        ({}, 200_009, 167_241),
        ({"reserve_output": "off"}, 200_009, 180_000),
    ],
)
def test_threshold(given, window, expected):
    """min(window // 10 * 9, window − max_output): integer division before the product (seeds 2.3)."""
    assert threshold(build(Params, given), window) == expected


def session_with_screenshot():
    """Small context; a screenshot arrives before request 2."""
    session = Build(overhead=10_000, model="claude-opus-4-8")
    session.prompt(200)
    session.reply(100, "c0")
    session.result("c0", 300)
    session.reply(100, "c1")
    session.result("c1", 20, image(SCREENSHOT, 1254))
    session.context += 2_025
    session.reply(100)
    session.prompt(50)
    session.reply(100)
    return weigh(session.done())


def test_one_screenshot_trips_the_gate_by_bytes_alone():
    """3.1 M against 167,232 by base64; quiet at the flat charge."""
    weighed = session_with_screenshot()
    by_bytes = replay(weighed, "buzz_handoff", params={"measure": "wire_bytes"}, window=WINDOW, summarizer="stub:500")
    assert [e.request for e in by_bytes.events] == [2]
    gate = by_bytes.events[0].gate
    assert (gate.threshold, gate.operator) == (167_232, ">=")
    assert gate.measure > SCREENSHOT
    by_pressure = replay(weighed, "buzz_handoff", params={"measure": "pressure_bytes"}, window=WINDOW)
    assert by_pressure.events == ()
    growth = 100 * 4 + len("c1Read") + len("c1") + 20 * 4 + 16_384 + len("image/png")
    assert by_pressure.gates[2].measure == by_pressure.context_tokens[1] + growth


def test_the_estimator_option_changes_the_gate_alone():
    """--estimator wire_bytes is the same false trigger; display tokens stay."""
    weighed = session_with_screenshot()
    plain = replay(weighed, "buzz_handoff", window=WINDOW)
    swapped = replay(weighed, "buzz_handoff", window=WINDOW, estimator="wire_bytes", summarizer="stub:500")
    assert [e.request for e in swapped.events] == [2]
    assert plain.context_tokens[:2] == swapped.context_tokens[:2]


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("extra", "fires"), [(-1, False), (0, True)])
def test_projected_usage_fires_at_the_threshold(extra, fires):
    """last input + growth in bytes ≥ 167,232."""
    session = Build(overhead=10_000)
    session.prompt(100)
    session.reply(100, "c0")
    growth = 100 * 4 + len("c0Read") + len("c0")
    last_input = 10_100
    missing = 167_232 - last_input - growth
    tokens, rest = divmod(missing + extra, 4)
    session.result("c0", tokens)
    session.messages[-1] = _padded(session.messages[-1], rest)
    session.reply(100)
    result = replay(weigh(session.done()), "buzz_handoff", window=WINDOW)
    assert result.gates[1].measure == 167_232 + extra
    assert bool(result.events) is fires


@pytest.mark.parametrize(("over", "fires"), [(0, False), (1, True)])
def test_without_usage_the_byte_total_must_exceed_the_cap(over, fires):
    """> (not ≥) min(threshold, max_history_bytes // 10 * 9)."""
    session = Build(usage=False)
    session.prompt(10)
    session.reply(100, "c0")
    used = 10 * 4 + 100 * 4 + len("c0Read") + len("c0")
    tokens, rest = divmod(167_232 - used + over, 4)
    session.result("c0", tokens)
    session.messages[-1] = _padded(session.messages[-1], rest)
    session.reply(100)
    result = replay(weigh(session.done()), "buzz_handoff", window=WINDOW, params={"usage": "none"})
    assert result.gates[1].measure == 167_232 + over
    assert result.gates[1].operator == ">"
    assert result.gates[1].fires is fires
    capped = replay(
        weigh(session.done()), "buzz_handoff", window=WINDOW, params={"usage": "none", "max_history_bytes": 65_536}
    )
    assert capped.gates[1].threshold == 65_536 // 10 * 9


def test_the_handoff_keeps_the_live_prompt():
    """One handoff message, then the newest typed prompt again (seeds 2.4)."""
    weighed = session_with_screenshot()
    event = replay(
        weighed, "buzz_handoff", params={"measure": "wire_bytes"}, window=WINDOW, summarizer="stub:500"
    ).events[0]
    assert [(item.inserted, item.message.typed) for item in event.after] == [(True, False), (False, True)]
    assert event.after[1].id == "m0"
    assert (event.kept, event.dropped, event.inserted) == (1, 4, 1)


def _padded(message, n_bytes):
    """The message with a few bytes more in its first block."""
    from dataclasses import replace

    block = message.blocks[0]
    return replace(message, blocks=(replace(block, n_bytes=block.n_bytes + n_bytes), *message.blocks[1:]))
