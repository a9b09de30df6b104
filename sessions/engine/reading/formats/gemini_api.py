"""The Gemini API: requests, responses, both, streams, and plain lists of contents such as checkpoints (formats 8).

A content that starts with ``<state_snapshot>`` is what Gemini CLI compressed: what it stands for is not in the file.
Reported input includes cached tokens; ``Usage.input`` does not, and thoughts are part of the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._exchange_build import transcripts_of
from sessions.engine.reading.formats._exchanges import conversations_of
from sessions.engine.reading.formats._gemini_parts import content_of
from sessions.engine.reading.formats._gemini_shapes import GEMINI_WIRE, exchanges_of, is_recording, recorded, shape_of
from sessions.engine.reading.formats._jsonl import first_objects, objects
from sessions.engine.transcript.types import Origin, Parsed, Skipped

if TYPE_CHECKING:
    from sessions.engine.reading.formats._conversation import Exchange


class GeminiAPI:
    """The format's entry in the registry."""

    name = "gemini_api"
    label = "Gemini API"
    source = "POST …:generateContent: request, response or contents, and checkpoints of Gemini CLI (JSON)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        records=Records(error="error in place of an answer", compaction="<state_snapshot>", model="modelVersion"),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """A document with the API's keys, or lines that record calls."""
        lines = first_objects(head)
        if lines and all(is_recording(value) for value in lines):
            return Sniff(90, f"lines record calls; line 1 is {lines[0]['method']}")
        return shape_of(head.document) if head.document is not None else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions of the file; contents that several requests send are counted once."""
        skipped: list[Skipped] = []
        document = source.head().document
        if document is None or is_recording(document):
            exchanges = _recordings(source, skipped)
        elif isinstance(document, (dict, list)):
            exchanges = exchanges_of(document, Origin(1, 0, source.size))
        else:
            raise UnreadableInput("neither a request nor a response nor contents", next_step="Check the file's format")
        conversations = conversations_of(exchanges, GEMINI_WIRE, measure)
        return Parsed(self.name, transcripts_of(conversations, self.name, source.name, measure), tuple(skipped))

    contents = each_value(content_of)


def _recordings(source: Source, skipped: list[Skipped]) -> list[Exchange]:
    found = []
    for line, value in objects(source, skipped):
        if is_recording(value):
            found.append(recorded(value, Origin(line.number, line.offset, line.length)))
        else:
            skipped.append(Skipped(line.number, line.offset, "an object that is not a recorded call"))
    return found


FORMAT = GeminiAPI()
