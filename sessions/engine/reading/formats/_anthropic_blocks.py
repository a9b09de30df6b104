"""Messages API content to ``Content``, and what an exchange of it says: shared by every format of Anthropic's blocks.

Source: formats 3.2, 3.4 and 4.  Unknown blocks become opaque with their JSON as text; signatures and encrypted
payloads are kept apart from the text, because they are bytes and never tokens (replay-semantics 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, definitions, opaque, tool_use
from sessions.engine.reading.formats._calls import iterations
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, text_of
from sessions.engine.reading.formats._wire import pair_in
from sessions.engine.transcript.types import Content, Kind, Message, RecordedCompaction, Request, Role, Usage

KNOWN_TYPES = frozenset({"text", "thinking", "tool_use", "tool_result", "image", "document", "redacted_thinking"})
DEFAULT_TRIGGER = 150_000
"""Tokens at which a request compacts that asks for it and gives no figure (policies 5.3)."""


def contents_of(content: Any) -> tuple[Content, ...]:
    """Blocks of a message's ``content``: a string, a list of blocks, or whatever else stands there."""
    return blocks_of(content, block_of)


def block_of(block: Any) -> Content:
    """One block; a string is text, anything unknown is opaque."""
    if isinstance(block, str):
        return Content(Kind.TEXT, text=block)
    if not isinstance(block, dict):
        return opaque(block)
    kind = text_of(block.get("type"))
    reader = _READERS.get(kind, _tool_result if kind.endswith("_tool_result") else None)
    return (reader(block) if reader else None) or opaque(block)


def _text(block: Record) -> Content | None:
    said = block.get("text")
    # The Assistants API has the words one deeper, beside their annotations.
    said = said if isinstance(said, str) else as_dict(said).get("value")
    return Content(Kind.TEXT, text=said) if isinstance(said, str) else None


def _compaction(block: Record) -> Content | None:
    summary = block.get("content")
    payload = text_of(block.get("signature")) or text_of(block.get("encrypted_content"))
    return Content(Kind.TEXT, text=summary, name="compaction", payload=payload) if isinstance(summary, str) else None


def _tool_result(block: Record) -> Content:
    content = block.get("content")
    return Content(
        Kind.TOOL_RESULT,
        text=text_of(content),
        call_id=text_of(block.get("tool_use_id")),
        is_error=bool(block.get("is_error")),
        parts=() if isinstance(content, str) else contents_of(content),
    )


def _media(block: Record) -> Content | None:
    kind = Kind.IMAGE if block["type"] == "image" else Kind.DOCUMENT
    source = as_dict(block.get("source"))
    media_type, name = text_of(source.get("media_type")), text_of(block.get("title"))
    if source.get("type") == "text":
        return Content(kind, text=text_of(source.get("data")), media_type=media_type, name=name)
    if source.get("type") == "content":
        return Content(kind, media_type=media_type, name=name, parts=contents_of(source.get("content")))
    data, url = text_of(source.get("data")), text_of(source.get("url")) or text_of(source.get("file_id"))
    return Content(kind, media_type=media_type, name=name, data=data, url=url) if data or url else None


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "text": _text,
    "thinking": lambda block: Content(
        Kind.THINKING, text=text_of(block.get("thinking")), payload=text_of(block.get("signature"))
    ),
    "redacted_thinking": lambda block: Content(
        Kind.OPAQUE, name="redacted_thinking", payload=text_of(block.get("data"))
    ),
    "compaction": _compaction,
    **dict.fromkeys(
        ("tool_use", "server_tool_use", "mcp_tool_use"),
        lambda block: tool_use(block.get("input"), block.get("name"), block.get("id")),
    ),
    "tool_result": _tool_result,
    **dict.fromkeys(("image", "document"), _media),
}


def exchange_of(document: Record) -> tuple[Record | None, Record | None]:
    """The request and the response in ``document``, None for what is not there."""
    request, response = pair_in(document, _is_request, _is_response)
    return request, None if request is document else response


def system_contents(request: Record) -> tuple[Content, ...]:
    """The system prompt, then each tool definition as its compact JSON under the tool's name."""
    return contents_of(request.get("system")) + definitions(request.get("tools"))


def requests_of(messages: Sequence[Message], request: Record | None, response: Record | None) -> tuple[Request, ...]:
    """One per run of assistant messages (one at the end is a prefill), then the response's or the pending one."""
    n_sent = len(messages) - (response is not None)
    starts = [
        index
        for index in range(n_sent)
        if messages[index].role is Role.ASSISTANT and (not index or messages[index - 1].role is not Role.ASSISTANT)
    ]
    if starts and all(message.role is Role.ASSISTANT for message in messages[starts[-1] : n_sent]):
        starts.pop()
    model = text_of((request or {}).get("model"))
    found = [Request(i, message, model=model) for i, message in enumerate(starts)]
    if response is None:
        return (*found, Request(len(found), None, model=model))
    # The top level may report nothing: then the last message's iteration counts.
    usage = usage_of(response.get("usage")) or next(iter(_spent(response, "message")[::-1]), None)
    native, model = text_of(response.get("id")), text_of(response.get("model")) or model
    return (*found, Request(len(found), n_sent, usage, response_id=native, model=model))


def compactions_of(
    messages: Sequence[Message], requests: Sequence[Request], parts: Sequence[Record]
) -> tuple[RecordedCompaction, ...]:
    """Compactions the server made: the reply that starts with a ``compaction`` block is the first one after it.

    ``tokens_before`` is the input of the compaction's own iteration, where the usage lists it.
    """
    found = []
    for message, part in zip(messages, parts, strict=True):
        blocks = as_list(part.get("content"))
        if message.role is not Role.ASSISTANT or not any(_type_of(block) == "compaction" for block in blocks):
            continue
        at = next((r for r in requests if r.message is not None and r.message >= message.index), requests[-1])
        spent = _spent(part, "compaction")
        found.append(
            RecordedCompaction(
                boundary=message.index,
                request=at.index,
                message=message.index,
                trigger="auto",
                tokens_before=spent[0].context if spent and spent[0] else None,
                tokens_after=at.usage.context if at.usage else None,
                outside=message.index == 0,
            )
        )
    return tuple(found)


def trigger_of(request: Record | None) -> int | None:
    """The tokens at which the request asks the server to compact: as given, else the default (policies 5.3)."""
    for edit in as_list(as_dict((request or {}).get("context_management")).get("edits")):
        if _type_of(edit).startswith("compact_"):
            given = edit.get("trigger")
            return (count_of(given.get("value")) if isinstance(given, dict) else 0) or DEFAULT_TRIGGER
    return None


def iteration_notes(response: Record | None) -> tuple[str, ...]:
    """What the server spent on compaction, which the top-level usage hides."""
    return tuple(
        f"The server spent {use.context:,} input and {use.output:,} output tokens on compaction, not in the usage"
        for use in _spent(response or {}, "compaction")
        if use
    )


def _spent(response: Record, kind: str) -> list[Usage | None]:
    """The usage of each iteration of this kind that a response's usage lists."""
    return [usage_of(step) for step in iterations(response) if step.get("type") == kind]


def _type_of(value: Any) -> str:
    return text_of(as_dict(value).get("type"))


def _is_request(document: Record) -> bool:
    held = [part for part in as_list(document.get("messages")) if isinstance(part, dict)]
    return any(isinstance(part.get("role"), str) and "content" in part for part in held)


def _is_response(document: Record) -> bool:
    marked = document.get("type") == "message" or "stop_reason" in document
    return document.get("role") == "assistant" and isinstance(document.get("content"), list) and marked
