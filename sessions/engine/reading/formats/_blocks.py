"""What blocks of every format have in common: unknown ones, typed prompts, and what a tool call is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from sessions.engine.transcript.types import Content, Kind

TARGET_KEYS = ("file_path", "path", "notebook_path", "command", "pattern", "url")
TARGET_CHARS, MAX_ARGUMENT_CHARS = 200, 100_000
PAYLOAD_KEYS = ("encrypted_content", "encrypted_index", "signature")


def opaque(block: Record, name: str = "") -> Content:
    """An unknown block: its compact JSON, with encrypted parts taken out as payload."""
    payload = "".join(text_of(block.get(key)) for key in PAYLOAD_KEYS)
    rest = {key: value for key, value in block.items() if key not in PAYLOAD_KEYS} if payload else block
    return Content(Kind.OPAQUE, text=dumps(rest), name=name or text_of(block.get("type")), payload=payload)


def is_prompt(contents: Iterable[Content]) -> bool:
    """Whether a user's blocks can be a typed prompt: something said or shown, and no tool result."""
    kinds = {content.kind for content in contents}
    return Kind.TOOL_RESULT not in kinds and bool(kinds & {Kind.TEXT, Kind.IMAGE, Kind.DOCUMENT})


def target_of(arguments: Any) -> str:
    """The file, command, pattern or address a tool call names, at most 200 characters."""
    if not isinstance(arguments, dict):
        return ""
    return next((text_of(arguments[key])[:TARGET_CHARS] for key in TARGET_KEYS if text_of(arguments.get(key))), "")


def blocks_of(content: Any, part: Callable[[Any], Content]) -> tuple[Content, ...]:
    """A message's ``content``: a string, a list of what ``part`` reads, or whatever else stands there."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Content(Kind.TEXT, text=content),)
    return tuple(part(value) for value in (content if isinstance(content, list) else [content]))


def tool_use(arguments: Any, name: Any, call_id: Any, payload: str = "") -> Content:
    """A tool call whose ``arguments`` are a value, or JSON as it was written; name and id where they are strings."""
    text = arguments if isinstance(arguments, str) else dumps(arguments) if arguments is not None else ""
    return Content(Kind.TOOL_USE, text, text_of(name), text_of(call_id), payload, target=target_of(_value(arguments)))


def result_of(said: tuple[Content, ...], call_id: Any, *, is_error: bool = False, name: str = "") -> Content:
    """A tool's result: one plain text as its text, anything else as its parts."""
    plain = len(said) == 1 and said[0].kind is Kind.TEXT and not said[0].name
    text, parts = (said[0].text, ()) if plain else ("", said)
    return Content(Kind.TOOL_RESULT, text=text, call_id=text_of(call_id), is_error=is_error, name=name, parts=parts)


def _value(arguments: Any) -> Any:
    """The value of arguments that are JSON in a string; too long a string names nothing."""
    if not isinstance(arguments, str) or len(arguments) > MAX_ARGUMENT_CHARS or not arguments.startswith("{"):
        return arguments
    try:
        return loads(arguments.encode("utf-8", "replace"))
    except JsonProblem:
        return None
