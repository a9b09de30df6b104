"""Replay semantics: which history, what a context weighs, when an event is one."""

from __future__ import annotations

import pytest

from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.costs.cost import totals
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session


def with_compaction(usage: bool = True):
    """60 turns, a recorded compaction, 60 turns."""
    session = Build(usage=usage)
    session.prompt()
    session.turns(60)
    session.compact(1_500)
    session.turns(60, start=60)
    session.reply()
    return session.done()


def test_an_unchanged_context_is_the_measured_one():
    """Exactly U_i, labelled measured."""
    transcript = long_session(50)
    result = replay(weigh(transcript), "none")
    assert list(result.context_tokens) == [r.usage.context for r in transcript.requests]
    assert set(result.labels) == {Label.MEASURED}


def test_full_is_as_if_no_compaction_had_happened():
    """The summary is left out, every original stays, the context goes on growing."""
    transcript = with_compaction()
    result = replay(weigh(transcript), "none")
    at = transcript.compactions[0].request
    assert result.context_tokens[at] > result.context_tokens[at - 1]
    assert result.labels[at - 1] is Label.MEASURED
    assert result.labels[at] is Label.CALIBRATED
    assert result.context_tokens[-1] == 10_000 + 50 + 120 * 600
    assert transcript.requests[at].usage.context < 15_000


def test_recorded_follows_the_recording():
    """context_tokens is U at every request, events or not."""
    transcript = with_compaction()
    result = replay(weigh(transcript), "sliding_window", base="recorded", window=50_000)
    assert list(result.context_tokens) == [r.usage.context for r in transcript.requests]
    assert len(result.events) == 2
    first, second = result.events
    assert first.request < transcript.compactions[0].request < second.request


def test_recorded_asks_about_the_list_before_a_recorded_compaction():
    """A gate that would fire just then has its event at the recorded compaction's request."""
    transcript = with_compaction()
    before = transcript.compactions[0].tokens_before
    trigger_window = before * 100 // 70
    result = replay(
        weigh(transcript), "sliding_window", base="recorded", window=trigger_window, params={"usage": "none"}
    )
    assert result.events[0].request == transcript.compactions[0].request
    assert result.events[0].before_tokens == before


def test_a_recorded_summary_is_used_at_its_place_and_its_median_elsewhere():
    """Replay-semantics 5."""
    transcript = with_compaction()
    weighed = weigh(transcript)
    made = replay(weighed, "buzz_handoff", base="recorded", window=160_000, params={"max_output": 0, "usage": "none"})
    at_place, elsewhere = made.events
    assert at_place.request == transcript.compactions[0].request
    assert at_place.summary_source == "recorded (compaction 1)"
    assert "1,500 tokens: the median" in elsewhere.summary_source


def test_stub_weighs_exactly_what_it_says():
    """stub:N is N display tokens."""
    result = replay(weigh(long_session(200)), "buzz_handoff", window=100_000, summarizer="stub:777")
    inserted = [item for item in result.events[0].after if item.inserted]
    assert [item.tokens for item in inserted] == [777]
    assert inserted[0].id == "e0.0"


def test_context_after_an_event_is_overhead_plus_what_stands():
    """Growth goes on with the measured weights of the steps after the event."""
    transcript = long_session(200)
    weighed = weigh(transcript)
    result = replay(weighed, "claude_code", window=100_000, summarizer="stub:2000", params={"max_files": 0})
    event = result.events[0]
    assert result.context_tokens[event.request] == weighed.overhead + 2_000
    grown = result.context_tokens[event.request + 1] - result.context_tokens[event.request]
    recorded = transcript.requests[event.request + 1].usage.context - transcript.requests[event.request].usage.context
    assert grown == recorded


@pytest.mark.parametrize("policy", ["claude_code", "buzz_handoff", "sliding_window"])
def test_totals_add_up(policy):
    """input + cache_read + cache_write = Σ context + input of summary calls; the first request reads nothing."""
    result = replay(weigh(long_session(300)), policy, window=100_000)
    sums = totals(result)
    summary_input = sum(e.before_tokens for e in result.events) if result.policy.summary_calls else 0
    sent = sums.input_tokens + sums.cache_read_tokens + sums.cache_write_tokens
    assert sent == sum(result.context_tokens) + summary_input
    assert sums.compactions == len(result.events) > 0
    assert sums.peak_context_tokens == max(result.context_tokens)
    assert sums.cost is not None
    assert 0 < sums.cost.low <= sums.cost.high


def test_cache_is_read_up_to_the_previous_request_without_its_reply():
    """Unchanged: all of the request before it is read, the rest written; idle for over five minutes: nothing."""
    transcript = long_session(3)
    sums = totals(replay(weigh(transcript), "none"))
    contexts = [r.usage.context for r in transcript.requests]
    assert sums.cache_read_tokens == sum(contexts[:-1])
    session = Build()
    session.prompt()
    session.turns(2)
    session.clock += 301
    session.reply()
    idle = totals(replay(weigh(session.done()), "none"))
    assert idle.cache_read_tokens == session.requests[0].usage.context


def test_unknown_names_and_bad_values_say_what_exists():
    """Errors list the names and ranges."""
    weighed = weigh(long_session(2))
    with pytest.raises(UnknownName, match="Did you mean 'sliding_window'"):
        replay(weighed, "sliding")
    with pytest.raises(BadParameter, match="Unknown parameter 'keep'"):
        replay(weighed, "sliding_window", params={"keep": 1})
    with pytest.raises(BadParameter, match="from 1 to 100"):
        replay(weighed, "sliding_window", params={"trigger": "101"})
    with pytest.raises(BadParameter, match="whole number"):
        replay(weighed, "sliding_window", params={"trigger": "70.5"})
    with pytest.raises(BadParameter, match="base is one of"):
        replay(weighed, "none", base="half")
    with pytest.raises(BadParameter, match="takes no number"):
        replay(weighed, "none", summarizer="recorded:5")


def test_the_wrapper_of_tool_results_is_fitted():
    """Every result weighs 14 tokens beside its text here: found, and the ratio is not bent by it."""
    session = Build(overhead=5_000)
    session.prompt()
    for turn in range(30):
        session.reply(50, f"c{turn}")
        session.result(f"c{turn}", 40 + 37 * (turn % 11))
        session.context += 14
    session.reply()
    weighed = weigh(session.done())
    assert (weighed.wrapper, round(weighed.ratio, 2)) == (14, 1.0)
    assert weighed.tokens[2] == 40 + 14
    assert [weighed.estimated[r.index] for r in session.requests] == [r.usage.context for r in session.requests]


def test_the_newest_message_of_the_list_before_names_the_event():
    """Also where nothing of that list stays (replay-semantics 6)."""
    transcript = long_session(200)
    result = replay(weigh(transcript), "claude_code", window=100_000)
    assert [e.message for e in result.events] == [transcript.requests[e.request].message - 1 for e in result.events]
