"""One exchange with a model as proxies log it: where the request and the response stand, and what they say.

Bodies of the Messages API, Chat Completions, Responses, Gemini and Bedrock: objects, JSON in strings, or streamed
(formats 4 to 6, 8, 92).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats import _converse as converse
from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats import _items as items
from sessions.engine.reading.formats._calls import LEAST_ERROR, CallMessage, TracedCall, edits_of
from sessions.engine.reading.formats._chat_blocks import chat_contents, parts_of, role_of
from sessions.engine.reading.formats._counts import first_count, local_usage, openai_usage, usage_of
from sessions.engine.reading.formats._events import events_in, is_chunk, response_of
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._traces import decoded, is_item, system_of, tools_of, value_at
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Origin, Role, Usage

REQUEST_PATHS: tuple[Path, ...] = (
    ("request", "body"), ("request", "postData", "text"), ("request", "content"), ("request",), ("request_body",),
    ("requestBody",), ("req", "body"), ("body",), ("kwargs",), ("payload",), ("input", "inputBodyJson"), (),
)  # fmt: skip
RESPONSE_PATHS: tuple[Path, ...] = (
    ("response", "body"), ("response", "body_raw"), ("response", "content", "text"), ("response", "events"),
    ("response",), ("response_body",), ("responseBody",), ("res", "body"), ("events",), ("output", "outputBodyJson"),
)  # fmt: skip
TIME_KEYS = (
    *("timestamp", "startTime", "start_time", "startedDateTime", "logged_at", "time", "ts", "created_at"),
    "request_created_at",
)
STATUS_KEYS = ("status", "status_code", "statusCode")
ADDRESS_KEYS = ("url", "path", "endpoint", "uri")
COMPACT = "/responses/compact"
GEMINI_MODEL = re.compile(r"/models/([^/:?]{1,200}):(?:stream)?generateContent", re.IGNORECASE)
"""The model that a call of Gemini's API names in its address alone."""
SESSION = re.compile(r"session_(?:id\W{1,6})?([0-9a-fA-F][0-9a-fA-F-]{7,63})")


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """A request and its response with the paths to them; ``response`` is None where there is none."""

    record: Record
    request: Record
    request_path: Path
    response: Any
    response_path: Path


def exchange_at(record: Any) -> HttpExchange | None:
    """The exchange in a record of a log; None where it holds no request."""
    if not isinstance(record, dict):
        return None
    asked = ((request, path) for path in REQUEST_PATHS if is_request(request := at_path(record, path)))
    request, path = next(asked, (None, ()))
    if request is None:
        return None
    response, place = next((one for one in _bodies(record) if is_response(one[0]) or is_error(one[0])), (None, ()))
    if response is None and path and is_error(record):  # a dump of the request, with what came of it beside
        response = {"error": record["error"]}
    elif response is None and text_of(record.get("errorCode")):  # Bedrock's log
        response = {"error": record["errorCode"]}
    elif response is None and _status(record) >= LEAST_ERROR:  # a gateway's body: flat, a page, plain words
        body, place = next((one for one in _bodies(record) if isinstance(one[0], dict | str)), (None, ()))
        response = {"error": body} if isinstance(body, str) else body
    return HttpExchange(record, request, path, response, place)


def _bodies(record: Record) -> Iterator[tuple[Any, Path]]:
    """What stands where a response may, with the paths to it."""
    return ((body, place) for place in RESPONSE_PATHS if (body := at_path(record, place)))


def is_request(value: Any) -> bool:
    """Whether a value is a request: messages with roles, contents with parts, or a model and input."""
    if not isinstance(value, dict):
        return False
    if any(map(_is_content, as_list(value.get("contents")))):
        return True
    messages, asked = value.get("messages"), value.get("input", value.get("previous_response_id"))
    if isinstance(messages, list):
        return any(isinstance(item, dict) and isinstance(item.get("role"), str) for item in messages)
    return isinstance(value.get("model"), str) and isinstance(asked, (str, list)) and bool(asked)


def is_response(value: Any) -> bool:
    """Whether a value is a response: whole, or streamed."""
    if not isinstance(value, dict):
        return bool(events_in(value))
    lists = [key for key in ("choices", "output", "content") if isinstance(value.get(key), list)]
    own = bool(lists) and (lists != ["content"] or value.get("role") == "assistant")
    return own or is_local(value) or is_chunk(value) or converse.is_response(value)


