"""What spans say of compactions and of refusals (formats 16 and 60).

``gen_ai.conversation.compacted`` stands on the call whose conversation was compacted, by some exporters on every later
one too, or on a span of its own before it with figures that are the exporter's estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._server_edits import ServerEdits, is_compaction
from sessions.engine.transcript.recorded_events import EventKind

if TYPE_CHECKING:
    from sessions.engine.reading.formats._calls import CallMessage, TracedCall
    from sessions.engine.reading.formats._otel_spans import Span

FLAG, TOKENS_BEFORE = "gen_ai.conversation.compacted", "compaction.tokens_before"
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


def end_calls(calls: Sequence[TracedCall], spans: Sequence[Span]) -> None:
    """Tell the last call of each run of the error that the run, a span that nothing is around, ended with."""
    newest = {call.trace: call for call in calls}
    for span in spans:
        last = newest.get(span.trace)
        if span.error and not span.parent and last is not None and last.edits.error is None:
            last.edits = replace(last.edits, ended=error_of(span.error, kind=EventKind.SESSION_END))


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
