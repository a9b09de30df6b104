"""The over-count view: where known gates fire, and what the reference says of each firing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.transcript.types import Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.document import summary, without_sentence
from sessions.engine.why.overcount import FALSE, LATE, MISSED, RIGHT, GateResult, over_count, triggers
from tests.engine.sessions import Build, image, long_session, text
from tests.engine.test_growth import work
from tests.engine.verdict_files import Claude

SCREENSHOT_BASE64, SCREENSHOT_SIDE = 3_118_884, 1_254
"""buzz-agent's founding example: 2.23 MiB of PNG (seeds 2.1)."""
SCREENSHOT_TOKENS = 1_521
"""On the standard tier: resized to 1092 x 1092, 39 x 39 patches (estimators 9.2)."""


MODEL = "claude-opus-4-5"
"""200,000 tokens, without a long window."""


def gate(build: Build, name: str, *, window: int | None = None) -> GateResult:
    """One gate's result on a session."""
    return over_count(weigh(replace(build.done(), window=200_000)), window=window, names=[name]).results[0]


def screenshot_first(n_turns: int = 80) -> Build:
    """A fresh context whose first prompt is the screenshot, then small turns."""
    build = Build(model=MODEL, overhead=10_000)
    build.add(Role.USER, text(50), image(SCREENSHOT_BASE64, SCREENSHOT_SIDE), typed=True)
    build.context += SCREENSHOT_TOKENS
    build.turns(n_turns)
    build.reply(100)
    return build


def screenshot_later(n_before: int, n_after: int) -> Build:
    """Turns of 600 tokens, one of them with the screenshot in its result."""
    build = Build(model=MODEL, overhead=10_000)
    build.prompt()
    build.turns(n_before)
    build.reply(100, "shot")
    build.result("shot", 500, image(SCREENSHOT_BASE64, SCREENSHOT_SIDE))
    build.context += SCREENSHOT_TOKENS
    build.turns(n_after, start=n_before)
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
    assert culprit.factor == (SCREENSHOT_BASE64 + 209) / (50 + SCREENSHOT_TOKENS)


def test_without_the_screenshot_the_wire_gate_never_fires() -> None:
    result = gate(screenshot_first(), "buzz_wire")
    culprit = result.firings[0].culprits[0]
    assert culprit.without is None
    assert without_sentence(culprit, result.firings[0]) == "Without message 0 it would never fire."
    assert summary(result) == ("buzz-agent, bytes would compact once, for images or documents alone.")


def test_the_flat_charge_does_not_fire() -> None:
    result = gate(screenshot_first(), "buzz_pressure")
    assert not result.firings
    assert result.missed is None


def test_characters_by_four_of_the_screenshot() -> None:
    """ceil((3,118,884 + 9) / 4) + 50 = 779,774 against 0.9 of 200,000."""
    first = gate(screenshot_first(), "chars_per_4").firings[0]
    assert (first.measure, first.verdict, first.for_media) == (779_724 + 50, FALSE, True)


def test_leaving_the_screenshot_out_says_how_much_later() -> None:
    """The naive rule counts 600 a turn without ids' bytes: without the screenshot it fires turns later."""
    result = gate(screenshot_later(100, 250), "chars_per_4")
    first = result.firings[0]
    assert (first.request, first.verdict) == (101, FALSE)
    shot = first.culprits[0]
    assert shot.has_media
    assert shot.without is not None
    alone = gate(_without_image(100, 250), "chars_per_4").firings[0]
    assert shot.without == alone.request + 1
    assert without_sentence(shot, first) == (
        f"Without message {shot.message} it would fire {shot.without - 101} requests later."
    )


def _without_image(n_before: int, n_after: int) -> Build:
    build = Build(model=MODEL, overhead=10_000)
    build.prompt()
    build.turns(n_before + 1 + n_after)
    build.reply(100)
    return build


@pytest.mark.parametrize(
    ("overhead", "fires"),
    [(200_000 - 33_000 - 50, True), (200_000 - 33_000 - 51, False)],
)
def test_claude_code_fires_at_its_threshold_not_one_under(overhead: int, fires: bool) -> None:
    """``>=`` 167,000 on the usage of the request before, output and estimate of what follows included."""
    build = Build(model=MODEL, overhead=overhead - 100 - 1)
    build.prompt(50)
    build.reply(100)
    build.add(Role.USER, text(1), typed=True)
    build.reply(100)
    result = gate(build, "claude_code")
    assert bool(result.firings) is fires
    if fires:
        assert (result.firings[0].measure, result.firings[0].verdict) == (167_000, RIGHT)


