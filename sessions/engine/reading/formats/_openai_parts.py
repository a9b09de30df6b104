"""Content parts of OpenAI's two APIs and of Codex to ``Content`` (formats 5, 6 and 7).

Chat writes ``text``, ``image_url`` and ``file``; Responses writes ``input_text``, ``output_text``, ``input_image`` and
``input_file``.  Anything else is opaque with its JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, opaque
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


def parts_of(content: Any) -> tuple[Content, ...]:
    """Blocks of a message's ``content``: a string, a list of parts, or whatever else stands there."""
    return blocks_of(content, part_of)


def part_of(part: Any) -> Content:
    """One part; a string is text, anything unknown is opaque."""
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    if not isinstance(part, dict):
        return Content(Kind.OPAQUE, text=dumps(part))
    kind = text_of(part.get("type"))
    if kind in TEXT_TYPES and isinstance(part.get("text"), str):
        return Content(Kind.TEXT, text=part["text"])
    reader = _READERS.get(kind)
    return (reader(part) if reader else None) or opaque(part)


def plain_result(call_id: str, output: Any, *, name: str = "", is_error: bool = False) -> Content:
    """A tool's result: a string, or a list of parts."""
    if isinstance(output, str):
        return Content(Kind.TOOL_RESULT, text=output, name=name, call_id=call_id, is_error=is_error)
    return Content(Kind.TOOL_RESULT, name=name, call_id=call_id, is_error=is_error, parts=parts_of(output))


def _image(part: Record) -> Content | None:
    link = part.get("image_url")
    url = text_of(link.get("url")) if isinstance(link, dict) else text_of(link)
    url = url or text_of(part.get("file_id"))
    return media_link(url, kind=Kind.IMAGE) if url else None


def _file(part: Record) -> Content | None:
    inner = part.get("file")
    file = inner if isinstance(inner, dict) else part
    url = text_of(file.get("file_data")) or text_of(file.get("file_url")) or text_of(file.get("file_id"))
    if not url:
        return None
    found = media_link(url, "", Kind.DOCUMENT, text_of(file.get("filename")))
    is_image = found.media_type.startswith("image/")
    return Content(Kind.IMAGE, media_type=found.media_type, data=found.data) if is_image else found


def _refusal(part: Record) -> Content | None:
    return Content(Kind.TEXT, text=part["refusal"]) if isinstance(part.get("refusal"), str) else None


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "image_url": _image,
    "input_image": _image,
    "computer_screenshot": _image,
    "file": _file,
    "input_file": _file,
    "refusal": _refusal,
}
