"""What traces have in common: JSON in strings, model calls as spans, their messages and their order (formats 16).

Messages may be written as the Responses API, Gemini, the AI SDK, LangChain, agno or koog do; each is brought to a role
and blocks.  A value that is none of them is a chat message, text, or opaque.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import _ai_sdk_parts as ai_sdk
from sessions.engine.reading.formats import _converse as converse
from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats import _langchain_messages as langchain
from sessions.engine.reading.formats._blocks import as_read, definitions, with_id
from sessions.engine.reading.formats._calls import CallMessage
from sessions.engine.reading.formats._chat_blocks import call_of, chat_contents, is_result, parts_of, role_of
from sessions.engine.reading.formats._counts import openai_usage, usage_of
from sessions.engine.reading.formats._items import ITEM_TYPES, item_contents, item_role
from sessions.engine.reading.formats._python_repr import fields_from_repr
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, parsed, text_of, written
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Role, Usage

MESSAGE_KEYS = ("content", "parts", "tool_calls", "message")
GEMINI_KEYS = frozenset(
    {"text", "function_call", "functionCall", "function_response", "functionResponse", "inlineData"}
)
LIST_KEYS = ("messages", "input", "contents", "output")
CACHE_READ_KEYS = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.details.cache_read_tokens",
    "ai.usage.cachedInputTokens",
)
"""Attributes of a span that count what was read from a cache, a part of the input."""
STRANDS = frozenset({"message", "finish_reason", "tool.result"})
"""Around the blocks that Strands gives out for its spans."""
REPLIES: tuple[Path, ...] = (
    ("message",),
    ("content",),
    ("output",),
    ("choices", 0, "message"),
    ("candidates", 0, "content"),
    ("generations", 0, 0, "message"),
    ("generations", 0, "message"),
)
"""Where one message stands; of several answers that a call gave, the first."""


def decoded(value: Any) -> Any:
    """``value``, or what the JSON in it says where it is a string that holds an object, a list or a string."""
    while isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        found = parsed(value, value)
        if found is value:
            break
        value = found
    return value


def is_message(value: Any) -> bool:
    """Whether a value is a chat message: a role with content, parts or tool calls, also as Python writes its fields."""
    if isinstance(value, str):
        return fields_from_repr(value) is not None
    if langchain.shape_of(value):
        return True
    return isinstance(value, dict) and isinstance(value.get("role"), str) and any(key in value for key in MESSAGE_KEYS)


def is_item(value: Any) -> bool:
    """Whether a value is an item of the Responses API that has no role: a call, its result, reasoning."""
    return text_of(as_dict(value).get("type")) in ITEM_TYPES and "role" not in value


def is_definition(value: Any) -> bool:
    """A tool's definition among the messages, as LangChain's tracer writes them."""
    held = as_dict(value)
    inner = as_dict(decoded(held.get("content")))
    named = as_dict(inner.get("function")).get("name")
    return held.get("role") == "tool" and inner.get("type") == "function" and bool(named) and "id" not in inner


def role_of_said(message: Any, role: Role) -> Role:
    """Whose a message is; ``role`` where it does not say."""
    value = _fields(message)
    if langchain.shape_of(value):
        return role_of(langchain.fields_of(value))
    if is_item(value):
        return item_role(value)
    if _calls_in(value):
        return Role.ASSISTANT
    return role_of(value) if is_message(value) else role


def trace_contents(message: Any) -> tuple[Content, ...]:
    """The blocks of a message, or the text or JSON of what is none."""
    value = _fields(message)
    if langchain.shape_of(value):
        return langchain.langchain_contents(value)
    if is_item(value):
        return item_contents(value)
    if calls := _calls_in(value):
        return tuple(call_of(call) if "function" in call else ai_sdk.call_of(call) for call in calls)
    if is_message(value) or (isinstance(value, dict) and isinstance(value.get("content"), (str, list))):
        return _message_contents(value)
    if isinstance(value, str):
        return parts_of(value)
    return () if value is None or value in ({}, []) else (Content(Kind.OPAQUE, text=dumps(value)),)


def _fields(message: Any) -> Any:
    """A message with its JSON read, and its fields where it is written as Python writes them."""
    value = decoded(message)
    if isinstance(value, dict) and value.keys() <= STRANDS and value.get("message"):
        value = decoded(value["message"])
    if isinstance(value, list) and value and all(map(converse.is_block, value)):
        return {"content": value}
    return (fields_from_repr(value) or value) if isinstance(value, str) else value


def _message_contents(message: Record) -> tuple[Content, ...]:
    held = decoded(message.get("content"))
    parts = as_list(message.get("parts"))
    if any(isinstance(part, dict) and "type" not in part and part.keys() & GEMINI_KEYS for part in parts):
        return gemini.parts_of(parts)
    if any(as_dict(part).get("type") in ("tool-call", "tool-result") for part in as_list(held)):
        return ai_sdk.parts_of(held, role_of(message))
    message = (
        converse.message_of({**message, "content": held}) if any(map(converse.is_block, as_list(held))) else message
    )
    extra = as_dict(message.get("additional_kwargs")).get("tool_calls")
    if calls := as_list(decoded(message.get("tool_calls"))) or as_list(decoded(extra)):
        message = {**message, "tool_calls": calls}
    said = message.get("content")
    if message.get("role") == "tool" and "tool_call_id" not in message and text_of(message.get("id")):
        message = {**message, "tool_call_id": message["id"]}
    if is_result(message) and isinstance(said, (dict, list)) and not any("type" in as_dict(part) for part in said):
        message = {**message, "content": dumps(said)}
    return chat_contents(message)


def _calls_in(value: Any) -> list[Any]:
    """Calls where a message should be: the AI SDK's list of its results, or koog's in the content of a message."""
    if isinstance(value, dict):
        value = decoded(value.get("content")) if value.get("role") in ("assistant", "tool") else None
    held = decoded(value)
    return held if isinstance(held, list) and held and all(_is_call(item) for item in held) else []


def _is_call(value: Any) -> bool:
    held = as_dict(value)
    if isinstance(held.get("toolCallId"), str) and isinstance(held.get("toolName"), str):
        return "type" not in held or held["type"] == "tool-call"
    return held.get("type") == "function" and "arguments" in as_dict(held.get("function")) and "id" in held


def said_in(value: Any, origin: Origin, role: Role, stem: str) -> list[CallMessage]:
    """The messages of a call's input or output, whatever stands there; ``role`` is whose it is without a role."""
    return spoken(_messages(decoded(value), origin), role, stem)