def is_local(response: Record) -> bool:
    """Whether a response is of Ollama's own ``/api/chat``: one message, and whether it is done."""
    return "done" in response and isinstance(response.get("message"), dict)


def is_error(value: Any) -> bool:
    """Whether a value is an error in place of a response."""
    if not isinstance(value, dict):
        return False
    error = value.get("error")
    named = value.get("object") == "error" or value.get("type") == "error"
    return named or isinstance(error, dict) or (isinstance(error, str) and bool(error))


def is_anthropic_pair(exchange: HttpExchange) -> bool:
    """Whether an exchange is a bare request with its response, both of the Messages API."""
    response = exchange.response
    whole = isinstance(response, dict) and response.get("role") == "assistant"
    return exchange.request_path == ("request",) and whole


def is_bare(exchange: HttpExchange) -> bool:
    """Whether a record is a request, or a request with its whole response, and nothing else: no time, no address."""
    if isinstance(exchange.response, (str, list)):
        return False
    if not exchange.request_path:
        return exchange.response is None
    return exchange.request_path == ("request",) and exchange.record.keys() <= {"request", "response"}


def call_at(exchange: HttpExchange, origin: Origin) -> TracedCall:
    """The exchange as one model call."""
    request = exchange.request
    whole = response_of(events_in(exchange.response)) if isinstance(exchange.response, (str, list)) else None
    response: Record = whole if whole is not None else exchange.response or {}
    place = inside(origin, *exchange.response_path)
    replied = _replied(response, place)
    is_compact = _address(exchange.record).endswith(COMPACT)
    if whole is not None:
        # A streamed reply is one message: its place is the whole stream.
        contents = tuple(content for said in replied for content in said.contents)
        replied = [CallMessage(Role.ASSISTANT, contents, (place,), _id(response))] if contents else []
    edits = edits_of(request, response, _status(exchange.record), to_compact=is_compact)
    told = ("system", "instructions", gemini.key_of(request, "systemInstruction"))
    said = next((request[key] for key in told if key in request), None)
    record, beside = exchange.record, as_dict(exchange.record.get("request"))
    times = (seconds(place.get(key)) for place in (record, beside) for key in TIME_KEYS)
    models = (response.get("model"), gemini.field_of(response, "modelVersion"))
    ids = (response.get("id"), gemini.field_of(response, "responseId"), record.get("requestId"))
    # The session that a client names in the request's metadata, or to Helicone.
    match = SESSION.search(text_of(as_dict(request.get("metadata")).get("user_id")))
    held = record.get("request_properties") or record.get("properties") or beside.get("properties")
    return TracedCall(
        sent=_sent(request, inside(origin, *exchange.request_path)),
        replied=replied,
        usage=response_usage(response) or edits.spent or converse.logged_usage(record),
        model=next(filter(None, map(text_of, models)), "") or model_of(exchange),
        response_id=next(filter(None, map(text_of, ids)), ""),
        timestamp=next((time for time in times if time is not None), None),
        group=match[1] if match else text_of(as_dict(held).get("Helicone-Session-Id")),
        system=system_of(converse.blocks_of(said)) + tools_of(request.get("tools") or converse.tools_in(request)),
        continues=text_of(request.get("previous_response_id")),
        edits=edits,
    )


def model_of(exchange: HttpExchange) -> str:
    """The model that a call asks for, by its body, its address, what stands beside them, or Gemini's answer."""
    found = GEMINI_MODEL.search(_address(exchange.record))
    named = text_of(exchange.request.get("model")).removeprefix("models/") or (found[1] if found else "")
    beside = text_of(exchange.record.get("modelId")).rpartition("/")[2]
    return named or beside or text_of(gemini.field_of(as_dict(exchange.response), "modelVersion"))


def response_usage(response: Record) -> Usage | None:
    """Usage of a response: the Messages API excludes cached tokens from its input, the others include them."""
    usage = response.get("usage")
    if counts := gemini.field_of(response, "usageMetadata"):
        return gemini.gemini_usage(counts)
    if isinstance(usage, dict) and "inputTokens" in usage:
        return converse.converse_usage(usage)
    if not isinstance(usage, dict):
        return local_usage(response)
    if "prompt_tokens" in usage or "output" in response or "input_tokens_details" in usage:
        return openai_usage(usage)
    return usage_of(usage)


