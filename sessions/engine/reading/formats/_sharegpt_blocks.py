"""Messages of training sets to blocks: ``from``/``value`` turns and chat messages with ``value`` parts (formats 19)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.reading.formats._blocks import result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import chat_contents, part_of
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from sessions.engine.transcript.types import Content, Kind, Role

ROLES = {
    **dict.fromkeys(("human", "user", "observation", "tool", "function_response"), Role.USER),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard", "function_call"), Role.ASSISTANT),
    "system": Role.SYSTEM,
}
CALLS = frozenset({"function_call"})
RESULTS = frozenset({"observation", "function_response", "tool"})
PLACEHOLDER = "<image>"
TEXT_KINDS = {"text": Kind.TEXT, "reasoning": Kind.THINKING}
IMAGE_TYPES = frozenset({"image_url", "image"})


def turn_contents(turn: Any, images: Sequence[Any] = ()) -> tuple[Content, ...]:
    """The blocks of a turn; each ``<image>`` in its text stands for one of ``images``, in order."""
    if not isinstance(turn, dict):
        return (Content(Kind.OPAQUE, text=dumps(turn)),)
    who = speaker(turn)
    if "value" in turn:
        said = _said(who, turn["value"])
    elif isinstance(turn.get("content"), list):
        parts = tuple(_part(part) for part in turn["content"])
        said = (result_of(parts, turn.get("tool_call_id")),) if who in RESULTS else parts
        said += chat_contents({**turn, "content": None}) if turn.get("tool_calls") else ()
    else:
        said = chat_contents(turn)
    return _with_images(said, images) if images else said


def speaker(turn: Record) -> str:
    """Who a turn says it is from."""
    return text_of(turn.get("from")) or text_of(turn.get("role"))


def n_placeholders(turn: Any) -> int:
    """How many images a turn's text stands for."""
    said = (turn.get("value"), turn.get("content")) if isinstance(turn, dict) else ()
    return sum(text.count(PLACEHOLDER) for text in said if isinstance(text, str))


def _said(who: str, value: Any) -> tuple[Content, ...]:
    text = value if isinstance(value, str) else dumps(value)
    if who in CALLS:
        return _calls(text)
    if who in RESULTS:
        return (Content(Kind.TOOL_RESULT, text=text),)
    return (Content(Kind.TEXT, text=text),) if text else ()


def _calls(text: str) -> tuple[Content, ...]:
    """Calls written as JSON: one, or a list; text that is none stays text."""
    try:
        value = loads(text.encode("utf-8", "replace"))
    except JsonProblem:
        return (Content(Kind.TEXT, text=text),)
    calls = value if isinstance(value, list) else [value]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return (Content(Kind.TEXT, text=text),)
    return tuple(tool_use(call.get("arguments"), call["name"], call.get("id")) for call in calls)


def _part(part: Any) -> Content:
    """A part with its content in ``value``; any other as chat APIs write it."""
    value = part.get("value") if isinstance(part, dict) else None
    kind = text_of(part.get("type")) if isinstance(part, dict) else ""
    if not isinstance(value, str):
        return part_of(part)
    if kind in TEXT_KINDS:
        return Content(TEXT_KINDS[kind], text=value)
    if kind == "tool_call":
        found = _calls(value)
        return found[0] if len(found) == 1 else Content(Kind.OPAQUE, text=value, name=kind)
    return media_link(value, kind=Kind.IMAGE) if kind in IMAGE_TYPES and value else part_of(part)


def _with_images(said: Sequence[Content], images: Sequence[Any]) -> tuple[Content, ...]:
    waiting = [_image(image) for image in images]
    found: list[Content] = []
    for content in said:
        if content.kind is not Kind.TEXT or not waiting:
            found.append(content)
            continue
        pieces = content.text.split(PLACEHOLDER, len(waiting))
        for number, piece in enumerate(pieces):
            found += [waiting.pop(0)] if number else []
            found += [Content(Kind.TEXT, text=piece)] if piece else []
    return (*found, *waiting)


def _image(image: Any) -> Content:
    """A path or address, or Hugging Face's ``{"path", "bytes"}``."""
    if isinstance(image, dict):
        if text_of(image.get("bytes")):
            return Content(Kind.IMAGE, data=image["bytes"], url=text_of(image.get("path")))
        image = image.get("path") or image.get("url")
    return (
        media_link(image, kind=Kind.IMAGE)
        if isinstance(image, str)
        else Content(Kind.OPAQUE, text=dumps(image), name="image")
    )
