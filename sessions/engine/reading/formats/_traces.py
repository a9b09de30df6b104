"""What traces have in common: JSON in strings, model calls as spans, their messages and their order (formats 16)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats._blocks import as_read, definitions, tool_name, with_id
from sessions.engine.reading.formats._calls import CallMessage
from sessions.engine.reading.formats._chat_blocks import chat_contents, parts_of
from sessions.engine.reading.formats._counts import openai_usage, usage_of
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._trace_dialects import (
    decoded,
    is_definition,
    is_item,
    is_message,
    role_of_said,
    trace_contents,
)
from sessions.engine.reading.formats._values import as_dict, as_list, written
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Role, Usage

LIST_KEYS = ("messages", "input", "contents", "output")
REPLIES: tuple[tuple[str | int, ...], ...] = (
    ("message",),
    ("content",),
    ("output",),
    ("choices", 0, "message"),
    ("generations", 0, 0, "message"),
    ("generations", 0, "message"),
)
"""Where one message stands; of several answers that a call gave, the first."""


def said_in(value: Any, origin: Origin, role: Role, stem: str) -> list[CallMessage]:
    """The messages of a call's input or output, whatever stands there; ``role`` is whose it is without a role."""
    return spoken(_messages(decoded(value), origin), role, stem)


def spoken(messages: Iterable[tuple[Any, Origin]], role: Role, stem: str) -> list[CallMessage]:
    """Messages as a trace writes them; ``stem`` starts their ids: native ids of trace messages do not exist.

    Items of the Responses API that follow each other from the assistant are one message; a result that names no call
    answers the first one open.
    """
    found: list[CallMessage] = []
    unanswered: list[str] = []
    for position, (message, place) in enumerate(messages):
        contents, said_by = trace_contents(message), role_of_said(message, role)
        if not contents or is_definition(decoded(message)):
            continue
        unanswered += [c.call_id for c in contents if c.kind is Kind.TOOL_USE]
        contents = tuple(_answering(content, unanswered) for content in contents)
        joins = said_by is Role.ASSISTANT and is_item(decoded(message)) and found and found[-1].role is Role.ASSISTANT
        if joins:
            last = found.pop()
            contents, places = (*last.contents, *contents), (*last.origins, place)
        else:
            places = (place,)
        name = f"{stem}.{position + 1 - len(places)}" if stem else ""
        found.append(CallMessage(said_by, contents, places, name))
    return found


def _answering(content: Content, unanswered: list[str]) -> Content:
    if content.kind is not Kind.TOOL_RESULT or not unanswered:
        return content
    if not content.call_id:
        return with_id(content, unanswered.pop(0))
    if content.call_id in unanswered:
        unanswered.remove(content.call_id)
    return content


def result_said(value: Any, origin: Origin, call_id: str, name: str, *, is_error: bool = False) -> CallMessage:
    """The message that answers call ``call_id`` with what a tool's own span says it gave out."""
    contents = _result_contents(value, call_id)
    return CallMessage(Role.USER, tuple(replace(c, is_error=c.is_error or is_error) for c in contents), (origin,), name)


def _result_contents(value: Any, call_id: str) -> tuple[Content, ...]:
    held = decoded(value)
    told = trace_contents(first_said(held))
    if [content.kind for content in told] == [Kind.TOOL_RESULT]:
        return (with_id(told[0], call_id),)
    text = written(held)
    return (Content(Kind.TOOL_RESULT, text=text, call_id=call_id),)


def read_again(values: Iterable[Any], message: Message) -> tuple[Content, ...]:
    """The blocks of a message of a call, or of a tool's result that stands in a span of its own."""
    found = [content for value in values for content in trace_contents(value)]
    lone = message.blocks[0] if len(message.blocks) == 1 else None
    if lone and lone.kind is Kind.TOOL_RESULT and [content.kind for content in found] != [Kind.TOOL_RESULT]:
        found = [content for value in values for content in _result_contents(value, lone.call_id)]
        return tuple(replace(content, is_error=lone.is_error) for content in found)
    return as_read(found, message)


def usage_in(reply: Any) -> Usage | None:
    """Usage that stands in a provider's raw reply, in OpenAI's, Anthropic's or Gemini's words."""
    held = as_dict(decoded(reply))
    if held.get("type") == "message":
        return usage_of(held.get("usage"))
    return openai_usage(held.get("usage")) or gemini.gemini_usage(gemini.field_of(held, "usageMetadata"))


def told_in(value: Any) -> tuple[Content, ...]:
    """Instructions and tools that stand in a call's input beside its messages, or among them as definitions."""
    held = decoded(value)
    if isinstance(held, list):
        return tools_of([decoded(item["content"]) for item in held if is_definition(item)])
    record = as_dict(held)
    around = {**record, **as_dict(record.get("config"))}
    instructions = next((around[k] for k in ("instructions", "system") if isinstance(around.get(k), str)), None)
    declared = [
        tool
        for entry in as_list(decoded(around.get("tools")))
        for tool in as_list(as_dict(entry).get("function_declarations")) or [entry]
    ]
    return system_of(instructions or gemini.field_of(around, "systemInstruction")) + tools_of(declared)


def tools_of(value: Any) -> tuple[Content, ...]:
    """Tool definitions as their compact JSON under the tool's name."""
    return definitions([decoded(tool) for tool in as_list(decoded(value))], tool_name)


def system_of(value: Any) -> tuple[Content, ...]:
    """System instructions: a string, parts, or messages."""
    said = decoded(value)
    if isinstance(said, list) and said and all(is_message(item) for item in said):
        return tuple(content for item in said for content in chat_contents(item))
    return gemini.content_of(said) if isinstance(said, dict) and "parts" in said else parts_of(said)


def _messages(value: Any, origin: Origin) -> Iterator[tuple[Any, Origin]]:
    """The messages in a value: in a list, under the keys that frameworks keep them under, or the value itself."""
    path = _way(value)
    if path:
        yield from _messages(decoded(_at(value, path)), inside(origin, *path))
    elif isinstance(value, list) and any(_is_said(item) for item in value):
        for position, item in enumerate(value):
            yield item, inside(origin, position)
    elif value is not None:
        yield value, origin


def _way(value: Any) -> tuple[str | int, ...]:
    """The way to what a value says, where it wraps it; empty where it says it itself."""
    if isinstance(value, list):
        return (0, "message") if is_message(_at(value, (0, "message"))) else ()
    if not isinstance(value, dict) or _is_said(value):
        return ()
    for key in LIST_KEYS:
        held = decoded(value.get(key))
        if isinstance(held, list) and held and isinstance(held[0], list):
            return (key, 0)
        if isinstance(held, list) and any(_is_said(item) for item in held):
            return (key,)
    found = next((path for path in REPLIES if is_message(decoded(_at(value, path)))), ())
    return found or (("prompt",) if isinstance(value.get("prompt"), str) else ())


def first_said(value: Any) -> Any:
    """The first message in a value, None where it holds none."""
    return next((decoded(message) for message, _ in _messages(decoded(value), Origin(0, 0, 0))), None)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    """What stands at ``path``, None where nothing does."""
    for step in path:
        held = decoded(value)
        value = next(iter(as_list(held)), None) if isinstance(step, int) else as_dict(held).get(step)
    return value


def _is_said(value: Any) -> bool:
    return is_message(value) or is_item(value)
