"""The messages of Amazon Q Developer CLI and Kiro CLI to ``Content``: what was sent, what came back (formats 82)."""

from __future__ import annotations

import base64
from typing import Any

from sessions.engine.reading.formats._blocks import definitions, opaque, result_of, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of, written
from sessions.engine.transcript.types import Content, Kind

ASKED, ANSWERED = ("Prompt", "ToolUseResults", "CancelledToolUses"), ("ToolUse", "Response")


def q_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a user's message, of an answer, or of a summary."""
    if isinstance(value, str):
        return (Content(Kind.TEXT, text=value),) if value else ()
    message = as_dict(value)
    found: list[Content] = []
    for kind, held in (message | as_dict(message.get("content"))).items():
        inner = as_dict(held)
        if kind in ANSWERED:
            found += _answer(inner)
        elif kind in ASKED:
            found += [_result(as_dict(result)) for result in as_list(inner.get("tool_use_results"))]
            found += [Content(Kind.TEXT, text=text) for text in [text_of(inner.get("prompt"))] if text]
    found += [_image(as_dict(image)) for image in as_list(message.get("images"))]
    beside = text_of(message.get("additional_context"))
    return (*found, *([Content(Kind.TEXT, text=beside)] if beside else []))


def _answer(inner: Record) -> list[Content]:
    thinking = as_dict(inner.get("thinking"))
    thought = as_dict(next((held for held in thinking.values() if isinstance(held, dict)), thinking))
    text, said = text_of(thought.get("text")), text_of(inner.get("content"))
    found = [Content(Kind.THINKING, text=text, payload=text_of(thought.get("signature")))] if thinking else []
    found += [Content(Kind.TEXT, text=said)] if said else []
    calls = [as_dict(call) for call in as_list(inner.get("tool_uses"))]
    return [*found, *(tool_use(call.get("args"), call.get("name"), call.get("id")) for call in calls)]


def _result(result: Record) -> Content:
    parts = [as_dict(part) for part in as_list(result.get("content"))]
    said = [written(part["Text"] if "Text" in part else part.get("Json", part)) for part in parts]
    texts = tuple(Content(Kind.TEXT, text=text) for text in said)
    return result_of(texts, result.get("tool_use_id"), is_error=result.get("status") == "Error")


def _image(image: Record) -> Content:
    """A picture, whose bytes are a list of numbers."""
    source = as_dict(image.get("source"))
    held = as_list(source.get("bytes") or source.get("Bytes"))
    if not held or not all(isinstance(byte, int) and 0 <= byte < 256 for byte in held):
        return opaque(image, "image")
    data = base64.b64encode(bytes(held)).decode("ascii")
    return Content(Kind.IMAGE, media_type=f"image/{text_of(image.get('format')).lower() or 'png'}", data=data)


def of_answer(assistant: Record, key: str) -> str:
    """A text of an answer, of whichever kind it is."""
    return next((text_of(as_dict(held).get(key)) for kind, held in assistant.items() if kind in ANSWERED), "")


def q_tools(record: Record) -> tuple[Content, ...]:
    """Definitions of the tools that every request sends, by where they come from."""
    listed = [tool for tools in as_dict(record.get("tools")).values() for tool in as_list(tools)]
    return definitions([as_dict(tool).get("ToolSpecification", tool) for tool in listed])
