"""Figures that no model call can have are not taken as measured: they are left out, and a note says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.transcript.types import Parsed, RecordedCompaction, Request, Transcript

SHOWN = 3
"""Requests named in a note; the rest is a number."""


def plausible(parsed: Parsed) -> Parsed:
    """``parsed`` without usage, windows and compaction sizes below 0 or above ``limits.MAX_TOKENS`` tokens.

    Sessions that lose one get a warning, and so does the file.
    """
    kept = tuple(_plausible(transcript) for transcript in parsed.transcripts)
    if kept == parsed.transcripts and not parsed.alternatives:
        return parsed
    pairs = zip(parsed.transcripts, kept, strict=True)
    notes = dict.fromkeys(warning for old, new in pairs for warning in new.warnings[len(old.warnings) :])
    alternatives = tuple(_plausible(transcript) for transcript in parsed.alternatives)
    return replace(parsed, transcripts=kept, alternatives=alternatives, warnings=(*parsed.warnings, *notes))


def _plausible(transcript: Transcript) -> Transcript:
    refused = [r for r in transcript.requests if not _usage_fits(r)]
    window_fits = _believed((transcript.window or 0,))
    n_marks = sum(not _sizes_fit(c) for c in transcript.compactions)
    if not refused and not n_marks and window_fits:
        return transcript
    return replace(
        transcript,
        requests=tuple(r if _usage_fits(r) else replace(r, usage=None) for r in transcript.requests),
        compactions=tuple(
            c if _sizes_fit(c) else replace(c, tokens_before=None, tokens_after=None) for c in transcript.compactions
        ),
        window=transcript.window if window_fits else None,
        warnings=(*transcript.warnings, *_notes(refused, n_marks, None if window_fits else transcript.window)),
    )


def _usage_fits(request: Request) -> bool:
    if (usage := request.usage) is None:
        return True
    parts = usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning, usage.cache_write_1h
    return _believed((*parts, usage.context))


def _sizes_fit(mark: RecordedCompaction) -> bool:
    return _believed((mark.tokens_before or 0, mark.tokens_after or 0))


def _believed(figures: Iterable[int]) -> bool:
    return all(0 <= figure <= MAX_TOKENS for figure in figures)


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
