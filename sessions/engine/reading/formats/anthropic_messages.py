"""A Messages API request, its response, both, a list of such pairs, or a streamed response (formats 4).

The messages of the request are the session; the reply is the last message.  A request without its response counts
as one pending request.  Server-side compaction shows as a ``compaction`` block at the start of a reply.

A reply's origins are its events, so that its text can be read again from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats import _anthropic_blocks as anthropic
from sessions.engine.reading.formats import _wire_exchanges as wire
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import CallMessage, TracedCall, edits_of, iterations
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._events import MESSAGES_EVENTS, events_in, is_event, response_of
from sessions.engine.reading.formats._marks import chat_mark, foreign_key, foreign_turn
from sessions.engine.reading.formats._records import events, inside, misread, pair_in, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, text_of
from sessions.engine.transcript.recorded_events import APPLIED_EDITS
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Role, Usage

Placed = tuple[dict[str, Any], Origin]

DEFAULT_TRIGGER = 150_000
"""Tokens at which a request compacts that asks for it and gives no figure (policies 5.3)."""
REQUEST_KEYS = ("max_tokens", "system", "context_management", "thinking", "anthropic_version", "stop_sequences")


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
        return [(value, Origin(1, 0, source.size, (i,))) for i, value in enumerate(head.document) if _is_ours(value)]
    return [(value, origin) for value, origin in events(source) if _is_ours(value)]


def streamed_calls(places: Sequence[Placed]) -> Iterator[TracedCall]:
    """A call of each reply that the events stream, with its usage."""
    replies: list[list[Placed]] = []
    for event, origin in places:
        if event.get("type") == "message_start" or not replies:
            replies.append([])
        replies[-1].append((event, origin))
    for placed in replies:
        reply = response_of([event for event, _ in placed])
        native, contents = text_of(reply.get("id")), anthropic.contents_of(reply.get("content"))
        said = CallMessage(Role.ASSISTANT, contents, tuple(origin for _, origin in placed), native)
        call = TracedCall([], [said], usage_of(reply.get("usage")), text_of(reply.get("model")), native)
        call.edits = edits_of({}, reply)
        yield call


def _is_ours(value: Any) -> bool:
    return is_event(value) and text_of(value.get("type")) in MESSAGES_EVENTS


class _Format(Format):
    label = "Anthropic Messages"
    source = "POST /v1/messages: request, response, both, a list of pairs or streamed events"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="error in place of an answer, event error", compaction="block compaction, usage.iterations",
        who="block: auto; request's compaction: manual", clearing=APPLIED_EDITS,
        threshold="context_management", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = head.document
        if not isinstance(document, dict):
            return _sniff_several(head)
        request, response = _exchange_of(document)
        if request is None and response is None:
            return _near_miss(document)
        if request is None:
            return Sniff(90, "a response: role assistant, content blocks and usage")
        if foreign := chat_mark(request) or _foreign(request):
            return Sniff(0, f"messages are not Anthropic's: {foreign}")
        found = [key for key in REQUEST_KEYS if key in request]
        pair = " with its response" if response is not None else ""
        messages = [message for message in request["messages"] if isinstance(message, dict)]
        kinds = {text_of(block.get("type")) for message in messages for block in _parts_in(message)} - {"text"}
        if found or response is not None or kinds & anthropic.KNOWN_TYPES:
            return Sniff(85, f"a request{pair}: messages, {', '.join(found) or 'Messages API blocks'}")
        return Sniff(40, "a list of messages with roles")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session of the request's messages and the reply; pairs and events are put together first."""
        if places := event_places(source):
            calls = list(streamed_calls(places))
        elif isinstance(document := source.document(), list):
            found = list(enumerate(map(wire.exchange_at, document)))
            for n in [n for n, one in found if one is None]:
                source.skip(f"entry {n} is no request with its response")
            whole = Origin(1, 0, source.size)
            calls = [wire.call_at(one, inside(whole, n)) for n, one in found if one is not None]
            if not calls:
                raise misread("a list without Messages API pairs or events")
        else:
            calls = [_call(as_dict(document), Origin(1, 0, source.size))]
        return Parsed(sessions_of(calls, measure, stem=stem_of(source.name), runs=True))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of one entry of ``messages``, of the reply, or of the events that stream it."""
        path = message.origins[0].path
        # What is sent may look like an event where it is damaged.
        if all(map(is_event, values)) and "messages" not in path:
            return anthropic.contents_of(response_of(values).get("content"))
        return tuple(content for value in values for content in wire.wire_contents(value, path))


def _call(document: Record, whole: Origin) -> TracedCall:
    """The call whose request or response, or both, the document is."""
    request, response = _exchange_of(document)
    if request is None and response is None:
        raise misread("neither a Messages request nor a response")
    place: Path = ("request",) if "request" in document or "response" in document else ()
    came, record = response or document.get("response"), document if place else {}
    call = wire.call_at(wire.HttpExchange(record, request or {}, place, came, place and ("response",)), whole)
    own = as_dict(response)
    # The top level may report nothing: then the last message's iteration counts.
    call.usage = usage_of(own.get("usage")) or next(iter(_spent(own, "message")[::-1]), None)
    call.group, call.trigger_at, call.prefills = "", _trigger_at(request or {}), True
    # What the top-level usage hides.
    hidden = [f"{u.context:,} input and {u.output:,} output tokens" for u in _spent(own, "compaction") if u]
    call.notes = tuple(f"The server spent {spent} on compaction, not in the usage" for spent in hidden)
    return call


def _exchange_of(document: Record) -> tuple[Record | None, Record | None]:
    """The request and the response in ``document``, None for what is not there."""
    request, response = pair_in(document, _is_request, _is_response)
    return request, None if request is document else response


def _is_request(document: Record) -> bool:
    held = map(as_dict, as_list(document.get("messages")))
    return any(isinstance(part.get("role"), str) and "content" in part for part in held)


def _is_response(document: Record) -> bool:
    marked = document.get("type") == "message" or "stop_reason" in document
    return document.get("role") == "assistant" and isinstance(document.get("content"), list) and marked


def _trigger_at(request: Record) -> int | None:
    """The tokens at which the request asks the server to compact: as given, else the default (policies 5.3)."""
    for edit in as_list(as_dict(request.get("context_management")).get("edits")):
        if text_of(as_dict(edit).get("type")).startswith("compact_"):
            return count_of(as_dict(edit.get("trigger")).get("value")) or DEFAULT_TRIGGER
    return None


def _spent(response: Record, kind: str) -> list[Usage | None]:
    """The usage of each iteration of this kind that a response's usage lists."""
    return [usage_of(step) for step in iterations(response) if step.get("type") == kind]


