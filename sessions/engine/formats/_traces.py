"""What traces have in common: JSON in strings, model calls as spans, their messages and their order (formats 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.formats._calls import CallMessage
from sessions.engine.formats._chat_blocks import chat_contents, parts_of, role_of
from sessions.engine.formats._records import inside
from sessions.engine.formats._values import text_of
from sessions.engine.jsonio import JsonProblem, dumps, loads
from sessions.engine.types import Content, Kind, Origin, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGE_KEYS = ("messages", "input", "contents")


def decoded(value: Any) -> Any:
    """``value``, or what the JSON in it says where it is a string that holds an object, a list or a string."""
    while isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            value = loads(value.encode("utf-8", "replace"))
        except JsonProblem:
            break
    return value


def is_message(value: Any) -> bool:
    """Whether a value is a chat message: a role with content, parts or tool calls."""
    keys = ("content", "parts", "tool_calls", "message")
    return isinstance(value, dict) and isinstance(value.get("role"), str) and any(key in value for key in keys)


def said_in(value: Any, origin: Origin, role: Role, stem: str) -> list[CallMessage]:
    """The messages of a call's input or output, whatever stands there; ``role`` is whose it is without a role.

    ``stem`` starts their ids: native ids of trace messages do not exist.
    """
    found = []
    for position, (message, place) in enumerate(_messages(decoded(value), origin)):
        contents = trace_contents(message)
        if contents:
            found.append(
                CallMessage(role_of_said(message, role), contents, (place,), f"{stem}.{position}" if stem else "")
            )
    return found


def trace_contents(message: Any) -> tuple[Content, ...]:
    """The blocks of a message, or the text or JSON of what is none."""
    value = decoded(message)
    if is_message(value) or (isinstance(value, dict) and isinstance(value.get("content"), (str, list))):
        return chat_contents(value)
    if isinstance(value, str):
        return parts_of(value)
    return () if value is None or value in ({}, []) else (Content(Kind.OPAQUE, text=dumps(value)),)


def role_of_said(message: Any, role: Role) -> Role:
    """Whose a message is; ``role`` where it does not say."""
    return role_of(message) if is_message(message) else role


def tools_of(value: Any) -> tuple[Content, ...]:
    """Tool definitions as their compact JSON under the tool's name."""
    tools = decoded(value)
    return tuple(
        Content(Kind.TEXT, text=dumps(tool), name=tool_name(tool))
        for tool in (tools if isinstance(tools, list) else [])
    )


def tool_name(tool: Any) -> str:
    """The name in a tool definition of OpenAI's, Anthropic's or MCP's."""
    function = tool.get("function") if isinstance(tool, dict) else None
    named = function if isinstance(function, dict) else tool
    return text_of(named.get("name")) if isinstance(named, dict) else ""


def system_of(value: Any) -> tuple[Content, ...]:
    """System instructions: a string, parts, or messages."""
    said = decoded(value)
    if isinstance(said, list) and said and all(is_message(item) for item in said):
        return tuple(content for item in said for content in chat_contents(item))
    return parts_of(said)


def _messages(value: Any, origin: Origin) -> Iterator[tuple[Any, Origin]]:
    if isinstance(value, dict):
        for key in MESSAGE_KEYS:
            held = decoded(value.get(key))
            if isinstance(held, list) and any(is_message(item) for item in held):
                yield from _messages(held, inside(origin, key))
                return
        if is_message(value.get("message")):
            yield value["message"], inside(origin, "message")
            return
    if isinstance(value, list) and any(is_message(item) for item in value):
        for position, item in enumerate(value):
            yield item, inside(origin, position)
        return
    if value is not None:
        yield value, origin
