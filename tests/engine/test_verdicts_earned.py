"""Certainty is earned: what only we estimated, or the file leaves open, is said with a hedge (verdicts 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.engine.why.causes import REACHED
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.why_cases import claude as c
from tests.why_cases.agents import ClineTask, Copilot, Gemini
from tests.why_cases.rare import hermes
from tests.why_cases.sixth import set_limit

if TYPE_CHECKING:
    from tests.engine.verdict_files import Claude, Codex


def told(session: Claude | Codex | ClineTask | Gemini) -> list[tuple[str, str]]:
    """Cause and certainty of every verdict."""
    return [(verdict.cause, verdict.certainty) for verdict in verdicts_of(session.weighed())]


def test_what_is_pasted_after_a_compaction_was_not_kept_by_it() -> None:
    session = c.claude().until(167_000)
    session.turns(1, 600)
    session.compact()
    session.prompt(120_000)
    session.turns(1, 33_000)
    session.compact()
    session.turns(2, 300)
    assert told(session)[1] == ("refilled", "certain")


def test_one_message_is_certain_only_beside_a_figure() -> None:
    """Its size is counted: the refusal names what was sent, or it is likely."""
    for text, certainty in (
        ("Prompt is too long", "likely"),
        (c.TOO_LONG.format(216_200, 200_000), "certain"),
    ):
        session = c.claude().until(120_000)
        session.reply(call="big")
        session.result("big", 96_000)
        session.refuse(text)
        assert told(session) == [("one_message_overflowed", certainty)]


def test_a_multiple_is_certain_where_the_cache_reads_more_than_was_sent() -> None:
    """What is new cannot be read from the cache; written to it, it may be content that the file does not hold."""
    for usage, certainty in (
        ({"cache_read_input_tokens": 180_000}, "certain"),
        ({"cache_creation_input_tokens": 121_000}, "likely"),
    ):
        session = c.claude().until(60_000)
        session.turns(1, 500, **usage)
        session.compact(pre=181_000)
        session.turns(2, 300)
        assert told(session) == [("usage_double_counted", certainty)]


def test_without_a_usage_a_list_that_stays_is_likely() -> None:
    first = verdicts_of(hermes((60, 60, 62), 2_000, "deepseek-v4-flash-free"))[0]
    assert (first.cause, first.certainty) == ("summary_as_large", "likely")


def test_two_at_one_figure_with_nothing_measured_between_are_no_stale_usage() -> None:
    """Copilot writes down its own count alone: 40,000 again and again is where it compacts."""
    session = Copilot().prompt()
    for _ in range(4):
        session.until(40_000, 3_000).compact()
    causes = [verdict.cause for verdict in verdicts_of(session.turn(300).weighed())]
    assert "usage_stale_after_compaction" not in causes
    assert causes.count("threshold_reached") >= 3


def test_a_recorded_window_leaves_no_other_one() -> None:
    """Codex writes down its window: four compactions at one figure under its limit are a limit that was set."""
    assert {(v.cause, v.certainty) for v in verdicts_of(set_limit())} == {("threshold_reached", "likely")}


def test_an_older_threshold_passed_after_the_usual_one_is_likely() -> None:
    session = Gemini().prompt().until(700_000, 30_000)
    session.turn(741_000 - session.context - 60)
    assert told(session.compress(52_000).turn(300).turn(300)) == [("threshold_reached", "likely")]


def test_the_limit_that_a_refusal_names_is_the_window_that_was_assumed() -> None:
    task = ClineTask().until(258_000).turn(4_700)
    task.refuse(
        "This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens."
    )
    (verdict,) = verdicts_of(task.weighed())
    assert (verdict.cause, verdict.window) == ("off_or_not_started", 262_144)
    assert "if the window" not in verdict.sentence


@pytest.mark.parametrize(
    ("count", "certainty"), [(166_999, "unknown"), (167_000, "likely"), (198_000, "likely"), (199_000, "unknown")]
)
def test_the_agents_own_count_passes_the_threshold(count: int, certainty: str) -> None:
    """The file holds 150,354 tokens; the agent counted ``count``.  A third more at most may be what the file lacks."""
    build = c.claude()
    build.until(150_000)
    build.compact("auto", count)
    build.until(50_000)
    verdict = verdicts_of(build.weighed())[0]
    assert verdict.certainty == certainty
    if certainty == "likely":
        assert verdict.cause == REACHED
        assert verdict.because.startswith(f"the agent counted {count:,} tokens, which passed")


def test_the_headline_has_the_figure_that_was_recorded() -> None:
    """The agent's own count goes before our estimate of the same list, and replay and *why* say one figure."""
    build = c.claude()
    build.until(167_500)
    build.compact("auto", 167_321)
    build.until(50_000)
    weighed = build.weighed()
    verdict = verdicts_of(weighed)[0]
    assert verdict.true not in (None, 167_321)
    assert verdict.because.startswith("167,321 tokens passed")
    assert "167,321 tokens passed" in headline(weighed, (verdict,))