def test_pi_fires_over_its_threshold() -> None:
    """``>`` 183,616 of the last reply's tokens, the prompt after it not among them: at it nothing happens."""
    for extra, fires in ((0, False), (1, True)):
        build = Build(model=MODEL, overhead=183_616 - 50 - 100 + extra)
        build.prompt(50)
        build.reply(100)
        build.add(Role.USER, text(10), typed=True)
        build.reply(100)
        assert bool(gate(build, "pi").firings) is fires


def test_a_gate_on_the_last_total_is_late() -> None:
    """opencode V1 looks at the usage of the request before alone, so the context is over its threshold one earlier."""
    build = Build(model=MODEL, overhead=10_000)
    build.prompt()
    build.turns(40, tokens=6_000)
    build.reply()
    first = gate(build, "opencode").firings[0]
    assert (first.verdict, first.n_requests) == (LATE, 1)
    assert first.reference >= 168_000


def test_an_estimate_without_the_overhead_misses() -> None:
    """Characters ÷ 4 of the messages never reach 0.9 of the window; the context does, by its overhead."""
    build = Build(model=MODEL, overhead=100_000)
    build.prompt()
    build.turns(180, tokens=400)
    build.reply()
    result = gate(build, "chars_per_4")
    assert not result.firings
    assert result.missed is not None
    assert (result.missed.verdict, result.missed.reference >= 180_000) == (MISSED, True)
    assert result.missed.measure < 180_000


def test_after_a_firing_both_go_on_from_the_stub() -> None:
    """The reference of the second firing is overhead + 4,000 + what came since the first."""
    weighed = weigh(replace(long_session(400, model=MODEL), window=200_000))
    result = over_count(weighed, names=["claude_code"]).results[0]
    first, second = result.firings[:2]
    added = weighed.recorded.context[second.request] - weighed.recorded.context[first.request]
    assert second.reference == weighed.overhead + 4_000 + added
    assert {firing.verdict for firing in result.firings} == {RIGHT}


def test_an_overhead_over_the_threshold_stops_after_three_firings() -> None:
    build = Build(model=MODEL, overhead=190_000)
    build.prompt()
    build.turns(20)
    build.reply()
    result = gate(build, "claude_code")
    assert [firing.request for firing in result.firings] == [1, 2, 3]
    assert result.stopped == 3


def test_withheld_usage_shows_the_byte_gate_counting_everything() -> None:
    result = gate(screenshot_later(30, 10), "buzz_wire")
    assert result.withheld is not None
    first = result.withheld.firings[0]
    assert (first.request, first.verdict, first.for_media) == (31, FALSE, True)


def test_another_window_moves_the_thresholds() -> None:
    session = long_session(50, model=MODEL)
    narrow = over_count(weigh(session), window=100_000)
    assert narrow.window_source == "given"
    assert {r.gate.name: r.threshold for r in narrow.results}["claude_code"] == 67_000


def test_opencode_takes_its_reserve_from_an_input_limit() -> None:
    """400,000 with an input limit of 272,000: 252,000 (policies 8.1); Codex 272,000: 244,800 (policies 6.1)."""
    by_name = {gate.name: gate for gate in triggers()}
    assert by_name["opencode"].threshold(272_000, model_info("gpt-5.2")) == 252_000
    assert by_name["opencode"].threshold(922_000, model_info("gpt-5.6")) == 902_000
    assert by_name["opencode_v2"].threshold(922_000, model_info("gpt-5.6")) == 902_000
    assert by_name["codex"].threshold(272_000, model_info("gpt-5.2")) == 244_800
    assert by_name["gemini_cli"].threshold(1_048_576, model_info("gemini-2.5-pro")) == 524_288


def test_ten_thousand_messages_are_walked_without_quadratic_work() -> None:
    """Four times the messages are about four times the work (all gates, sizes included), not 16."""

    def done(n_turns: int) -> int:
        weighed = weigh(long_session(n_turns, tokens=300, model=MODEL))
        return work(lambda: over_count(weighed))

    assert done(5_000) < 8 * done(1_250)


