"""A streamed Messages API response as a file: server-sent text, events one a line, or a list of events (formats 4).

A reply's origins are its events, so that its text can be read again from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._anthropic_usage import usage_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._events import MESSAGES_EVENTS, events_in, is_event, response_of
from sessions.engine.reading.formats._server_edits import edits_of
from sessions.engine.reading.formats._values import Measured, text_of
from sessions.engine.reading.jsonio import Head, JsonProblem, Source, loads
from sessions.engine.transcript.types import Origin, Role, Transcript

Placed = tuple[dict[str, Any], Origin]

BOM = b"\xef\xbb\xbf"


def sniff_events(head: Head) -> str:
    """Why the head of a file looks like a streamed response; nothing where it does not."""
    if isinstance(head.document, list):
        found = head.document
    elif head.document is None and not head.values:
        found = events_in(head.data.decode("utf-8-sig", "replace"))
    else:
        found = list(head.values)
    n_events = sum(_is_ours(value) for value in found)
    form = "server-sent events" if not head.values and head.document is None else "events"
    return f"{n_events} {form} of a streamed response, such as message_start" if 2 * n_events > len(found) else ""


def event_places(source: Source) -> list[Placed]:
    """The events of a streamed response with their places; empty where the file holds none."""
    head = source.head()
    if not sniff_events(head):
        return []
    if isinstance(head.document, list):
        whole = Origin(1, 0, source.size)
        places = [(value, Origin(1, 0, whole.length, (i,))) for i, value in enumerate(head.document)]
        return [(value, origin) for value, origin in places if _is_ours(value)]
    return list(_lines(source))


def streamed_session(events: Sequence[Placed], measure: Measured, format_name: str, stem: str) -> Transcript:
    """One session of the replies that the events stream, each with its usage."""
    assembly = Assembly(measure)
    replies: list[list[Placed]] = []
    for event, origin in events:
        if event.get("type") == "message_start" or not replies:
            replies.append([])
        replies[-1].append((event, origin))
    for placed in replies:
        reply = response_of([event for event, _ in placed])
        contents = contents_of(reply.get("content"))
        native_id = text_of(reply.get("id"))
        index = assembly.add(Role.ASSISTANT, contents, [origin for _, origin in placed], id=native_id)
        model = text_of(reply.get("model"))
        assembly.request(index, usage_of(reply.get("usage")), response_id=native_id, model=model)
        edits = edits_of({}, reply)
        if edits.compacted:
            at = len(assembly.requests) - 1
            before = edits.spent.context if edits.spent else None
            assembly.compaction(index, message=index, request=at, trigger="auto", tokens_before=before)
        assembly.cleared += [(clearing, index, len(assembly.requests) - 1) for clearing in edits.clearings]
    return assembly.transcript(stem, format_name)


def _is_ours(value: Any) -> bool:
    return is_event(value) and text_of(value.get("type")) in MESSAGES_EVENTS


def _lines(source: Source) -> Iterator[Placed]:
    for line in source.lines():
        data = line.data or b""
        skip = len(BOM) if data.startswith(BOM) else 0
        if data[skip:].startswith(b"data:"):
            skip += len(b"data:")
        try:
            value = loads(data[skip:])
        except JsonProblem:
            continue
        if _is_ours(value):
            yield value, Origin(line.number, line.offset + skip, line.length - skip)
