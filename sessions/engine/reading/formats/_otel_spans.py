"""Spans as exporters write them, and the messages in their attributes (formats 16).

Attributes are a list of key and value (OTLP), dotted keys, or nested objects.  A message may be an entry of a list, or
spread over dotted keys; its origins are then those keys, and ``message_at`` puts it together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.reading.formats._converse import blocks_of, converse_usage
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import (
    Path,
    Record,
    as_dict,
    as_list,
    count_of,
    first_text,
    seconds,
    text_of,
)
from sessions.engine.transcript.types import Origin

SPREAD = re.compile(r"(llm\.input_messages|llm\.output_messages|gen_ai\.prompt|gen_ai\.completion)\.(\d{1,6})\.(.+)\Z")
EVENT = re.compile(r"gen_ai\.(?:(system|user|assistant|tool)\.message|choice)\Z")
"""Names of events that are messages of their span, by the conventions before 1.37; a choice is the answer."""
LISTED, NAMED = "events", "event.name"
"""The attribute of a span that lists such events, and the key of their names there."""
DETAILS = "gen_ai.client.inference.operation.details"
"""An event whose attributes are its span's, by the conventions from 1.37 on."""
WRAPPERS = ("message", "message_content", "tool_call")
SCALARS = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
ERROR_KEYS = ("exception.type", "exception.message", "error.message", "error.type")
MLFLOW_KIND, MLFLOW_COUNTS = "mlflow.spanType", "mlflow.chat.tokenUsage"
MLFLOW_CALLS = ("CHAT_MODEL", "LLM")
MLFLOW_NAMES = {
    "input.value": "mlflow.spanInputs",
    "output.value": "mlflow.spanOutputs",
    "llm.tools": "mlflow.chat.tools",
    "gen_ai.request.model": "mlflow.llm.model",
    "gen_ai.provider.name": "mlflow.llm.provider",
}
"""What the conventions call MLflow's own attributes."""
INPUT, OUTPUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
READ, WRITTEN = "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens"
Attributes = Mapping[str, tuple[Any, Path]]


@dataclass(frozen=True, slots=True)
class Span:
    """A span: its attributes by key with the path to each value, its place, its ids.

    ``events`` are those that are messages, each with its number.
    """

    attributes: Mapping[str, tuple[Any, Path]]
    origin: Origin
    id: str
    parent: str
    trace: str
    name: str
    started: float | None
    error: str = ""
    events: tuple[tuple[Any, int], ...] = ()

    def get(self, *keys: str) -> Any:
        """The first of the attributes that is there."""
        return next((self.attributes[key][0] for key in keys if key in self.attributes), None)

    def text(self, *keys: str) -> str:
        """The first of the attributes that is text."""
        return next(filter(None, (text_of(self.get(key)) for key in keys)), "")


def spans_in(record: Record, origin: Origin) -> Iterator[Span]:
    """The spans of a record: an OTLP export request, a trace of MLflow's, or a span itself."""
    if is_span(record):
        yield _span(record, origin)
        return
    told = as_dict(as_dict(record.get("info")).get("trace_metadata"))
    named = text_of(told.get("mlflow.trace.session"))
    session: dict[str, tuple[Any, Path]] = {"session.id": (named, ())} if named else {}
    for position, span in enumerate(as_list(record.get("data"))):  # a page of Phoenix's
        if is_span(span):
            yield _span(span, inside(origin, "data", position))
    for position, span in enumerate(as_list(as_dict(record.get("data")).get("spans"))):
        if is_span(span):
            found = _span(span, inside(origin, "data", "spans", position))
            yield replace(found, attributes={**session, **found.attributes})
    for key, scope_key in (("resourceSpans", "scopeSpans"), ("resource_spans", "scope_spans")):
        for n_resource, resource in enumerate(as_list(record.get(key))):
            for n_scope, scope in enumerate(as_list(as_dict(resource).get(scope_key))):
                path = (key, n_resource, scope_key, n_scope, "spans")
                for position, span in enumerate(as_list(as_dict(scope).get("spans"))):
                    if is_span(span):
                        yield _span(span, inside(origin, *path, position))


