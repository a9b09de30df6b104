"""Usage totals of a session: each request once, reasoning named where it was reported."""

from __future__ import annotations

from sessions.engine.reports.report import usage_sums
from sessions.engine.transcript.types import Request, Usage

PLAIN = Request(0, None, Usage(10, 20, 30, 40))
REASONED = Request(1, None, Usage(1, 2, 3, 44, reasoning=33))
SILENT = Request(2, None, None)


def totals(*requests: Request) -> dict[str, int] | None:
    return usage_sums(requests)


def test_reasoning_stands_beside_the_output_only_where_it_was_reported() -> None:
    assert totals(PLAIN, SILENT) == {"input": 10, "cache_read": 20, "cache_write": 30, "output": 40}
    assert totals(PLAIN, REASONED) == {
        "input": 11, "cache_read": 22, "cache_write": 33, "output": 84, "reasoning": 33,
    }  # fmt: skip


def test_no_usage_is_no_total() -> None:
    assert totals(SILENT) is None
