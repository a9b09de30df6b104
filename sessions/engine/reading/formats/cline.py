"""Cline and Roo: ``api_conversation_history.json``, Cline's session messages file, ``ui_messages.json`` (formats 17).

The three say different things: the API history has the blocks and Roo's marks, the session file usage with the cached
tokens inside, the ui messages usage without them, and truncation ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._cline_api import entry_contents, read_history
from sessions.engine.reading.formats._cline_ui import kind_of, read_ui, ui_contents
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._values import text_of
from sessions.engine.transcript.types import Content, Message, Parsed, Skipped

ROO_KEYS = ("isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent", "isTruncationMarker")
OPENINGS = ("<task>", "<user_message>", "<environment_details>", "<feedback>")
UI_PATHS = ("request", "images", "screenshot", "summary")
SESSION_KEYS = ("metrics", "modelInfo", "ts")


class Cline:
    """The format's entry in the registry."""

    name = "cline"
    label = "Cline or Roo"
    source = "api_conversation_history.json, ui_messages.json, session messages of Cline, Roo; not context_history.json"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        records=Records(
            error="api_req_failed, error, streamingFailedMessage",
            compaction="conversationHistoryDeletedRange, condense_context", failed="condense_context_error",
            who="sliding_window_truncation: auto", retry="api_req_retry_delayed, error_retry",
            interruption="cancelReason user_cancelled", model="modelInfo",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """A session with ``sessionId`` and messages, or a list of history or ui entries."""
        document = head.document
        if isinstance(document, dict):
            return _sniff_session(document)
        if not isinstance(document, list):
            return None
        entries = [entry for entry in document if isinstance(entry, dict)]
        if any(kind_of(entry) and "ts" in entry for entry in entries):
            return Sniff(95, "a list of entries with type say or ask and a ts")
        messages = [e for e in entries if e.get("role") in ("user", "assistant") and "content" in e]
        messages = [e for e in messages if e.get("type", "reasoning") == "reasoning"]
        for entry in messages:
            found = next((key for key in (*ROO_KEYS, "ts") if key in entry), "")
            if found:
                return Sniff(90, f"a list of messages with {found!r} beside role and content")
        if messages and any(text.startswith(OPENINGS) for text in _first_texts(messages[0])):
            return Sniff(85, "a list of messages that starts with a task in Cline's tags")
        return Sniff(0, "a list of messages, but without ts, Roo's marks or Cline's tags") if messages else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session."""
        document = source.document()
        assembly, skipped = Assembly(measure), list[Skipped]()
        native_id, system = stem_of(source.name), ""
        if isinstance(document, dict) and isinstance(document.get("messages"), list):
            native_id = text_of(document.get("sessionId")) or native_id
            system = text_of(document.get("system_prompt"))
            read_history(document["messages"], ("messages",), source.size, assembly, skipped)
        elif isinstance(document, list):
            is_ui = any(kind_of(entry) for entry in document)
            if is_ui:
                read_ui(document, source.size, assembly, skipped)
            else:
                read_history(document, (), source.size, assembly, skipped)
        else:
            raise UnreadableInput("no messages of Cline or Roo", next_step="Check the file's format")
        transcript = assembly.transcript(native_id, self.name, system=measure(contents_of(system)))
        return Parsed(self.name, (transcript,), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of an entry of the history, or of the ui entries that make up a message."""
        found: list[Content] = []
        for value, origin in zip(values, message.origins, strict=True):
            is_ui = kind_of(value) or (origin.path and origin.path[-1] in UI_PATHS)
            found += ui_contents(value, origin.path) if is_ui else entry_contents(value)
        return tuple(found)


def _sniff_session(document: dict[str, Any]) -> Sniff | None:
    messages = document.get("messages")
    if not isinstance(messages, list):
        return None
    marked = next((key for m in messages if isinstance(m, dict) for key in SESSION_KEYS if key in m), "")
    if isinstance(document.get("sessionId"), str) and marked:
        return Sniff(90, f"sessionId and messages with {marked!r}")
    if "sessionId" in document:
        return Sniff(0, "sessionId and messages, but none with metrics, modelInfo or ts")
    return None


def _first_texts(message: dict[str, Any]) -> list[str]:
    return [content.text.lstrip()[:40] for content in contents_of(message.get("content"))]


FORMAT = Cline()
