"""How frameworks write a message into a trace: as the Responses API, Gemini, the AI SDK, LangChain, agno or koog do.

Each is brought to a role and blocks (formats 16).  A value that is none of them is a chat message, text, or opaque.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import _ai_sdk_parts as ai_sdk
from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats import _langchain_messages as langchain
from sessions.engine.reading.formats._chat_blocks import call_of, chat_contents, is_result, parts_of, role_of
from sessions.engine.reading.formats._items import ITEM_TYPES, item_contents, item_role
from sessions.engine.reading.formats._python_repr import fields_from_repr
from sessions.engine.reading.formats._values import Record, as_dict, as_list, parsed, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role

MESSAGE_KEYS = ("content", "parts", "tool_calls", "message")
GEMINI_KEYS = frozenset(
    {"text", "function_call", "functionCall", "function_response", "functionResponse", "inlineData"}
)
AI_SDK_TYPES = ("tool-call", "tool-result")


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
    kind = text_of(as_dict(value).get("type"))
    return kind in ITEM_TYPES and "role" not in value


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
    return (fields_from_repr(value) or value) if isinstance(value, str) else value


def _message_contents(message: Record) -> tuple[Content, ...]:
    held = decoded(message.get("content"))
    parts = as_list(message.get("parts"))
    if any(isinstance(part, dict) and "type" not in part and part.keys() & GEMINI_KEYS for part in parts):
        return gemini.parts_of(parts)
    if any(as_dict(part).get("type") in AI_SDK_TYPES for part in as_list(held)):
        return ai_sdk.parts_of(held, role_of(message))
    extra = as_dict(message.get("additional_kwargs")).get("tool_calls")
    calls = as_list(decoded(message.get("tool_calls"))) or as_list(decoded(extra))
    if calls:
        message = {**message, "tool_calls": calls}
    said = message.get("content")
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