def is_span(value: Any) -> bool:
    """Whether a value is a span: attributes beside an id of its own."""
    if not isinstance(value, dict) or "attributes" not in value:
        return False
    context = value.get("context")
    return any(key in value for key in ("spanId", "span_id")) or (isinstance(context, dict) and "span_id" in context)


def message_at(values: Sequence[Any], origins: Sequence[Origin]) -> Any:
    """The message at its origins: one value, or dotted keys put together."""
    if len(values) == 1 and not _spread_key(values[0], origins[0]):
        return normal(plain(values[0]))
    found = ((value, SPREAD.match(_spread_key(value, at))) for value, at in zip(values, origins, strict=True))
    return _nested(
        (match[3].split("."), plain(value.get("value")) if _is_pair(value) else value)
        for value, match in found
        if match
    )


def messages_at(values: Sequence[Any], origins: Sequence[Origin]) -> list[Any]:
    """The messages at the origins of one: dotted keys put together, or one for each value."""
    if any(_spread_key(value, origin) for value, origin in zip(values, origins, strict=True)):
        return [message_at(values, origins)]
    return [message_at([value], [origin]) for value, origin in zip(values, origins, strict=True)]


def normal(message: Any) -> Any:
    """A message in the words of chat APIs: OpenInference's wrappers taken off."""
    value = decoded(message)
    if not isinstance(value, dict):
        return value
    if is_event(value):
        return _of_event(value)
    inner = value.get("message")
    value = inner if isinstance(inner, dict) and "role" in inner else value
    found = {key: item for key, item in value.items() if key not in ("contents", "tool_calls")}
    if isinstance(value.get("contents"), list):
        found["content"] = [_part(part) for part in value["contents"]]
    elif isinstance(value.get("content"), str) and value["content"].lstrip().startswith('[{"type"'):
        found["content"] = decoded(value["content"])
    if isinstance(value.get("tool_calls"), list):
        found["tool_calls"] = [_unwrapped(call) for call in value["tool_calls"]]
    return found


def is_event(value: Any) -> bool:
    """Whether a span's event is a message."""
    return bool(EVENT.match(text_of(as_dict(value).get("name")))) and "attributes" in value


def listed_events(span: Span) -> list[tuple[Record, Origin]]:
    """The same in an attribute, as Pydantic AI and Logfire write them, each with its place."""
    value, path = span.attributes.get(LISTED, (None, ()))
    placed = ((as_dict(one), inside(span.origin, *path, n)) for n, one in enumerate(as_list(decoded(value))))
    return [(one, at) for one, at in placed if EVENT.match(text_of(one.get(NAMED)))]


def is_choice(event: Record) -> bool:
    """Whether such a message is the answer."""
    return event.get("name") == "gen_ai.choice"


def _of_event(event: Record) -> Any:
    """The message that an event is; Strands writes the blocks of Bedrock's Converse."""
    held = {key: value for key, (value, _) in _attributes(event["attributes"], ())}
    raw = held.get("message" if is_choice(event) else "content")
    said = decoded(raw)
    match = EVENT.match(text_of(event.get("name")))
    role = (match and match[1]) or "assistant"
    if isinstance(said, dict) and said.keys() & {"role", "content", "tool_calls"}:
        return normal({"role": role} | said)
    is_blocks = isinstance(said, list) and all(isinstance(block, dict) for block in said)
    content = blocks_of(said) if is_blocks else raw
    call = {"tool_call_id": held["id"]} if role == "tool" and text_of(held.get("id")) else {}
    return {"role": role, "content": content, **call}


