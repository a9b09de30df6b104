"""The benchmark over the corpus: what it takes away and holds against, and ten real sessions within sane bounds."""

from __future__ import annotations

import dataclasses
import statistics

import pytest

from sessions.engine.transcript.types import RecordedCompaction
from tests.bench.corpus import (
    Grown,
    Outcome,
    Recorded,
    halves,
    measured_requests,
    outcome,
    recorded_sessions,
    without_later_usage,
)
from tests.bench.untold import held_out, share_of
from tests.engine.sessions import Build
from tests.samples import find_corpus

N_REAL = 10


def _made(name: str, **options: object) -> Recorded:
    build = Build(**options)  # type: ignore[arg-type]
    build.prompt()
    transcript = build.turns(30).done()
    return Recorded(name, transcript, measured_requests(transcript))


def test_later_usage_is_gone_and_outputs_stay() -> None:
    session = _made("a")
    told = RecordedCompaction(5, 3, tokens_before=11_000, tokens_after=10_000)
    transcript = dataclasses.replace(session.transcript, compactions=(told,))
    bare = without_later_usage(transcript, session.measured[10])
    usages = [request.usage for request in bare.requests]
    assert [usage.context > 0 for usage in usages if usage] == [True] * 10 + [False] * 20
    assert [usage.output for usage in usages if usage] == [100] * 30
    assert (bare.compactions[0].tokens_before, bare.compactions[0].tokens_after) == (None, None)


def test_a_session_that_keeps_its_rule_is_estimated_exactly() -> None:
    found = outcome(_made("a", ratio=1.0))
    assert len(found.grown) == 19
    assert (found.growth_median, found.growth_weighted, found.bias, found.context_p95) == (0, 0, 0, 0)


def test_a_fall_is_counted_and_is_no_growth() -> None:
    session = _made("a")
    usage = session.transcript.requests[20].usage
    assert usage
    requests = [
        r if r.index < 20 or not r.usage
        else dataclasses.replace(r, usage=dataclasses.replace(r.usage, cache_read=r.usage.cache_read - 4_000))
        for r in session.transcript.requests
    ]  # fmt: skip
    transcript = dataclasses.replace(session.transcript, requests=tuple(requests))
    found = outcome(Recorded("a", transcript, measured_requests(transcript)))
    assert (found.fallen, len(found.grown)) == (1, 18)


def test_no_session_is_in_both_halves() -> None:
    sessions = [_made(name) for name in "cab"]
    first, second = halves(sessions)
    assert ([s.name for s in first], [s.name for s in second]) == (["a", "c"], ["b"])


def test_ten_real_sessions_stay_within_sane_bounds() -> None:
    corpus = find_corpus()
    if corpus is None:
        pytest.skip("no corpus: set CTXWEB_CORPUS to the folder that has INDEX.tsv")
    paths = sorted((corpus / "claude-code").glob("*.jsonl.gz"))
    found = [outcome(session) for session in recorded_sessions(paths[:: len(paths) // N_REAL][:N_REAL])]
    assert len(found) >= N_REAL - 2
    assert sum(len(one.grown) for one in found) > 200
    assert statistics.median(one.growth_median for one in found) < 0.06
    assert statistics.median(one.context_median for one in found) < 0.03


def test_what_a_growth_may_tell_is_chosen_on_halves_that_are_held_out() -> None:
    """Two sessions: one growth in twenty holds 600 tokens beyond its 1,000. A share of it all brings the bias to 0."""
    grown = [Grown(1_000, 1_000, "")] * 19 + [Grown(1_000, 1_600, "")]
    sessions = [Outcome(name, "", "", grown, 0, [], 0) for name in "ab"]
    assert share_of(grown, 500) == 500 / 20_000
    assert share_of([Grown(300, 900, "")], 500) == 0, "no growth is large"
    rows = {row[0]: row[1:] for row in held_out(sessions)}
    assert rows["0"] == ["-2.9%", "0.0%", "2.9%", "0%", "0%"]
    assert rows["1,000"] == ["+0.0%", "0.0%", "5.5%", "100%", "100%"]
