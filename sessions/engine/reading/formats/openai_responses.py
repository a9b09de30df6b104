"""The Responses API: requests, responses, both, compactions, plain items, recorded streams (formats 6).

Each item is a message; a reply's items belong to one request.  A compaction item stands for what was before it: its
summary is encrypted, so it is bytes.  Reported input includes cached tokens; ``Usage.input`` does not.
"""

from __future__ import annotations

import re

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._exchanges import conversations_of, transcripts_of
from sessions.engine.reading.formats._items import item_contents
from sessions.engine.reading.formats._records import events, first_objects, misread, objects
from sessions.engine.reading.formats._responses import RESPONSES_WIRE, exchanges_of, is_item_line, shape_of, streamed
from sessions.engine.reading.formats._values import Record, seconds
from sessions.engine.reading.formats._wire import Exchange, Part
from sessions.engine.transcript.types import Origin, Parsed, Skipped

STREAM = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:event: ?response\.|data: ?\{\"type\": ?\"response\.)")


class _OpenAIResponses:
    name = "openai_responses"
    label = "OpenAI Responses"
    source = "POST /v1/responses and /v1/responses/compact: request, response, items or the event stream"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        records=Records(
            error="response.failed, error", compaction="item compaction, response.compaction",
            who="item: auto; endpoint: manual", threshold="compact_threshold", model="model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if STREAM.match(head.data):
            return Sniff(95, "a stream of events named response.…")
        if head.document is not None:
            return shape_of(head.document)
        lines = first_objects(head)
        if lines and all(is_item_line(value) for value in lines):
            return Sniff(72, f"lines are items; line 1 has `type: {lines[0]['type']}`")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions of the file; items that several requests send are counted once."""
        skipped: list[Skipped] = []
        head = source.head()
        if STREAM.match(head.data):
            exchanges = streamed(events(source, skipped))
        elif head.document is None or is_item_line(head.document):
            exchanges = _lines(source, skipped)
        elif isinstance(head.document, (dict, list)):
            exchanges = exchanges_of(head.document, Origin(1, 0, source.size))
        else:
            raise misread("neither a request nor a response nor items")
        conversations = conversations_of(exchanges, RESPONSES_WIRE, measure)
        return Parsed(self.name, transcripts_of(conversations, self.name, source.name, measure), tuple(skipped))

    contents = each_value(item_contents)


def _lines(source: Source, skipped: list[Skipped]) -> list[Exchange]:
    lines = objects(source, skipped, _is_item, "an object that is not an item")
    parts = [Part(value, line.at(), seconds(value.get("timestamp"))) for line, value in lines]
    return [Exchange(parts, is_log=True)] if parts else []


def _is_item(value: Record) -> bool:
    return is_item_line(value) or isinstance(value.get("role"), str)


FORMAT = _OpenAIResponses()
