"""The Responses API: requests, responses, both, compactions, plain items, recorded streams (formats 6).

Each item is a message; a reply's items belong to one request.  A compaction item stands for what was before it: its
summary is encrypted, so it is bytes.  Reported input includes cached tokens; ``Usage.input`` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._blocks import definitions, text_blocks
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ProviderApi, TracedCall, edits_of, error_in
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._items import ITEM_TYPES, item_contents, item_role
from sessions.engine.reading.formats._marks import foreign_turn
from sessions.engine.reading.formats._records import closest, events, first_objects, inside, misread, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.types import Content, Origin, Parsed, Role

STREAM = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:event: ?response\.|data: ?\{\"type\": ?\"response\.)")
ENDS = ("response.completed", "response.incomplete", "response.failed")


def said_at(item: Any, at: Origin, time: float | None = None) -> CallMessage:
    """An item as a message of a call."""
    role = item_role(item) if isinstance(item, dict) else Role.USER
    return CallMessage(role, item_contents(item), (at,), text_of(as_dict(item).get("id")), timestamp=time)


class _Format(Format):
    label = "OpenAI Responses"
    source = "POST /v1/responses and /v1/responses/compact: request, response, items or the event stream"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="response.failed, error", compaction="item compaction, response.compaction",
        who="item: auto; endpoint: manual", threshold="compact_threshold", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if STREAM.match(head.data):
            return Sniff(95, "a stream of events named response.…")
        if head.document is not None:
            return API.shape(head.document)
        lines = first_objects(head)
        if lines and all(is_item_line(value) for value in lines):
            return Sniff(72, f"lines are items; line 1 has `type: {lines[0]['type']}`")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        head = source.head()
        if STREAM.match(head.data):
            calls = _streamed(events(source))
        elif head.document is None or is_item_line(head.document):
            unfit = "an object that is not an item"
            lines = objects(source, lambda v: is_item_line(v) or isinstance(v.get("role"), str), unfit)
            said = [said_at(value, line.at(), seconds(value.get("timestamp"))) for line, value in lines]
            calls = [TracedCall(said, [], is_log=True)] if said else []
        elif isinstance(head.document, (dict, list)):
            calls = _calls(head.document, Origin(1, 0, source.size))
        else:
            raise misread("neither a request nor a response nor items")
        return Parsed(sessions_of(calls, measure, stem=stem_of(source.name), runs=True))

    contents = each_value(item_contents)


def _request_shape(document: Record, request: Record | None) -> Sniff | None:
    if request is not None:
        return Sniff(86, "a request: a model and `input`, which is text or items")
    items = _items(document)
    if items is not None and all(is_item_line(i) or _role_only(i) for i in items) and not foreign_turn(items):
        return Sniff(80, "`items` are items of the Responses API")
    return Sniff(0, "it has `input`, but neither text nor items") if {"input", "model"} <= document.keys() else None


def is_item_line(value: Any) -> bool:
    """Whether a value is one item that only this API writes."""
    kind = text_of(as_dict(value).get("type"))
    if kind != "message":
        return kind in ITEM_TYPES
    return isinstance(value.get("role"), str) and not {"message", "stop_reason"} & value.keys()


def _calls(document: Any, whole: Origin) -> list[TracedCall]:
    """The calls of a document; a list of items is a record without any."""
    if isinstance(document, list):
        return API.calls(document, whole)
    items = _items(document) if API.pair(document) == (None, None) else None
    return [API.call(document, whole) if items is None else API.log(items, inside(whole, "items"))]


def _streamed(found: Iterable[tuple[Record, Origin]]) -> list[TracedCall]:
    """The responses of a recorded stream; one that was cut off is what its finished items tell."""
    calls: list[TracedCall] = []
    current: TracedCall | None = None
    for event, origin in found:
        kind, response = text_of(event.get("type")), event.get("response")
        if kind == "response.created" or current is None:
            current = TracedCall([], [])
            calls.append(current)
        if kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            current.replied.append(said_at(event["item"], inside(origin, "item")))
        elif isinstance(response, dict):
            _take(current, response, inside(origin, "response"), ended=kind in ENDS)
    return [call for call in calls if call.replied or call.usage or call.edits.error]


def _take(call: TracedCall, response: Record, at: Origin, *, ended: bool = True) -> None:
    call.model = text_of(response.get("model")) or call.model
    call.response_id = text_of(response.get("id")) or call.response_id
    call.continues = call.continues or text_of(response.get("previous_response_id"))
    call.timestamp = seconds(response.get("created_at")) or call.timestamp
    call.usage = openai_usage(response.get("usage")) or call.usage
    call.system = call.system or _system(response)
    call.edits = replace(edits_of({}, response), error=call.edits.error or error_in(response))
    output = response.get("output")
    if ended and isinstance(output, list) and (output or not call.replied):
        call.replied = [said_at(item, inside(at, "output", n), call.timestamp) for n, item in enumerate(output)]


def _ask(call: TracedCall, request: Record, at: Origin) -> None:
    sent, place = request["input"], inside(at, "input")
    call.sent = [said_at(sent, place)] if isinstance(sent, str) else API.log(sent, place).sent
    call.model = text_of(request.get("model"))
    call.continues = text_of(request.get("previous_response_id"))
    call.system = _system(request)
    # The tokens above which it asks the server to compact.
    rules = (rule for rule in as_list(request.get("context_management")) if isinstance(rule, dict))
    call.trigger_at = next((count_of(rule.get("compact_threshold")) or None for rule in rules), None)
    if call.trigger_at:
        call.notes = (f"The request asks the server to compact above {call.trigger_at:,} tokens",)


def _system(document: Record) -> tuple[Content, ...]:
    return text_blocks(text_of(document.get("instructions"))) + definitions(document.get("tools"), "type")


def _list_shape(items: list[Any]) -> Sniff | None:
    foreign = foreign_turn(items)
    if foreign:
        return Sniff(0, f"a list of items, but with {foreign!r}, which no item has")
    if any(is_item_line(item) for item in items) and all(is_item_line(i) or _role_only(i) for i in items):
        first = next(item["type"] for item in items if is_item_line(item))
        return Sniff(82, f"a list of items; one is {first}")
    shapes = (API.shape(item) for item in items if isinstance(item, dict) and "type" not in item)
    return closest(shapes, "a list of calls, not a proxy's log")


def _role_only(item: Any) -> bool:
    held = as_dict(item)
    return isinstance(held.get("role"), str) and "content" in held and "tool_calls" not in held


def _items(document: Record) -> list[Any] | None:
    items = document.get("items")
    return items if isinstance(items, list) and any(is_item_line(item) for item in items) else None


def _is_request(document: Record) -> bool:
    """``input`` as text or items; an embeddings request has a list of plain texts, a response an output."""
    sent = document.get("input")
    if "output" in document or not isinstance(document.get("model", ""), str):
        return False
    if isinstance(sent, str):
        return bool(sent) and "model" in document and "type" not in document
    return isinstance(sent, list) and any(is_item_line(item) or _role_only(item) for item in sent)


def _is_response(document: Record) -> bool:
    return document.get("object") in ("response", "response.compaction") and isinstance(document.get("output"), list)


def _says(response: Record) -> str:
    return f"object is {response['object']}, output has items"


API = ProviderApi(said_at, _is_request, _is_response, _ask, _take, 92, _says, _request_shape, _list_shape)