def replied_in(value: Any, origin: Origin, stem: str) -> list[CallMessage]:
    """Those of a call's output that are the assistant's."""
    return [said for said in said_in(value, origin, Role.ASSISTANT, stem) if said.role is Role.ASSISTANT]


def spoken(messages: Iterable[tuple[Any, Origin]], role: Role, stem: str) -> list[CallMessage]:
    """Messages as a trace writes them; ``stem`` starts their ids: native ids of trace messages do not exist.

    Items of the Responses API that follow each other from the assistant are one message; a result that names no call
    answers the first one open.
    """
    found: list[tuple[Role, list[Content], list[Origin], list[int]]] = []
    unanswered: list[str] = []
    for position, (message, place) in enumerate(messages):
        contents, said_by = trace_contents(message), role_of_said(message, role)
        if not contents or is_definition(decoded(message)):
            continue
        unanswered += [c.call_id for c in contents if c.kind is Kind.TOOL_USE]
        joins = said_by is Role.ASSISTANT and is_item(decoded(message)) and found and found[-1][0] is Role.ASSISTANT
        if not joins:
            found.append((said_by, [], [], []))
        _, said, places, positions = found[-1]
        said += [_answering(content, unanswered) for content in contents]
        places.append(place)
        positions.append(position)
    return [
        CallMessage(said_by, tuple(said), tuple(places), f"{stem}.{at[-1] + 1 - len(at)}" if stem else "")
        for said_by, said, places, at in found
    ]


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
    return (Content(Kind.TOOL_RESULT, text=written(held), call_id=call_id),)


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
    return system_of(instructions or gemini.field_of(around, "systemInstruction")) + tools_of(around.get("tools"))


def tools_of(value: Any) -> tuple[Content, ...]:
    """Tool definitions as their compact JSON under the tool's name; Gemini's are lists of declarations."""
    entries = [decoded(tool) for tool in as_list(decoded(value))]
    declared = [as_list(gemini.field_of(as_dict(entry), "functionDeclarations")) or [entry] for entry in entries]
    return definitions([tool for tools in declared for tool in tools])


def system_of(value: Any) -> tuple[Content, ...]:
    """System instructions: a string, parts, or messages."""
    said = decoded(value)
    if isinstance(said, list) and said and all(is_message(item) for item in said):
        return tuple(content for item in said for content in chat_contents(item))
    return gemini.content_of(said) if isinstance(said, dict) and "parts" in said else parts_of(said)


def _messages(value: Any, origin: Origin) -> Iterator[tuple[Any, Origin]]:
    """The messages in a value: in a list, under the keys that frameworks keep them under, or the value itself."""
    if path := _way(value):
        yield from _messages(decoded(value_at(value, path)), inside(origin, *path))
    elif isinstance(value, list) and any(_is_said(item) for item in value):
        for position, item in enumerate(value):
            yield item, inside(origin, position)
    elif value is not None:
        yield value, origin


def _way(value: Any) -> Path:
    """The way to what a value says, where it wraps it; empty where it says it itself."""
    if isinstance(value, list):
        return (0, "message") if is_message(value_at(value, (0, "message"))) else ()
    if not isinstance(value, dict) or _is_said(value):
        return ()
    for key in LIST_KEYS:
        held = decoded(value.get(key))
        if isinstance(held, list) and held and isinstance(held[0], list):
            return (key, 0)
        if isinstance(held, list) and any(_is_said(item) for item in held):
            return (key,)
    found = next((path for path in REPLIES if is_message(decoded(value_at(value, path)))), ())
    return found or (("prompt",) if isinstance(value.get("prompt"), str) else ())


def first_said(value: Any) -> Any:
    """The first message in a value, None where it holds none."""
    return next((decoded(message) for message, _ in _messages(decoded(value), Origin(0, 0, 0))), None)


def value_at(value: Any, path: Path) -> Any:
    """What stands at ``path``, JSON in strings read on the way; None where nothing does."""
    for step in path:
        held = decoded(value)
        value = next(iter(as_list(held)), None) if isinstance(step, int) else as_dict(held).get(step)
    return value


def _is_said(value: Any) -> bool:
    return is_message(value) or is_item(value)
