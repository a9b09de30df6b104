"""What is known at a point that has a verdict: which compaction came before it, and what its context held."""

from __future__ import annotations

import dataclasses

from sessions.engine.transcript.types import ProviderError
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.case import ERROR
from sessions.engine.why.verdicts import cases_of
from tests.engine.sessions import Build


def test_a_compaction_that_answered_a_refusal_did_not_come_before_it() -> None:
    """40 turns to 34,000 tokens, refused, compacted, on: the refused request held what was there before."""
    build = Build(overhead=10_000).turns(40)
    refused = ProviderError("context", len(build.requests), len(build.messages), 34_100, 30_000, 400)
    build.compact()
    build.turns(6, start=40)
    case = next(c for c in cases_of(weigh(dataclasses.replace(build.done(), errors=(refused,)))) if c.what == ERROR)
    assert case.request == 40
    assert case.previous is None
    assert case.true == 10_000 + 40 * 600


def test_a_refusal_right_after_a_compaction_starts_from_it() -> None:
    build = Build(overhead=10_000).turns(40)
    build.compact(summary_tokens=1_000)
    refused = ProviderError("context", len(build.requests), len(build.messages), 34_100, 30_000, 400)
    build.turns(6, start=40)
    case = next(c for c in cases_of(weigh(dataclasses.replace(build.done(), errors=(refused,)))) if c.what == ERROR)
    assert case.previous is not None
    assert case.true == 10_000 + 1_000
