"""Verdicts on windows, floors and thresholds, and on what is refused: each through a real format reader."""

from __future__ import annotations

import io
import re

import pytest

from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reports.report import inspect_document
from sessions.engine.transcript.types import Parsed
from sessions.engine.why.causes import CANNOT_TELL, CAUSES
from sessions.engine.why.document import why_document
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.verdict_files import Claude, Codex, Pi, claude_to, compacted, told
from tests.why_cases.third import four_times

TOO_LONG = 'API Error: 400 {"type":"error","error":{"message":"prompt is too long: 204120 tokens > 200000 maximum"}}'
TOO_LARGE = 'API Error: 413 {"type":"error","error":{"type":"request_too_large","message":"Request too large"}}'


def test_a_threshold_honestly_reached() -> None:
    (verdict,) = compacted(claude_to(167_000)).verdicts()
    assert (verdict.cause, verdict.certainty, verdict.threshold) == ("threshold_reached", "certain", 167_000)
    assert verdict.saw is not None
    assert 167_000 <= verdict.saw < 167_100
    assert verdict.also == ()


@pytest.mark.parametrize(("version", "cause"), [("2.1.12", "threshold_reached"), ("2.1.150", CANNOT_TELL)])
def test_the_threshold_of_older_clients_is_theirs_alone(version: str, cause: str) -> None:
    session = Claude()
    session.version = version
    session.prompt()
    session.until(155_000)
    session.reply(call="last")
    session.result("last", 155_100 - session.context)
    (verdict,) = compacted(session).verdicts()
    assert verdict.cause == cause
    assert verdict.threshold == (155_000 if version == "2.1.12" else 167_000)


@pytest.mark.parametrize(("before", "cause"), [(183_617, "threshold_reached"), (170_000, CANNOT_TELL)])
def test_pi_compacts_over_its_limit_not_below(before: int, cause: str) -> None:
    """pi fires over 183,616; mid-turn at 170,000 nothing of the list explains it and no trigger is recorded."""
    session = Pi()
    session.prompt()
    session.until(before)
    session.turn(max(1, before - session.context - 112))
    session.compact(session.context)
    session.turn(300)
    (verdict,) = session.verdicts()
    if cause == CANNOT_TELL:
        assert verdict.confidence < 0.6
        assert verdict.certainty != "certain"
    else:
        assert (verdict.cause, verdict.certainty) == (cause, "certain")


def test_a_long_window_that_nothing_shows_is_told_and_makes_nothing_less_sure() -> None:
    """Sonnet 4.6 has one: 167,000 of 200,000 is honest, of 1,000,000 it is not, and the transcript does not say."""
    (verdict,) = compacted(claude_to(167_000, "claude-sonnet-4-6")).verdicts()
    assert (verdict.cause, verdict.certainty, verdict.also) == ("threshold_reached", "certain", ())
    assert "With the window of 1,000,000 (not recorded): 17%" in [row.text for row in verdict.evidence]


def test_by_hand() -> None:
    session = Claude()
    session.prompt()
    session.turns(5, 3_000)
    session.reply()
    (verdict,) = compacted(session, "manual").verdicts()
    assert (verdict.cause, verdict.confidence, verdict.trigger) == ("manual", 1.0, "manual")


def test_by_hand_at_the_threshold_stays_by_hand() -> None:
    (verdict,) = compacted(claude_to(167_000), "manual").verdicts()
    assert (verdict.cause, verdict.confidence) == ("manual", 1.0)


def test_a_missing_compaction_is_off_or_not_started() -> None:
    """Automatic compaction may simply have been off."""
    session = Claude()
    session.prompt()
    session.until(180_000, 1_000)
    (verdict,) = session.verdicts()
    assert (verdict.what, verdict.cause, verdict.certainty) == ("missing", "off_or_not_started", "unknown")
    assert headline(session.weighed(), (verdict,)).startswith("Not compacted at request")


@pytest.mark.parametrize(("model", "limit"), [("claude-opus-4-6[1m]", 167_000), ("claude-opus-4-6[1m]", 117_000)])
def test_the_window_of_another_model(model: str, limit: int) -> None:
    """167,000 of 1,000,000 is the threshold of 200,000; 117,000 that of 150,000, which was seen too."""
    (verdict,) = compacted(claude_to(limit, model)).verdicts()
    assert (verdict.cause, verdict.certainty, verdict.window) == ("wrong_window", "likely", 1_000_000)
    assert f"{limit + 33_000:,}" in verdict.because


