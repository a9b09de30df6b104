"""The overhead is bounded by what was measured; what came before the file is named and leaves with a compaction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.replays.replay import replay
from sessions.engine.reports.report import session_document
from sessions.engine.sweeps.prefix_sums import prefix_sums
from sessions.engine.transcript.types import Label, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.hidden import SLACK
from tests.engine.sessions import Build


def goes_on(history: int, *, overhead: int = 20_000, summary: int = 1_000) -> Build:
    """A session in whose file ``history`` tokens are missing until its recorded compaction."""
    session = Build(overhead=overhead + history)
    session.prompt(500)
    session.turns(6)
    session.compact(summary)
    session.overhead = overhead
    session.prompt(50)
    session.turns(6, start=6)
    session.reply(100)
    return session


def test_a_session_that_begins_in_mid_history_says_so() -> None:
    weighed = weigh(goes_on(50_000).done())
    assert (weighed.overhead, weighed.overhead_label, weighed.history) == (20_000, Label.CALIBRATED, 50_000)
    assert weighed.warnings == (
        "history before this file: 50,000 tokens; this session goes on from an earlier one, and they left at the "
        "compaction before request 6",
    )
    document = session_document(weighed)
    assert (document["overhead_tokens"], document["history_tokens"]) == (20_000, 50_000)


def test_the_estimated_contexts_hold_the_history_until_it_leaves() -> None:
    weighed = weigh(goes_on(50_000).done())
    measured = [request.usage.context for request in weighed.transcript.requests if request.usage]
    assert weighed.estimated == tuple(measured)
    assert measured[5] - measured[6] > 50_000


@pytest.mark.parametrize(("history", "named"), [(SLACK, 0), (2_499, 0), (2_500, 0), (2_501, 2_501)])
def test_what_the_estimate_of_a_list_may_miss_is_no_history(history: int, named: int) -> None:
    """1,000 tokens and 15% of the list that the compaction left: a summary of 9,950 and a prompt of 50."""
    weighed = weigh(goes_on(history, summary=9_950).done())
    assert weighed.history == named
    assert weighed.overhead == 20_000 + history - named


def test_a_session_that_begins_with_its_file_keeps_its_overhead() -> None:
    weighed = weigh(goes_on(0).done())
    assert (weighed.overhead, weighed.history, weighed.warnings) == (20_000, 0, ())


@pytest.mark.parametrize("policy", ["codex_local", "parametric"])
def test_no_list_made_anew_holds_the_history(policy: str) -> None:
    """The first compaction of a replay takes it away, though the first messages stay."""
    made = {}
    for history in (0, 50_000):
        session = Build(overhead=20_000 + history)
        session.prompt(500)
        session.turns(60, tokens=2_000)
        session.compact(1_000)
        session.overhead = 20_000
        session.prompt(50)
        session.reply(100)
        result = replay(weigh(session.done()), policy, summarizer="stub:1000", window=120_000 + history)
        made[history] = result
    event = made[50_000].events[0]
    assert made[50_000].context_tokens[event.request] == event.after_tokens
    assert event.before_tokens - event.after_tokens > 50_000
    item_tokens = sum(item.tokens for item in event.after)
    assert abs(event.after_tokens - 20_000 - item_tokens) < 200


def test_the_recorded_base_lets_it_leave_at_the_recorded_compaction() -> None:
    weighed = weigh(goes_on(50_000).done())
    result = replay(weighed, "none", base="recorded")
    measured = [request.usage.context for request in weighed.transcript.requests if request.usage]
    assert list(result.context_tokens) == measured
    full = replay(weighed, "none").context_tokens
    assert full[6] is not None
    assert full[6] > 70_000


def test_it_is_cached_as_the_start_of_every_request_until_then() -> None:
    weighed = weigh(goes_on(50_000).done())
    sent = replay(weighed, "none").sent
    assert sent.cached[1:6] == sent.tokens[:5]
    assert prefix_sums(weighed) is None


@pytest.mark.parametrize(("context", "overhead"), [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000)])
def test_no_overhead_is_above_a_measured_context(context: int, overhead: int) -> None:
    """One below, at and one above the first context's 10,000; the difference is too small to be a history."""
    session = Build(overhead=10_000).turns(8)
    session.requests[4] = replace(session.requests[4], usage=Usage(input=context, output=100))
    weighed = weigh(session.done())
    assert (weighed.overhead, weighed.history) == (overhead, 0)


def test_a_much_smaller_context_makes_a_history_likely() -> None:
    session = Build(overhead=10_000).turns(8)
    session.requests[4:] = [replace(r, usage=Usage(input=3_000, output=100)) for r in session.requests[4:]]
    weighed = weigh(session.done())
    assert (weighed.overhead, weighed.history) == (3_000, 7_000)
    assert weighed.warnings[0] == (
        "history before this file (likely): 7,000 tokens; request 4 sent 3,000 tokens in all, so they are no overhead"
    )
