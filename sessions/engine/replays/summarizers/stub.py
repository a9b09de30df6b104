"""A summary of a fixed size: what matters in a sweep is its weight, not its words."""

from __future__ import annotations

from sessions.engine.policies.policy import Draft
from sessions.engine.replays.summaries import Brief, Summarizer, WrittenSummary

DEFAULT_TOKENS = 4_000
"""Replay-semantics 5; Claude Code's observed p99.99 is 17,387 tokens (policies 2.2)."""


def stub(tokens: int, source: str) -> WrittenSummary:
    """A summary that weighs exactly ``tokens`` display tokens."""
    return WrittenSummary((Draft(f"[summary of {tokens:,} tokens]", tokens, summary=True),), source=source)


def write(brief: Brief) -> WrittenSummary:
    """``stub:N`` weighs exactly N display tokens; plain ``stub`` weighs 4,000."""
    tokens = DEFAULT_TOKENS if brief.argument is None else brief.argument
    return stub(tokens, f"stub of {tokens:,} tokens")


SUMMARIZER = Summarizer(
    name="stub", label="Stub of N tokens",
    source="a fixed size, for sweeps", write=write, takes_number=True,
)  # fmt: skip
