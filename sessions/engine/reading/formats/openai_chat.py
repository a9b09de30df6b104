"""Chat completions: a request, a response, both, a list of these; plain lists of messages; tau-bench runs (formats 5).

Messages that each request repeats are one message.  Reported input includes cached tokens; ``Usage.input`` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats import _chat_shapes as shapes
from sessions.engine.reading.formats._assembly import with_unique_ids
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._marks import foreign_turn, message_mark
from sessions.engine.reading.formats._records import first_objects, misread, objects, stem_of
from sessions.engine.reading.formats._values import text_of
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Skipped

DISPLAY = "messages_display"


class _Format(Format):
    label = "OpenAI chat"
    source = "POST /v1/chat/completions: request, response, both, lists of these, messages; tau-bench's trajectories"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="error in place of an answer", compaction="a summary in place of messages", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if head.document is not None:
            return shapes.shape_of(head.document)
        lines = first_objects(head)
        if lines and all(isinstance(value.get(DISPLAY), str) for value in lines):
            return Sniff(70, f"line 1 has {DISPLAY}: a conversation as text")
        if lines and all(shapes.is_chat_line(value) for value in lines):
            mark, foreign = message_mark(lines), foreign_turn(lines)
            if foreign:
                return Sniff(0, f"lines are chat messages, but with {foreign!r}, which no chat message has")
            return Sniff(75, f"lines are chat messages: {mark}") if mark else None
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.head().document
        skipped: list[Skipped] = []
        if document is None or (isinstance(document, dict) and isinstance(document.get(DISPLAY), str)):
            groups = shapes.lines_of(objects(source, skipped), DISPLAY, skipped)
        elif shapes.is_chat_document(document):
            groups = shapes.calls_of(document, Origin(1, 0, source.size))
        else:
            raise misread("neither a chat request, a response nor messages")
        stem = stem_of(source.name)
        found = [session for group in groups for session in sessions_of(group, measure, stem=stem, runs=True)]
        return Parsed(with_unique_ids(found), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of one message; one of a flattened conversation is found by its number."""
        if message.origins[0].path == (DISPLAY,):
            said = shapes.displayed(text_of(values[0]))
            position = int(message.id.rpartition(".")[2])
            return shapes.chat_contents(said[position]) if position < len(said) else ()
        return tuple(content for value in values for content in shapes.chat_contents(value))
