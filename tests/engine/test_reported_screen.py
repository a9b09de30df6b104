"""The over-count screen and the numbers of ``inspect`` on sessions counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.overcount import over_count
from tests.engine.verdict_files import Claude
from tests.why_cases.claude import SHOT

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def screened(drop: str = "") -> Weighed:
    """A screenshot at request 15, a result of 30,000 tokens at 45; ``drop`` really leaves one of them out."""
    session = Claude()
    session.prompt()
    session.until(60_000)
    for call in ("shot", "big"):
        session.reply(call=call)
        if call != drop:
            session.result(call, 50 if call == "shot" else 30_000, image=SHOT if call == "shot" else None)
        session.turns(*((29, 3_000) if call == "shot" else (5, 1_000)))
    return session.weighed()


@pytest.mark.parametrize(
    ("gate", "fired"),
    [
        # Turns of 3,112 tokens: request 14 has 58,618, 15 (the screenshot) 60,301, 44 150,549, 45 (the result) 180,661.
        ("claude_code", (45, 150_549 + 100 + 180_000 // 4, 180_661, "right", 0)),
        ("codex", (45, 150_549 + 100 + 180_000 // 4, 180_661, "right", 0)),
        ("opencode", (46, 180_661 + 100, 181_773, "late", 1)),
        ("goose", (46, 180_661 + 100, 181_773, "late", 1)),
    ],
)
def test_gates_by_hand(gate: str, fired: tuple[int, int, int, str, int]) -> None:
    (result,) = over_count(screened(), names=[gate]).results
    (firing,) = result.firings
    found = (firing.request, firing.measure, firing.reference, firing.verdict, firing.n_requests)
    assert (found[0], *found[3:]) == (fired[0], *fired[3:])
    assert found[1] == pytest.approx(fired[1], abs=4)
    assert found[2] == pytest.approx(fired[2], abs=1)


@pytest.mark.parametrize(("gate", "due"), [("pi", 48), ("gemini_cli", 28)])
def test_gates_that_a_run_without_end_does_not_fire(gate: str, due: int) -> None:
    """pi is asked between turns alone (policies 11.1), Gemini CLI has no later prompt to split at (policies 7.1)."""
    (result,) = over_count(screened(), names=[gate]).results
    assert result.firings == ()
    assert result.missed is not None
    assert result.missed.request == due


def test_a_later_prompt_is_where_gemini_splits() -> None:
    """60,000, a prompt, and turns of 3,112: request 33 has 100,000 or more, which the one after it sees."""
    session = Claude()
    session.prompt()
    session.until(60_000)
    session.prompt()
    session.turns(20, 3_000)
    (result,) = over_count(session.weighed(), names=["gemini_cli"]).results
    first = result.firings[0]
    assert (first.verdict, first.n_requests) == ("late", 1)
    assert 100_000 <= first.measure < 103_112
    assert first.reference == first.measure + 3_112


def test_a_gate_that_never_sees_the_overhead() -> None:
    """120,050 and 20 turns of 3,112 reach 180,000 at request 20; 60,000 words by their characters are far from it."""
    session = Claude(overhead=120_000)
    session.prompt()
    session.until(185_000)
    weighed = session.turns(3, 500).weighed()
    (result,) = over_count(weighed, names=["letta"]).results
    assert result.firings == ()
    assert result.missed is not None
    assert (result.missed.request, result.missed.n_requests, result.missed.reference) == (20, 2, 182_290)


@pytest.mark.parametrize("gate", ["cline", "letta", "buzz_wire", "chars_per_4"])
def test_culprits_really_left_out(gate: str) -> None:
    """What is said of a gate without its culprit is what it does on a session that never had it."""
    weighed = screened()
    (firing, *_) = over_count(weighed, names=[gate]).results[0].firings
    culprit = firing.culprits[0]
    call = weighed.transcript.messages[culprit.message].blocks[0].call_id
    assert call == "shot"
    again = over_count(screened(call), names=[gate]).results[0].firings
    assert culprit.tested
    assert culprit.without == (again[0].request if again else None)


def test_estimates_rest_on_the_first_third_of_the_usage() -> None:
    """A doubled usage after the training requests changes no estimate, no weight and no total; it is flagged."""

    def counted(**last: int) -> Weighed:
        session = Claude(overhead=18_000)
        session.prompt(400)
        session.turns(10, 2_000)
        session.turns(1, 1_500, **last)
        return weigh(session.turns(9, 700).weighed().transcript, train_fraction=0.3)

    plain, doubled = counted(), counted(cache_read_input_tokens=2 * (18_400 + 10 * 2_112))
    assert doubled.flagged == {10}
    assert (doubled.estimated, doubled.tokens, doubled.overhead) == (plain.estimated, plain.tokens, plain.overhead)
    assert plain.overhead == 18_400 - plain.tokens[0]
    steps = zip(plain.steps[1:], plain.recorded.weights[1:], strict=True)
    assert {weight for step, weight in steps if step.request < 10} == {2_112}
    assert {str(label) for label in plain.labels[1:]} == {"measured", "calibrated"}


@pytest.mark.parametrize(("version", "threshold"), [("2.1.7", 155_000), ("2.1.150", 167_000)])
def test_the_sessions_own_trigger_is_that_of_its_version(version: str, threshold: int) -> None:
    """Policies 4.11: up to 2.1.20 all of 32,000 tokens of output was reserved; other agents' triggers do not move."""
    session = Claude()
    session.version = version
    session.prompt()
    found = over_count(session.turns(4, 1_000).weighed(), names=["claude_code", "pi"])
    assert {result.gate.name: result.threshold for result in found.results} == {"claude_code": threshold, "pi": 183_616}