def _sniff_several(head: Head) -> Sniff | None:
    """A streamed response, or a list of pairs."""
    if streamed := sniff_events(head):
        return Sniff(90, streamed)
    document = as_list(head.document)
    pairs = sum(wire.is_anthropic_pair(one) for item in document if (one := wire.exchange_at(item)) is not None)
    return Sniff(85, f"{pairs} requests with their responses") if pairs and pairs == len(document) else None


def _foreign(request: Record) -> str:
    """What makes it another tool's: session files and chat sets hold messages with roles too, but are no requests."""
    if key := foreign_key(request):
        return f"{key!r} stands beside them"
    if turn := foreign_turn(request["messages"]):
        return f"a message has {turn!r}"
    messages = [message for message in request["messages"] if isinstance(message, dict)]
    kinds = (message.get("type", "message") for message in messages)
    if kind := next((kind for kind in kinds if kind != "message"), ""):
        return f"a message is of type {kind!r}"
    has_values = any("value" in part for message in messages for part in _parts_in(message))
    return "parts have their content in 'value'" if has_values else ""


def _parts_in(message: Record) -> list[Record]:
    return [part for part in as_list(message.get("content")) if isinstance(part, dict)]


def _near_miss(document: Record) -> Sniff | None:
    if "messages" in document:
        return Sniff(0, "it has messages, but they are not a list of objects with a role and content")
    is_message = "content" in document and "role" in document
    return Sniff(0, "it has a role and content, but is not a reply with usage or stop_reason") if is_message else None