def test_the_sentence_counts_what_was_wrong() -> None:
    build = screenshot_later(10, 10)
    for number in range(2):
        build.reply(100, f"again{number}")
        build.result(f"again{number}", 500, image(SCREENSHOT_BASE64, SCREENSHOT_SIDE))
        build.context += SCREENSHOT_TOKENS
    build.reply(100)
    assert summary(gate(build, "chars_per_4")) == (
        "Characters ÷ 4, base64 counted would compact 3 times, all of them for images or documents alone."
    )
    right = over_count(weigh(replace(long_session(400, model=MODEL), window=200_000)), names=["claude_code"]).results[0]
    assert summary(right) == f"Claude Code would compact {len(right.firings)} times."


def test_the_own_gate_counts_as_its_clients_version_did() -> None:
    """Threshold 155,000 at 200,000 tokens: what came after the reply counts from 2.1.2 on (policies 4.11)."""

    def first(version: str) -> GateResult:
        session = Claude(model="claude-opus-4-5")
        session.version = version
        session.prompt()
        session.until(152_500, 2_000)
        session.turns(1, 6_000)
        session.turns(3, 100)
        return over_count(session.weighed(), names=["claude_code"]).results[0]

    old, new = first("2.1.0"), first("2.1.5")
    assert old.threshold == new.threshold == 155_000
    assert old.firings[0].request == new.firings[0].request + 1
    assert "counts nothing that came after the last reply" in old.gate.note
    assert "Claude Code 2.1.0" in old.gate.note
    assert new.gate.note == ""


def test_the_own_gate_takes_the_output_as_its_clients_version_wrote_it() -> None:
    """Versions 2.1.14 to 2.1.29 count a streaming placeholder as it stands (policies 4.11)."""

    def measured(version: str) -> int:
        session = Claude(model="claude-opus-4-5")
        session.version = version
        session.prompt()
        session.until(166_000, 2_000)
        for number in range(2):
            session.reply(call=f"last{number}", output=900)
            session.lines[-1] = session.lines[-1].replace('"output_tokens": 900', '"output_tokens": 2')
            session.lines[-1] = session.lines[-1].replace('"stop_reason": "tool_use"', '"stop_reason": null')
            session.result(f"last{number}", 2_000)
        session.turns(1, 100)
        found = over_count(session.weighed(), names=["claude_code"]).results[0]
        return found.firings[0].measure

    assert 800 <= measured("2.1.40") - measured("2.1.25") <= 1_000


def test_what_the_client_itself_counted_is_the_reference_where_the_file_has_not_all_of_it() -> None:
    """A message that was counted and not written is no false alarm (replay-semantics 4)."""
    build = Build(model=MODEL, overhead=10_000)
    build.prompt()
    build.turns(10)
    request = len(build.requests)
    build.compact()
    build.compactions[0] = replace(build.compactions[0], tokens_before=167_500, unseen=True)
    build.reply()
    first = gate(build, "claude_code").firings[0]
    assert (first.request, first.measure, first.reference, first.verdict) == (request, 167_500, 167_500, RIGHT)
    assert first.reference_label != "measured"


@pytest.mark.parametrize(("extra", "refused"), [(0, True), (-40_000, False)])
def test_a_firing_on_a_refusal_says_so(extra: int, refused: bool) -> None:
    """opencode V1 looks at the last reply, and compacts where the provider refuses (policies 8.1)."""
    build = Build(model=MODEL, overhead=160_000)
    build.prompt()
    build.reply(100, "c")
    build.result("c", 60_000 + extra)
    build.reply()
    build.add(Role.USER, text(10), typed=True)
    build.reply()
    first = gate(build, "opencode").firings[0]
    assert (first.request, first.refused, first.measure < 168_000) == (1 if refused else 2, refused, refused)


def test_what_never_fires_twice_in_a_row_fires_at_every_second_request() -> None:
    """opencode V2 skips the request after a compaction (policies 8.4): no three in a row, so nothing stops it."""
    build = Build(model=MODEL, overhead=190_000)
    build.prompt()
    build.turns(6)
    build.reply()
    result = gate(build, "opencode_v2")
    assert [firing.request for firing in result.firings] == [0, 2, 4, 6]
    assert result.stopped is None
