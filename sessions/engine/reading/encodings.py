"""What a transcript records of a compaction, of a clearing and of a refusal, and what it leaves out (formats 60)."""

from __future__ import annotations

import dataclasses
from typing import Any

from sessions.engine.transcript.recorded_events import ErrorKind, RecordedEvent
from sessions.engine.transcript.types import Kind, ProviderError, RecordedClearing, RecordedCompaction, Transcript

SUMMARY, OPAQUE, DROP = "summary", "opaque", "drop"
REFUSED = {
    "context": "Refused for its tokens", "body": "Refused for its bytes", "media": "Refused for a picture or document",
    ErrorKind.COMPACTION: "Compaction failed", ErrorKind.GAVE_UP: "The agent stopped: full again after each compaction",
}  # fmt: skip
WHAT_CLEARED = {"results": "Tool results cleared", "thinking": "Thinking cleared"}


def kind_of(transcript: Transcript, compaction: RecordedCompaction) -> str:
    """What stands for what left: a summary, an item that cannot be read, or nothing that is recorded."""
    if compaction.message is None:
        return DROP
    blocks = transcript.messages[compaction.message].blocks
    return SUMMARY if any(block.kind is not Kind.OPAQUE for block in blocks) else OPAQUE


def not_recorded(transcript: Transcript, compaction: RecordedCompaction) -> tuple[str, ...]:
    """What the record leaves out, in words."""
    kind = kind_of(transcript, compaction)
    left_out = {
        "who started it": compaction.trigger is None,
        "which messages left": compaction.outside,
        "a summary": kind == DROP,
        "the summary's text": kind == OPAQUE,
        "tokens before": compaction.tokens_before is None,
        "tokens of the next request": compaction.tokens_after is None,
    }
    return tuple(words for words, is_left_out in left_out.items() if is_left_out)


def after_refusal(transcript: Transcript, compaction: RecordedCompaction) -> bool:
    """Whether a request was refused for its size before the compaction and none was answered between them."""
    before = compaction.boundary if compaction.message is None else compaction.message
    return any(
        error.request == compaction.request and error.message <= before
        for error in transcript.errors
        if error.kind not in {ErrorKind.COMPACTION, ErrorKind.GAVE_UP}
    )


def compaction_document(transcript: Transcript, compaction: RecordedCompaction) -> dict[str, Any]:
    """One entry of ``recorded_compactions[]``."""
    fields = ("message", "request", "trigger", "tokens_before", "tokens_after")
    return {name: getattr(compaction, name) for name in fields} | {
        "kind": kind_of(transcript, compaction),
        "not_recorded": list(not_recorded(transcript, compaction)),
        "after_refusal": after_refusal(transcript, compaction),
    }


def error_document(error: ProviderError | RecordedEvent) -> dict[str, Any]:
    """One entry of ``recorded_events[]`` or ``refusals[]``, whose figures are bytes where the kind is body."""
    return dataclasses.asdict(error) | {"status": error.status or None}


def refusal_words(error: ProviderError) -> str:
    """A refusal in a few words: "Refused for its tokens, 3 times: 205,148, limit 200,000 tokens"."""
    sent = f"{error.tokens:,}" if error.tokens is not None else ""
    limit = f"limit {error.limit:,}" if error.limit is not None else ""
    unit = "bytes" if error.kind == ErrorKind.BODY else "tokens"
    figures = ", ".join(filter(None, (sent, limit)))
    return _told(REFUSED[error.kind], f"{figures} {unit}" if figures else "", error.count)


def _told(what: str, told: str, count: int = 1) -> str:
    return what + (f", {count} times" if count > 1 else "") + (f": {told}" if told else "")


def event_words(event: RecordedEvent) -> str:
    """An event in a few words, its own quoted: "Error, 3 times: 529 overloaded_error: Overloaded"."""
    facts = filter(None, (str(event.status or ""), event.code))
    told = ": ".join(filter(None, (" ".join(facts), event.words)))
    return _told(event.kind.capitalize(), told, event.count)


def clearing_words(clearing: RecordedClearing) -> str:
    """A clearing in a few words: "Tool results cleared: 9, 21,294 tokens by the agent's count"."""
    n = f"{clearing.n_cleared:,}" if clearing.n_cleared is not None else ""
    freed = f"{clearing.tokens_freed:,} tokens by the agent's count" if clearing.tokens_freed is not None else ""
    return _told(WHAT_CLEARED[clearing.what], ", ".join(filter(None, (n, freed))))