def test_a_share_of_the_window_that_fits_nothing_cannot_be_told() -> None:
    (verdict,) = compacted(claude_to(76_000, "claude-opus-4-6[1m]")).verdicts()
    assert (verdict.cause, verdict.certainty) == (CANNOT_TELL, "unknown")


def test_a_recorded_window_far_under_the_models() -> None:
    """Codex worked with 128,000 on a model of 272,000: the limit was reached, but it was the wrong one."""
    session = Codex(window=121_600)
    session.prompt()
    session.until(115_200)
    session.turn(5_000)
    session.compact()
    session.turn(300)
    (verdict,) = session.verdicts()
    assert (verdict.cause, verdict.certainty) == ("wrong_window", "likely")


def test_a_window_larger_than_the_providers() -> None:
    session = Claude("claude-opus-4-6[1m]")
    session.prompt()
    session.until(198_000)
    session.turns(1, 6_000)
    session.refuse(TOO_LONG)
    compacted(session, "manual")
    assert told(session.verdicts()) == [
        ("error", 59, "wrong_window", "certain"), ("compaction", 59, "manual", "certain")
    ]  # fmt: skip


def test_a_model_that_claude_code_does_not_know() -> None:
    """It assumes 200,000; the provider behind it takes 131,072."""
    session = Claude("glm-4.6")
    session.prompt()
    session.until(131_000)
    session.refuse("This model's maximum context length is 131072 tokens. However, you requested about 133000 tokens.")
    (verdict,) = session.verdicts()
    assert (verdict.what, verdict.cause, verdict.certainty) == ("error", "wrong_window", "certain")


def test_a_model_whose_window_is_not_known_may_have_reached_its_own() -> None:
    """pi at 111,617 = 128,000 − 16,384 + 1: the 200,000 are our assumption, not the harness's."""
    session = Pi("some-model")
    session.prompt()
    session.until(111_617)
    session.turn(max(1, 111_617 - session.context - 112))
    session.compact(session.context)
    session.turn(300)
    (verdict,) = session.verdicts()
    assert (verdict.cause, verdict.certainty) == ("fallback_window", "possible")
    assert "128,000" in verdict.because


def test_the_reserve_for_the_reply_left_out() -> None:
    session = claude_to(166_000)
    session.refuse("API Error: 400 input length and `max_tokens` exceed context limit: 170500 + 32000 > 200000")
    (verdict,) = session.verdicts()
    assert (verdict.cause, verdict.certainty) == ("output_reserve", "certain")


def test_overhead_over_the_threshold() -> None:
    """29,000 tokens of prompt and tools against a trigger of 27,900."""
    session = Codex(window=29_450, model="kimi-k2", overhead=29_000)
    session.prompt()
    for _ in range(3):
        session.turn(200)
        session.turn(200)
        session.compact()
    session.turn(100)
    verdicts = session.verdicts()
    assert {(v.cause, v.certainty) for v in verdicts} == {("overhead_near_threshold", "certain")}
    assert verdicts[0].evidence[0].figure == pytest.approx(29_000, abs=50)


def test_images_kept_through_compactions() -> None:
    """46 images kept, a floor of 210,078 against 244,800: the first compaction was honest, the next ones were not."""
    session = Codex()
    session.prompt()
    for _ in range(46):
        session.prompt(20, image=(90_000, 900, 1_000))
        session.turn(300)
    for _ in range(3):
        session.until(244_800)
        session.turn(5_000)
        session.compact()
        session.context = 210_078
    session.turn(100)
    first, *later = session.verdicts()
    assert first.cause == "threshold_reached"
    assert {v.cause for v in later} == {"retained_through_compaction"}
    assert any("46 images" in row.text for row in later[0].evidence)
    assert headline(session.weighed(), (first, *later)).startswith(
        "Auto-compacted before request 97: the last compaction left"
    )


def test_the_body_and_not_the_tokens() -> None:
    session = Claude("claude-opus-4-6[1m]")
    session.prompt()
    for number in range(12):
        session.reply(call=f"i{number}")
        session.result(f"i{number}", 300, image=(800_000, 1_254, 1_521))
    session.refuse(TOO_LARGE)
    compacted(session)
    assert told(session.verdicts()) == [
        ("error", 12, "body_size_limit", "certain"), ("compaction", 12, "body_size_limit", "certain")
    ]  # fmt: skip