def plain(value: Any) -> Any:
    """An OTLP value as the JSON it stands for; anything else as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((key, held),) = value.items()
    if key in SCALARS:
        return held
    inner = as_dict(held).get("values")
    if key == "arrayValue" and isinstance(inner, list):
        return [plain(item) for item in inner]
    if key == "kvlistValue" and isinstance(inner, list):
        return {text_of(pair.get("key")): plain(pair.get("value")) for pair in inner if isinstance(pair, dict)}
    return value


def spread(span: Span, prefix: str) -> list[tuple[Any, tuple[Origin, ...]]]:
    """The messages under ``prefix``, spread over dotted keys, each with the origins of its keys."""
    found: dict[int, list[tuple[str, Any, Path]]] = {}
    for key, (value, path) in span.attributes.items():
        match = SPREAD.match(key)
        if match and match[1] == prefix:
            found.setdefault(int(match[2]), []).append((key, value, path))
    messages = []
    for number in sorted(found):
        pairs = ((key.split(".")[prefix.count(".") + 2 :], value) for key, value, _ in found[number])
        # An OTLP pair is kept whole, because its key is beside its value.
        paths = [path[:2] if any(isinstance(n, int) for n in path[1:2]) else path for _, _, path in found[number]]
        messages.append((_nested(pairs), tuple(inside(span.origin, *path) for path in paths)))
    return messages


def _span(value: Record, origin: Origin) -> Span:
    context = as_dict(value.get("context"))
    started = value.get("startTimeUnixNano") or value.get("start_time_unix_nano") or value.get("start_time")
    attributes = _in_words(dict(_attributes(value.get("attributes"), ("attributes",))))
    events = [as_dict(event) for event in as_list(value.get("events"))]
    for n, event in enumerate(events):
        if event.get("name") == DETAILS:
            attributes |= dict(_attributes(event.get("attributes"), ("events", n, "attributes")))
    if "span_kind" in value:
        attributes.setdefault("openinference.span.kind", (value["span_kind"], ("span_kind",)))
    return Span(
        attributes=attributes,
        origin=origin,
        id=first_text(value, "spanId", "span_id") or first_text(context, "spanId", "span_id"),
        parent=first_text(value, "parentSpanId", "parent_span_id", "parent_id"),
        trace=first_text(value, "traceId", "trace_id") or first_text(context, "traceId", "trace_id"),
        name=text_of(value.get("name")),
        started=_nanoseconds(started),
        error=_error_text(value, attributes),
        events=tuple((event, n) for n, event in enumerate(events) if is_event(event)),
    )


def _nanoseconds(value: Any) -> float | None:
    """Nanoseconds since 1970, as OTLP writes them in strings; or any other time."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 10**16 < value < 10**20:
        return value / 1e9
    return seconds(value)


def _attributes(held: Any, path: Path) -> Iterator[tuple[str, tuple[Any, Path]]]:
    """Attributes by dotted key; nested objects count under the keys that lead to them."""
    if isinstance(held, list):
        for position, pair in enumerate(held):
            if isinstance(pair, dict) and isinstance(pair.get("key"), str):
                value = pair.get("value")
                yield pair["key"], (plain(value), (*path, position, "value", *_inner_path(value)))
    elif isinstance(held, dict):
        for key, value in held.items():
            yield key, (value, (*path, key))
            if isinstance(value, dict) and len(path) < 6:
                for inner, found in _attributes(value, (*path, key)):
                    yield f"{key}.{inner}", found


def _inner_path(value: Any) -> Path:
    """From an OTLP value to the text or the list in it."""
    key = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else ""
    if key in SCALARS:
        return (key,)
    return ("arrayValue", "values") if key == "arrayValue" and isinstance(plain(value), list) else ()


def _spread_key(value: Any, origin: Origin) -> str:
    if _is_pair(value):
        return value["key"] if SPREAD.match(value["key"]) else ""
    last = origin.path[-1] if origin.path else ""
    return last if isinstance(last, str) and SPREAD.match(last) else ""


def _is_pair(value: Any) -> bool:
    """An OTLP attribute: a key and its value; a broken file may lack that, or have more."""
    key = as_dict(value).get("key")
    return isinstance(key, str) and (value.keys() <= {"key", "value"} or bool(SPREAD.match(key)))


def _nested(pairs: Iterable[tuple[Sequence[str], Any]]) -> Any:
    """The message that values under dotted keys make together."""
    whole: dict[str, Any] = {}
    for keys, value in pairs:
        nested = whole
        for key in keys[:-1]:
            inner = nested.setdefault(key, {})
            if not isinstance(inner, dict):
                inner = nested[key] = {}
            nested = inner
        nested[keys[-1]] = value
    return normal(_lists(whole))


