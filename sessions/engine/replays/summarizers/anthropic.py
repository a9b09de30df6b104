"""Summaries that a model wrote: found by whoever runs the replay, so that the replay itself asks nobody."""

from __future__ import annotations

from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.policy import Draft
from sessions.engine.replays.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.replays.summarizers.recorded import typical_tokens
from sessions.engine.replays.summarizers.stub import DEFAULT_TOKENS, stub
from sessions.engine.tokens.tokenizer import count

PREVIEW_CHARS = 160


def stand_in_tokens(brief: Brief) -> int:
    """What a summary that is not written yet weighs: the session's median recorded one, else 4,000 display tokens."""
    return typical_tokens(brief.weighed) or DEFAULT_TOKENS


def write(brief: Brief) -> WrittenSummary:
    """What the model wrote for this brief; where it has not yet, a stub that says so."""
    if brief.writer is None:
        raise BadParameter("summarizer anthropic needs somebody to find what the model wrote")
    letter = brief.writer(brief)
    if letter is None:
        tokens = stand_in_tokens(brief)
        return stub(tokens, f"stub of {tokens:,} tokens: the model has not written this summary yet")
    tokens = round(count(letter.text).n_tokens * brief.weighed.ratio)
    draft = Draft(" ".join(letter.text[:PREVIEW_CHARS].split()), tokens, letter.text, summary=True)
    return WrittenSummary((draft,), source=f"written by {letter.author}")


SUMMARIZER = Summarizer(
    name="anthropic",
    label="A model, by your key",
    source="a Claude model, asked once per summary, its answer kept: anchored sections, nine, or one dense block",
    write=write,
    needs_writer=True,
)
