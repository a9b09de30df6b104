"""Lines of Factory Droid: those of its store and the events of its stream, and their blocks (formats 26)."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._blocks import tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of, written
from sessions.engine.transcript.types import Content, Kind, Role

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
HEADER, COMPLETION = "session_start", "completion"
STATES = ("compaction_state", "todo_state")
OWN_BLOCKS = frozenset({"tool_use", "tool_result"})
EVENTS = frozenset({"system", "message", "tool_call", "tool_result", COMPLETION, "error"})


def is_stored(value: Record) -> bool:
    """A message of the store: linked, with a role and content."""
    message = as_dict(value.get("message"))
    return (
        value.get("type") == "message"
        and isinstance(value.get("id"), str)
        and text_of(message.get("role")) in ROLES
        and isinstance(message.get("content"), (str, list))
    )


def is_droid_line(value: Record) -> bool:
    """What only Droid's store has: its header, or linked messages with the Messages API's calls or results."""
    if text_of(value.get("type")) in STATES and "message" not in value:
        return isinstance(value.get("id"), str)
    if value.get("type") == HEADER:
        return isinstance(value.get("id"), str) and "message" not in value
    if not is_stored(value) or "parentId" not in value or "stopReason" in value["message"]:
        return False
    return any(text_of(as_dict(block).get("type")) in OWN_BLOCKS for block in as_list(value["message"]["content"]))


def is_event(value: Record) -> bool:
    """An event of the stream: its session, and what its type has to have."""
    kind = text_of(value.get("type"))
    if kind not in EVENTS or not isinstance(value.get("session_id"), str):
        return False
    if kind == "message":
        return text_of(value.get("role")) in ROLES and isinstance(value.get("text"), str)
    if kind == "tool_call":
        return isinstance(value.get("toolCallId"), str) and isinstance(value.get("toolName"), str)
    return kind != "tool_result" or isinstance(value.get("toolCallId"), str)


def is_own_event(value: Record) -> bool:
    """An event that no other agent's stream has."""
    return is_event(value) and value["type"] in ("message", "tool_call", COMPLETION)


def droid_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a stored message or of an event."""
    line = as_dict(value)
    if "message" in line and line.get("type") == "message":
        return contents_of(as_dict(line["message"]).get("content"))
    kind = text_of(line.get("type"))
    if kind == "tool_call":
        return (tool_use(line.get("parameters"), line.get("toolName"), line.get("toolCallId")),)
    if kind == "tool_result":
        result = line.get("value")
        text = written(result)
        failed = line.get("isError") is True
        return (Content(Kind.TOOL_RESULT, text, call_id=text_of(line.get("toolCallId")), is_error=failed),)
    said = text_of(line.get("finalText" if kind == COMPLETION else "text"))
    return (Content(Kind.TEXT, text=said),) if said else ()