def wire_contents(value: Any, path: Path) -> tuple[Content, ...]:
    """The blocks of a message, an item, or a streamed reply at ``path``; a request's ``input`` may be plain text."""
    if path and path[-1] == "input":
        return parts_of(value)
    events = events_in(value)
    if events:
        return tuple(content for said in _replied(response_of(events), None) for content in said.contents)
    return item_contents(decoded(value))


def item_contents(item: Any) -> tuple[Content, ...]:
    """The blocks of a message, of Gemini's content, or of an item of the Responses API."""
    if _is_content(item):
        return gemini.content_of(item)
    if is_item(item):
        return items.item_contents(item)
    held = as_dict(item)
    is_said = "role" in held or any(map(converse.is_block, as_list(held.get("content"))))
    return chat_contents(converse.message_of(held)) if is_said else parts_of([item])


def _item_role(item: Any) -> Role:
    if is_item(item) and item["type"] in items.COMPACTION_TYPES:
        return Role.ASSISTANT
    return items.item_role(item) if is_item(item) else role_of(item)


def _sent(request: Record, origin: Origin) -> list[CallMessage]:
    key = next((key for key in ("messages", "contents") if isinstance(request.get(key), list)), "input")
    asked = request.get(key)
    if isinstance(asked, str):
        return [CallMessage(Role.USER, parts_of(asked), (inside(origin, key),))]
    return [
        CallMessage(_item_role(item), item_contents(item), (inside(origin, key, position),), _id(item))
        for position, item in enumerate(as_list(asked))
        if isinstance(item, dict)
    ]


def _replied(response: Record, origin: Origin | None) -> list[CallMessage]:
    """The messages of a response, or its items, each at its place."""

    def said(item: Any, role: Role, native_id: str, *path: str | int) -> CallMessage:
        return CallMessage(role, item_contents(item), (inside(origin, *path),) if origin else (), native_id)

    if is_local(response):
        return [said(response["message"], Role.ASSISTANT, "", "message")]
    choices, output = response.get("choices"), response.get("output")
    if converse.is_response(response):
        return [said({"role": "assistant", **response["output"]["message"]}, Role.ASSISTANT, "", "output", "message")]
    if gemini.chunk_parts(response):
        content = response["candidates"][0]["content"]
        path = ("candidates", 0, "content")
        return [said({"role": "model", **content}, Role.ASSISTANT, _id(response), *path)]
    if isinstance(choices, list):
        message = as_dict(as_dict(next(iter(choices), None)).get("message"))
        return [said(message, Role.ASSISTANT, _id(response), "choices", 0, "message")] if "role" in message else []
    if isinstance(output, list):
        items = [(position, item) for position, item in enumerate(output) if isinstance(item, dict)]
        found = [said(item, _item_role(item), _id(item), "output", position) for position, item in items]
        return [one for one in found if one.role is Role.ASSISTANT]
    return [said(response, Role.ASSISTANT, _id(response))] if isinstance(response.get("content"), list) else []


def _is_content(item: Any) -> bool:
    """Whether a value is a content of Gemini's API: parts that name no type, and nothing else that is said."""
    held = as_dict(item)
    if not isinstance(held.get("parts"), list) or {"content", "tool_calls"} & held.keys():
        return False
    return not any("type" in as_dict(part) for part in held["parts"])


def _status(record: Record) -> int:
    """The answer's HTTP status where the record has one."""
    held = as_dict(record.get("response"))
    return first_count(held, *STATUS_KEYS) or first_count(record, *STATUS_KEYS)


def _address(record: Record) -> str:
    """Where a request was sent, as the record or its request says."""
    held = (record, as_dict(record.get("request")))
    return next((said for one in held for key in ADDRESS_KEYS if (said := text_of(one.get(key)))), "")


def is_of_proxy(exchange: HttpExchange) -> bool:
    """Whether a record says of a call under ``request`` what only a proxy knows: an address and a status."""
    return exchange.request_path == ("request",) and was_sent(exchange)


def was_sent(exchange: HttpExchange) -> bool:
    """Whether a record has the address that a call was sent to, and the status of its answer."""
    return bool(_address(exchange.record)) and bool(_status(exchange.record))


def at_path(record: Any, path: Path) -> Any:
    """What stands at ``path``, JSON in strings read; streamed text stays text."""
    value = value_at(record, path)
    found = decoded(value)
    return value if isinstance(value, str) and not isinstance(found, (dict, list)) else found


def _id(item: Any) -> str:
    return text_of(as_dict(item).get("id"))
