"""What of a file is not taken for read: said, with how much it is, never passed over.

A file that is refused does no harm; one that is accepted and half understood shows wrong figures with certainty
(formats 2.3).  Figures that no model call can have are not taken as measured: they are left out, and a note says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.base.words import counted
from sessions.engine.reading.byte_breakdown import share
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import (
    Block,
    Gap,
    Kind,
    Message,
    Parsed,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
)

SHARE = 0.1
"""So much of a file's blocks, messages or lines may be of unknown types before it is said."""
FEW_MESSAGES = 3
CUT_OFF = "truncated last line"
"""How the reason begins for a last line of JSON that ends too early (``formats._records``)."""
CHUNK_BYTES, OVERLAP_BYTES = 1 << 20, 200
CALLS = re.compile(rb'(?<!\\)"(?:tool_?[uU]se_?[iI]d|tool_?[cC]all_?[iI]d|call_?[iI]d)"\s*:\s*"[^"]')
USAGE = re.compile(
    rb'(?<!\\)"(?:input_?[tT]okens|prompt_?[tT]okens|promptTokenCount|prompt_eval_count|tokens_?[iI]n)"\s*:\s*[1-9]'
)
SHOWN = 3
"""Requests named in a note; the rest is a number."""


def noted(parsed: Parsed, source: Source, *, asks_usage: bool) -> Parsed:
    """``parsed`` with what of the file was not understood, at each of its sessions.

    ``asks_usage``: the format is known to record usage of every call, or none; token counts that nobody read are told.
    """
    gaps = tuple(_gaps(parsed, source, asks_usage=asks_usage))
    if not gaps:
        return parsed
    return replace(
        parsed,
        transcripts=tuple(replace(transcript, gaps=gaps) for transcript in parsed.transcripts),
        alternatives=tuple(replace(transcript, gaps=gaps) for transcript in parsed.alternatives),
    )


def unknown_share(parsed: Parsed) -> float:
    """Share of a reading that is of unknown types, or was skipped: 0 where all was understood, 1 where nothing was."""
    blocks = _blocks(_messages(parsed))
    n_unknown = sum(map(is_unknown, blocks)) + len(parsed.skipped)
    n_all = len(blocks) + len(parsed.skipped)
    return n_unknown / n_all if n_all else 1.0


def is_unknown(block: Block) -> bool:
    """Whether nobody knows what a block is; an encrypted one is known to be that."""
    return block.kind is Kind.OPAQUE and not block.n_payload


def _messages(parsed: Parsed) -> list[Message]:
    return [message for transcript in parsed.transcripts for message in transcript.messages]


def _blocks(messages: list[Message]) -> list[Block]:
    return [block for message in messages for block in message.leaves()]


def _gaps(parsed: Parsed, source: Source, *, asks_usage: bool) -> Iterator[Gap]:
    messages = _messages(parsed)
    blocks = _blocks(messages)
    yield from _unknown(parsed, messages, blocks)
    n_said = sum(message.role is Role.ASSISTANT for message in messages)
    n_asked = sum(message.role is Role.USER for message in messages)
    if not any(message.blocks for message in messages):
        yield Gap("roles", "No text of a message was read", 0, len(messages))
    elif len(messages) > FEW_MESSAGES and not (n_said and n_asked):
        missing = "prompt or tool result" if n_said else "reply"
        yield Gap("roles", f"No {missing} was found among {len(messages):,} messages", 0, len(messages))
    several, has_calls = len(messages) > FEW_MESSAGES, any(block.kind is Kind.TOOL_USE for block in blocks)
    if several and not has_calls and (n_ids := _count(source, CALLS, (b"Id", b"_id", b"ID"))):
        yield Gap("calls", f"No tool call was read, but the file names {counted(n_ids, 'call id')}", 0, n_ids)
    has_usage = any(request.usage is not None for t in parsed.transcripts for request in t.requests)
    if several and asks_usage and not has_usage and (n_counts := _count(source, USAGE, (b"oken", b"_eval_"))):
        yield Gap("usage", f"No usage was read, but the file holds {counted(n_counts, 'token count')}", 0, n_counts)
    yield from _unread(parsed, source)


def _unknown(parsed: Parsed, messages: list[Message], blocks: list[Block]) -> Iterator[Gap]:
    unknown = [block for block in blocks if is_unknown(block)]
    whole = [m for m in messages if m.blocks and all(map(is_unknown, m.leaves()))] if unknown else []
    if len(unknown) > SHARE * len(blocks) or len(whole) > SHARE * len(messages):
        named = [name for name, _ in Counter(block.name for block in unknown if block.name).most_common(3)]
        kinds = f": {', '.join(named)}" if named else ""
        yield _share("blocks", len(unknown), len(blocks), "block", f"of unknown type{kinds}")
    n_lines = sum(fate.n_lines for fate in parsed.fates if not fate.is_part)
    n_strange = sum(fate.n_lines for fate in parsed.fates if fate.is_opaque and not fate.is_part)
    if n_strange > SHARE * n_lines:
        yield _share("records", n_strange, n_lines, "line", "of unknown type")


def _unread(parsed: Parsed, source: Source) -> Iterator[Gap]:
    """Lines and entries that could not be read, with their share of the bytes where lines tell it."""
    if not parsed.skipped:
        return
    first = parsed.skipped[0]
    lines = {skipped.line for skipped in parsed.skipped}
    n_bytes = 0
    origins = (o for t in parsed.transcripts for m in t.messages[:FEW_MESSAGES] for o in m.origins)
    # In a file that is one JSON value parts have no lines of their own.
    if source.is_lines() and not all(origin.length == source.size for origin in origins):
        n_bytes = sum(line.length for line in source.every_line() if line.number in lines)
    lost = share(n_bytes, source.size)
    if n_bytes and len(parsed.skipped) == 1 and first.reason.startswith(CUT_OFF):
        text = f"The file is cut off in line {first.line:,}, its last: {lost} of its bytes could not be read"
    else:
        what = counted(len(parsed.skipped), "line" if n_bytes else "part")
        part = f" ({lost} of the bytes)" if n_bytes else ""
        text = f"{what}{part} could not be read. First, on line {first.line:,}: {first.reason}"
    yield Gap("unread", text, n_bytes or len(parsed.skipped), source.size if n_bytes else 0)


def _count(source: Source, pattern: re.Pattern[bytes], hints: tuple[bytes, ...]) -> int:
    """How often a pattern stands in the file, each of which holds one of the ``hints``, which are found faster.

    0 for archives and databases, whose bytes are not their text.
    """
    if not source.is_lines():
        return 0
    n_found, tail = 0, b""
    source.file.seek(0)
    while chunk := source.file.read(CHUNK_BYTES):
        data = tail + chunk
        cut = len(data) - OVERLAP_BYTES if len(chunk) == CHUNK_BYTES else len(data)
        if any(hint in data for hint in hints):
            n_found += sum(match.start() < cut for match in pattern.finditer(data))
        tail = data[cut:]
    return n_found


def _share(kind: str, part: int, whole: int, noun: str, what: str) -> Gap:
    return Gap(kind, f"{part:,} of {counted(whole, noun)} ({share(part, whole)}) {what}", part, whole)


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
