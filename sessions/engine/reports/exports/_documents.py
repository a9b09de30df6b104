"""What the documents share: written piece by piece, without what no request has, in blocks of the Messages API.

These are the other direction of ``formats._anthropic_blocks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sessions.engine.models.model_info import model_info
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from sessions.engine.transcript.types import Content, Kind

if TYPE_CHECKING:
    from sessions.engine.reports.exports import Listing, Report

DEFAULT_MAX_TOKENS = 8_192


def document(head: dict[str, Any], messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A JSON object of ``head`` and ``messages``, one message at a time, one a line."""
    opening = dumps(head).removesuffix("}")
    yield f'{opening}{"," if head else ""}"messages":['
    separator = "\n"
    for message in messages:
        yield separator + dumps(message)
        separator = ",\n"
    yield "\n]}\n"


def most_output(model: str) -> int:
    """What a reply of the model may have, in tokens; 8,192 where it is not known: requests have to say something."""
    info = model_info(model)
    return (info.max_output if info.known else 0) or DEFAULT_MAX_TOKENS


def kept_contents(contents: Iterable[Content], report: Report) -> list[Content]:
    """The blocks without empty ones, which no API takes."""
    kept = []
    for content in contents:
        if content.kind is Kind.TEXT and not content.text:
            report.lose("blocks of empty text")
        elif content.kind in (Kind.IMAGE, Kind.DOCUMENT) and not (
            content.data or content.url or content.text or content.parts
        ):
            report.lose("images and documents that the file does not hold")
        else:
            kept.append(content)
    return kept


def lose_facts(listing: Listing, report: Report) -> None:
    """Count what stands beside the messages and has no place in a request."""
    report.lose("blocks of the system prompt and tool definitions", len(listing.transcript.system))
    replies = [entry.reply for entry in listing.entries if entry.reply]
    report.lose("reported usages", sum(r.usage is not None for r in (*replies, *listing.elsewhere)))
    report.lose("recorded compactions", len(listing.transcript.compactions) if listing.whole else 0)
    report.lose("requests without a message", len(listing.elsewhere))


Json = dict[str, Any]


def messages_block(content: Content) -> Json:
    """One block as the Messages API writes it; what the API has no block for is as near as it gets."""
    return _WRITERS[content.kind](content)


def json_object(text: str) -> Json | None:
    """The JSON object in ``text``, None where there is none."""
    try:
        value = loads(text.encode("utf-8", "replace"))
    except JsonProblem:
        return None
    return value if isinstance(value, dict) else None


def _text(content: Content) -> Json:
    if content.name == "compaction":
        return {"type": "compaction", "content": content.text}
    return {"type": "text", "text": content.text}


def _thinking(content: Content) -> Json:
    return {"type": "thinking", "thinking": content.text, "signature": content.payload}


def _tool_use(content: Content) -> Json:
    arguments = json_object(content.text)
    if arguments is None:
        arguments = {"arguments": content.text} if content.text else {}
    return {"type": "tool_use", "id": content.call_id, "name": content.name, "input": arguments}


def _tool_result(content: Content) -> Json:
    said: Any = content.text
    if content.parts:
        texts = [{"type": "text", "text": content.text}] if content.text else []
        said = texts + [messages_block(part) for part in content.parts]
    block: Json = {"type": "tool_result", "tool_use_id": content.call_id, "content": said}
    return block | {"is_error": True} if content.is_error else block


def _media(content: Content) -> Json:
    block: Json = {"type": content.kind.value, "source": _source(content)}
    return block | {"title": content.name} if content.name and content.kind is Kind.DOCUMENT else block


def _source(content: Content) -> Json:
    if content.data:
        return {"type": "base64", "media_type": content.media_type, "data": content.data}
    if content.url:
        linked = "://" in content.url or content.url.startswith("data:")
        return {"type": "url", "url": content.url} if linked else {"type": "file", "file_id": content.url}
    if content.parts:
        return {"type": "content", "content": [messages_block(part) for part in content.parts]}
    return {"type": "text", "media_type": content.media_type or "text/plain", "data": content.text}


def _opaque(content: Content) -> Json:
    if content.name == "redacted_thinking" and content.payload:
        return {"type": "redacted_thinking", "data": content.payload}
    block = json_object(content.text)
    if block is None:
        return {"type": "text", "text": content.text or dumps({"type": content.name})}
    return block | {"encrypted_content": content.payload} if content.payload else block


_WRITERS: dict[Kind, Callable[[Content], Json]] = {
    Kind.TEXT: _text, Kind.THINKING: _thinking, Kind.TOOL_USE: _tool_use, Kind.TOOL_RESULT: _tool_result,
    Kind.IMAGE: _media, Kind.DOCUMENT: _media, Kind.OPAQUE: _opaque,
}  # fmt: skip
