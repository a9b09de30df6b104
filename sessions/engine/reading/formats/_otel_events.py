"""What spans say of compactions and of refusals (formats 16 and 60).

``gen_ai.conversation.compacted`` stands on the call whose conversation was compacted, by some exporters on every later
one too, or on a span of its own before it with figures that are the exporter's estimates.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._error_bodies import MAX_WORDS, error_body
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._server_edits import ServerEdits, is_compaction
from sessions.engine.transcript.recorded_events import EMBEDDING, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.reading.formats._calls import CallMessage, TracedCall
    from sessions.engine.reading.formats._otel_spans import Span

FLAG, TOKENS_BEFORE = "gen_ai.conversation.compacted", "compaction.tokens_before"
_EMBEDS = re.compile("embed", re.IGNORECASE)
PROVIDER_KEYS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider")


def edits_of_span(span: Span, replied: Sequence[CallMessage]) -> ServerEdits:
    """What the call's span says was done to its conversation, or why it failed."""
    blocks = [content for said in replied for content in said.contents if is_compaction(content)]
    return ServerEdits(
        compacted=bool(blocks),
        from_next="anthropic" not in span.text(*PROVIDER_KEYS).lower(),
        is_flagged=is_flagged(span),
        tokens_before=count_of(span.get(TOKENS_BEFORE)) or None,
        error=error_of(span.error),
    )


def is_flagged(span: Span) -> bool:
    """Whether a span says that its conversation was compacted; ``false`` is never written."""
    return span.get(FLAG) in (True, "true", "True")


class RunEnd(NamedTuple):
    """The error of a span that is no model call; ``is_root``: nothing is around it; ``kind`` is its kind or name."""

    trace: str
    error: str
    is_root: bool
    kind: str


def end_calls(calls: Sequence[TracedCall], ends: Iterable[RunEnd]) -> None:
    """Tell the last call of each trace of the error that its root ended with, or that a call for embeddings had."""
    newest = {call.trace or call.group: call for call in calls}
    for end in sorted(ends, key=lambda end: not end.is_root):
        last = newest.get(end.trace)
        if not end.error or last is None or last.edits.error is not None:
            continue
        if _EMBEDS.search(end.kind):
            words = f"{EMBEDDING}: {error_body(end.error).words}"[:MAX_WORDS]
            last.edits = replace(last.edits, ended=Refusal(EventKind.SESSION_END, words=words))
        elif end.is_root:
            last.edits = replace(last.edits, ended=error_of(end.error, kind=EventKind.SESSION_END))


def flag_calls(calls: Sequence[TracedCall], spans: Sequence[Span]) -> None:
    """Tell each call of the compaction that a span of its own before it describes."""
    for span in spans:
        following = [
            call for call in calls if (call.timestamp or 0) >= (span.started or 0) and span.trace in ("", call.trace)
        ]
        call = min(following, key=lambda call: call.timestamp or 0, default=None)
        if call is not None:
            before = count_of(span.get(TOKENS_BEFORE)) or call.edits.tokens_before
            call.edits = replace(call.edits, is_flagged=True, tokens_before=before)
