"""Figures that no model call can have are not taken as measured: they are left out, and a note says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.limits import MAX_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.types import Parsed, RecordedCompaction, Request, Transcript, Usage

SHOWN = 3
"""Requests named in a note; the rest is a number."""


def plausible(parsed: Parsed) -> Parsed:
    """``parsed`` without usage, windows and compaction sizes below 0 or above ``limits.MAX_TOKENS`` tokens.

    Sessions that lose one get a warning, and so does the file.
    """
    kept = tuple(_plausible(transcript) for transcript in parsed.transcripts)
    if kept == parsed.transcripts and not parsed.alternatives:
        return parsed
    notes = [
        warning
        for old, new in zip(parsed.transcripts, kept, strict=True)
        for warning in new.warnings[len(old.warnings) :]
    ]
    alternatives = tuple(_plausible(transcript) for transcript in parsed.alternatives)
    return replace(
        parsed, transcripts=kept, alternatives=alternatives, warnings=(*parsed.warnings, *dict.fromkeys(notes))
    )


def _plausible(transcript: Transcript) -> Transcript:
    refused = [r for r in transcript.requests if r.usage is not None and not _believed(_figures(r.usage))]
    window_fits = _believed((transcript.window or 0,))
    marks = [c for c in transcript.compactions if not _believed((c.tokens_before or 0, c.tokens_after or 0))]
    if not refused and not marks and window_fits:
        return transcript
    return replace(
        transcript,
        requests=tuple(_without_usage(r) if r in refused else r for r in transcript.requests) if refused
        else transcript.requests,
        compactions=tuple(_without_sizes(c) if c in marks else c for c in transcript.compactions),
        window=transcript.window if window_fits else None,
        warnings=(*transcript.warnings, *_notes(refused, len(marks), None if window_fits else transcript.window)),
    )  # fmt: skip


def _figures(usage: Usage) -> tuple[int, ...]:
    parts = usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning, usage.cache_write_1h
    return *parts, usage.context


def _believed(figures: Iterable[int]) -> bool:
    return all(0 <= figure <= MAX_TOKENS for figure in figures)


def _without_usage(request: Request) -> Request:
    return replace(request, usage=None)


def _without_sizes(mark: RecordedCompaction) -> RecordedCompaction:
    return replace(mark, tokens_before=None, tokens_after=None)


def _notes(refused: list[Request], n_marks: int, window: int | None) -> Iterable[str]:
    limit = f"a count below 0 or above {MAX_TOKENS:,} tokens cannot be right"
    if refused:
        named = ", ".join(str(request.index) for request in refused[:SHOWN])
        more = f" and {len(refused) - SHOWN:,} more" if len(refused) > SHOWN else ""
        yield f"Usage not used, request {named}{more}: {limit}"
    if n_marks:
        yield f"Recorded sizes of compactions not used: {n_marks:,}; {limit}"
    if window is not None:
        yield f"Recorded context window not used: {limit}"