def test_a_body_near_a_known_limit_without_an_error_is_no_cause() -> None:
    """No refusal is recorded: bytes near a round number explain nothing."""
    session = Pi("claude-opus-4-6[1m]")
    session.prompt()
    for _ in range(21):
        session.turn(300, image=(400_000, 1_254, 1_521))
    session.compact(session.context)
    session.turn(300)
    (verdict,) = session.verdicts()
    assert verdict.cause != "body_size_limit"


def test_a_refusal_that_one_message_caused() -> None:
    """The gate was asked before 95,000 tokens came at once: no cause of the list, and the message is named."""
    session = Claude()
    session.prompt()
    session.until(120_000)
    session.reply(call="big")
    session.result("big", 95_000)
    session.refuse("Prompt is too long")
    compacted(session)
    error, compaction = session.verdicts()
    # Its size is counted; the refusal names none.
    assert (error.cause, error.certainty) == ("one_message_overflowed", "likely")
    brought = re.search(r"message \d+, Read, holds ([\d,]+) tokens on top of", error.because)
    assert brought
    assert int(brought[1].replace(",", "")) == pytest.approx(95_000, rel=0.01)
    assert (compaction.cause, compaction.certainty) == ("after_refusal", "certain")


def test_a_session_without_compaction_says_how_far_it_got() -> None:
    """15,000 of overhead, 50 of prompt, 21 turns of 3,112."""
    session = Claude()
    session.prompt()
    session.until(86_000)
    weighed = session.weighed()
    assert verdicts_of(weighed) == ()
    assert (
        headline(weighed, ())
        == "No compaction. Peak 80,402 tokens, 40% of the model's window of 200,000, 79,899 of them "
        "read from the cache; most of it Read, about 63,252 in 21 messages. "
        "Its 22 requests sent 1,049,972 tokens together: each sends the whole context again. No error is recorded."
    )


def test_a_rate_limit_is_no_refusal_for_size() -> None:
    session = Claude()
    session.prompt()
    session.turns(2, 100)
    session.refuse("API Error: 429 rate_limit_error: too many input tokens per minute")
    assert session.weighed().transcript.errors == ()


def test_retries_are_one_refusal_and_survive_packing() -> None:
    session = claude_to(166_000)
    for _ in range(4):
        session.refuse("Prompt is too long")
    session.refuse(TOO_LONG)
    transcript = session.weighed().transcript
    assert [(e.kind, e.tokens, e.limit) for e in transcript.errors] == [("context", 204_120, 200_000)]
    assert unpack(pack(transcript)) == transcript
    parsed = read_transcripts(io.BytesIO("\n".join(session.lines).encode()))
    (group,) = why_document(parsed)["sessions"][0]["events"]
    assert (group["n"], group["tries"], len(group["requests"])) == (1, 5, 1)


def test_codex_refusals_are_read() -> None:
    session = Codex()
    session.prompt()
    session.turn(200)
    session.refuse("Codex ran out of room in the model's context window. Start a new conversation.")
    session.turn(200)
    assert [(e.kind, e.request) for e in session.weighed().transcript.errors] == [("context", 1)]


def test_inspect_carries_headline_and_verdicts() -> None:
    weighed = compacted(claude_to(167_000)).weighed()
    session = inspect_document(Parsed(format="claude_code", transcripts=(weighed.transcript,)))["sessions"][0]
    (verdict,) = session["verdicts"]
    assert session["headline"] == f"{verdict['sentence']} No error is recorded."
    assert verdict["cause"] in CAUSES
    assert {"request", "cause", "confidence", "certainty", "evidence"} <= verdict.keys()
    assert all(row["text"] for row in verdict["evidence"])


def test_what_was_refused_counts_as_often_as_it_was_tried() -> None:
    """Three refusals without an answer between them are one point of the list, and were three."""
    session = claude_to(120_000)
    for _ in range(3):
        session.refuse(TOO_LARGE)
    session.turns(4, 500)
    session.until(150_000)
    session.refuse(TOO_LONG)
    weighed = session.weighed()
    verdicts = verdicts_of(weighed)
    assert [error.count for error in weighed.transcript.errors] == [3, 1]
    assert "Also: 3 refusals (" in headline(weighed, verdicts)


def test_what_is_counted_beside_the_first_line_keeps_its_hedge() -> None:
    """Three more at one figure are likely its threshold, one a little under it is possibly."""
    weighed = four_times()
    said = headline(weighed, verdicts_of(weighed))
    assert said.removesuffix(" No error is recorded.").endswith(
        "Also: 2 compactions (normal: threshold passed, likely), 1 compaction (normal: threshold passed, possible)."
    ), said