def _lists(value: Any) -> Any:
    """Objects whose keys are all numbers as lists, in the order of the numbers; wrappers taken off."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isascii() and key.isdigit() and len(key) < 7 for key in value):
        return [_lists(value[key]) for key in sorted(value, key=int)]
    found = {key: _lists(item) for key, item in value.items()}
    return found["message"] if set(found) == {"message"} else found


def _unwrapped(value: Any) -> Any:
    if isinstance(value, dict):
        for wrapper in WRAPPERS:
            if isinstance(value.get(wrapper), dict):
                return value[wrapper]
    return value


def _part(part: Any) -> Any:
    """OpenInference's content part: an image stands two objects deep."""
    inner = _unwrapped(part)
    image = as_dict(inner).get("image")
    while isinstance(image, dict) and isinstance(image.get("image"), dict):
        image = image["image"]
    if isinstance(image, dict) and text_of(image.get("url")):
        return {"type": "image_url", "image_url": {"url": image["url"]}}
    return inner


def _error_text(value: Record, attributes: Mapping[str, tuple[Any, Path]]) -> str:
    """What a failed span says went wrong: its status, its exceptions, its attributes; "" for one that did not fail."""
    status = as_dict(value.get("status"))
    code = status.get("code", status.get("status_code", value.get("status_code")))
    told = text_of(status.get("message")) or text_of(status.get("description"))
    found = [told or text_of(value.get("status_message"))]
    for event in map(as_dict, as_list(value.get("events"))):
        held = event.get("attributes")
        pairs = held if isinstance(held, dict) else {
            text_of(as_dict(pair).get("key")): plain(as_dict(pair).get("value")) for pair in as_list(held)
        }  # fmt: skip
        found += [text_of(pairs.get(key)) for key in ERROR_KEYS]
    found += [text_of(attributes[key][0]) for key in ERROR_KEYS if key in attributes]
    failed = code in (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error") or "error.type" in attributes
    return " ".join(dict.fromkeys(filter(None, found))) if failed else ""


def _in_words(attributes: Attributes) -> dict[str, tuple[Any, Path]]:
    """The attributes of a span of MLflow's, JSON read, with the conventions' names; those of others as they are."""
    if MLFLOW_KIND not in attributes:
        return dict(attributes)
    found = {key: (decoded(value), path) for key, (value, path) in attributes.items()}
    kind = text_of(found[MLFLOW_KIND][0])
    for name, own in MLFLOW_NAMES.items():
        if own in found:
            found.setdefault(name, found[own])
    path = found[MLFLOW_KIND][1]
    found.setdefault("openinference.span.kind", ("LLM" if kind in MLFLOW_CALLS else kind or "CHAIN", path))
    if kind in MLFLOW_CALLS:
        model = text_of(as_dict(_value(found, "input.value")).get("model"))
        if model:
            found.setdefault("gen_ai.request.model", (model, path))
        for name, n in _counts(found).items():
            found.setdefault(name, (n, path))
    elif call_id := _answered(_value(found, "output.value")) if kind == "TOOL" else "":
        found.setdefault("tool_call.id", (call_id, path))
    return found


def _value(found: Attributes, key: str) -> Any:
    return found[key][0] if key in found else None


def _counts(found: Attributes) -> dict[str, int]:
    """What a call cost; Anthropic's input leaves out what the cache read or wrote, MLflow's of Converse all of it."""
    if own := converse_usage(as_dict(as_dict(_value(found, MLFLOW_NAMES["output.value"])).get("usage"))):
        return {INPUT: own.context, OUTPUT: own.output, READ: own.cache_read, WRITTEN: own.cache_write}
    counts = as_dict(_value(found, MLFLOW_COUNTS))
    sent, said, read, written = (
        count_of(counts.get(f"{name}_tokens"))
        for name in ("input", "output", "cache_read_input", "cache_creation_input")
    )
    made_by = f"{_value(found, 'mlflow.message.format')} {_value(found, 'mlflow.llm.provider')}"
    sent += read + written if "anthropic" in made_by else 0
    return {INPUT: sent, OUTPUT: said, READ: read, WRITTEN: written}


def _answered(output: Any) -> str:
    """The call that what a tool gave out names."""
    for part in (output, *as_list(output)):
        held: Record = as_dict(part)
        if named := text_of(held.get("tool_call_id")) or text_of(as_dict(held.get("toolResult")).get("toolUseId")):
            return named
    return ""
