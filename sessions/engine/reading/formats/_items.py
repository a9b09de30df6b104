"""Items of the Responses API, which are also Codex's response items, to ``Content`` (formats 6 and 7).

Encrypted reasoning and compaction items are payload: bytes, never tokens (replay-semantics 1).  Server-side calls
(``web_search_call`` and the like) have no ``call_id`` and no result of their own.

Chat writes ``text``, ``image_url`` and ``file``; Responses writes ``input_text``, ``output_text``, ``input_image`` and
``input_file``.  Anything else is opaque with its JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._blocks import blocks_of, media_link, opaque, target_of, whole_result
from sessions.engine.reading.formats._values import Record, as_dict, parsed, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
ROLES = {"assistant": Role.ASSISTANT, "developer": Role.SYSTEM, "system": Role.SYSTEM}
COMPACTION_TYPES = frozenset({"compaction", "compaction_summary", "context_compaction"})
ITEM_TYPES = (
    frozenset(
        words("""
    message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
    local_shell_call local_shell_call_output web_search_call file_search_call computer_call computer_call_output
    code_interpreter_call image_generation_call mcp_call mcp_list_tools mcp_approval_request
    mcp_approval_response item_reference
""")
    )
    | COMPACTION_TYPES
)
_CALL_PARTS = ("arguments", "input", "action", "queries", "code")


def parts_of(content: Any) -> tuple[Content, ...]:
    """Blocks of a message's ``content``: a string, a list of parts, or whatever else stands there."""
    return blocks_of(content, part_of)


def part_of(part: Any) -> Content:
    """One part; a string is text, anything unknown is opaque."""
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    if not isinstance(part, dict):
        return opaque(part)
    kind = text_of(part.get("type"))
    if kind in TEXT_TYPES and isinstance(part.get("text"), str):
        return Content(Kind.TEXT, text=part["text"])
    reader = _READERS.get(kind)
    return (reader(part) if reader else None) or opaque(part)


def plain_result(call_id: str, output: Any, *, is_error: bool = False) -> Content:
    """A tool's result: a string, or a list of parts."""
    return whole_result(output, call_id, part_of, is_error=is_error)


def _image(part: Record) -> Content | None:
    link = part.get("image_url")
    url = text_of(as_dict(link).get("url")) or text_of(link) or text_of(part.get("file_id"))
    return media_link(url, kind=Kind.IMAGE) if url else None


def _file(part: Record) -> Content | None:
    file: Record = part["file"] if isinstance(part.get("file"), dict) else part
    url = next((url for key in ("file_data", "file_url", "file_id") if (url := text_of(file.get(key)))), "")
    if not url:
        return None
    found = media_link(url, "", Kind.DOCUMENT, text_of(file.get("filename")))
    is_image = found.media_type.startswith("image/")
    return Content(Kind.IMAGE, media_type=found.media_type, data=found.data) if is_image else found


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "image_url": _image,
    "input_image": _image,
    "computer_screenshot": _image,
    "file": _file,
    "input_file": _file,
    "refusal": lambda part: Content(Kind.TEXT, text=part["refusal"]) if isinstance(part.get("refusal"), str) else None,
}


def item_type(item: Record) -> str:
    """The item's type; an item with a role and no type is a message."""
    return text_of(item.get("type")) or ("message" if isinstance(item.get("role"), str) else "")


def item_role(item: Record) -> Role:
    """Who an item is from: calls and reasoning from the assistant, results and compaction items from the user."""
    kind = item_type(item)
    if kind == "message":
        return ROLES.get(text_of(item.get("role")), Role.USER)
    if kind in COMPACTION_TYPES or kind.endswith(("_output", "_approval_response")) or kind == "item_reference":
        return Role.USER
    return Role.ASSISTANT


def item_contents(item: Any) -> tuple[Content, ...]:
    """The blocks of one item; an unknown one is opaque."""
    if not isinstance(item, dict):
        return parts_of(item)
    kind = item_type(item)
    if kind == "message":
        return parts_of(item.get("content"))
    if kind == "reasoning":
        text = "\n".join(piece.text for key in ("summary", "content") for piece in parts_of(item.get(key)))
        return (Content(Kind.THINKING, text=text, payload=text_of(item.get("encrypted_content"))),)
    if kind.endswith("_call_output"):
        failed = text_of(item.get("status")) in ("failed", "incomplete")
        return (plain_result(text_of(item.get("call_id")), item.get("output"), is_error=failed),)
    if kind.endswith("_call"):
        return (_call(item, kind),)
    return (opaque(item, kind),)


def call_content(name: str, call_id: str, arguments: Any) -> Content:
    """A tool call; its arguments are JSON in a string, free text, or a JSON value."""
    value = parsed(arguments, arguments) if isinstance(arguments, str) else arguments
    text = value if isinstance(value, str) else dumps(value)
    held = as_dict(value)
    command: Any = held.get("command")
    # A command that is a list, as Codex's shell tool takes it.
    is_listed = isinstance(command, list) and all(isinstance(word, str) for word in command)
    target = target_of(value) or target_of({"command": " ".join(command) if is_listed else held.get("cmd")})
    return Content(Kind.TOOL_USE, text=text if arguments is not None else "", name=name, call_id=call_id, target=target)


def _call(item: Record, kind: str) -> Content:
    name = text_of(item.get("name")) or kind.removesuffix("_call")
    arguments = next((item[key] for key in _CALL_PARTS if item.get(key) is not None), None)
    if arguments is None:
        arguments = {key: value for key, value in item.items() if key not in ("type", "id", "call_id", "status")}
    return call_content(name, text_of(item.get("call_id")), arguments)
