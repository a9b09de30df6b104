"""One chat completions request document: ``{model, max_completion_tokens, messages}``.

Each tool result is a message of its own, and calls that are answered together stand in one, as the API has it; images
and documents of results follow in a message of the user's after the last result of the turn, because results hold text
only.

Cannot carry: ids, times and marks of messages; usage, requests and compactions (a request has none); the system
prompt and tool definitions, of which a session keeps sizes and no text; thinking and opaque blocks; that a result is
an error; links by file id; messages and text blocks that are empty.  Each is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sessions.engine.reports.exports import ExportTarget, Listing, Read, Report
from sessions.engine.reports.exports._documents import document, kept_contents, lose_facts, most_output
from sessions.engine.transcript.types import Content, Kind, Role

Json = dict[str, Any]

NO_PLACE = (Kind.THINKING, Kind.OPAQUE)


def _write(listing: Listing, read: Read, report: Report) -> Iterator[str]:
    """The model first, then one message after the other."""
    lose_facts(listing, report)
    name = listing.transcript.model
    head: Json = {"model": name} if name else {}
    head["max_completion_tokens"] = most_output(name)
    yield from document(head, _joined(_messages(listing, read, report)))


def _joined(messages: Iterable[Json]) -> Iterator[Json]:
    """Calls, and what the assistant says behind them, are one message where a result is next."""
    run: list[Json] = []
    for message in messages:
        if message["role"] == Role.ASSISTANT.value and (run or message.get("tool_calls")):
            run.append(message)
            continue
        yield from [_one(run)] if run and message["role"] == "tool" else run
        run = []
        yield message
    yield from run


def _one(run: list[Json]) -> Json:
    calls = [call for message in run for call in message.get("tool_calls", ())]
    return run[0] | {"content": _content([part for one in run for part in _parts(one)]), "tool_calls": calls}


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _messages(listing: Listing, read: Read, report: Report) -> Iterator[Json]:
    """Messages in order; what results show waits until the turn's results are written."""
    shown: list[Json] = []
    for entry in listing.entries:
        contents = kept_contents(read(entry), report)
        results = [content for content in contents if content.kind is Kind.TOOL_RESULT]
        rest = [content for content in contents if content.kind is not Kind.TOOL_RESULT]
        message = _message(entry.message.role, rest, report)
        report.n_messages += bool(results or message)
        report.lose("messages without content", not results and message is None)
        for result in results:
            yield _result(result, report)
            shown += [part for content in _shown(result) if (part := _part(content, report))]
        if message is None:
            continue
        if shown:
            yield {"role": "user", "content": shown}
            shown = []
        yield message
    if shown:
        yield {"role": "user", "content": shown}


def _message(role: Role, contents: Iterable[Content], report: Report) -> Json | None:
    """A message of everything but results; None where nothing of it can be sent."""
    parts: list[Json] = []
    calls: list[Json] = []
    for content in contents:
        if content.kind is Kind.TOOL_USE:
            calls.append(_call(content))
        elif part := _part(content, report):
            parts.append(part)
    if not parts and not calls:
        return None
    message: Json = {"role": role.value, "content": _content(parts)}
    return message | {"tool_calls": calls} if calls else message


def _content(parts: list[Json]) -> Any:
    """A string where one text says it all, null where there is nothing beside calls."""
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return parts or None


def _part(content: Content, report: Report) -> Json | None:
    if content.kind in NO_PLACE:
        report.lose(f"{content.kind} blocks")
        return None
    if content.kind is Kind.TEXT or (content.kind is Kind.DOCUMENT and content.text):
        report.lose("documents written as text", content.kind is Kind.DOCUMENT)
        return {"type": "text", "text": content.text}
    link = f"data:{content.media_type};base64,{content.data}" if content.data else content.url
    if not link:
        report.lose(f"{content.kind} blocks")
        return None
    if content.kind is Kind.IMAGE:
        return {"type": "image_url", "image_url": {"url": link}}
    file = {"file_data": link} if ":" in link else {"file_id": link}
    return {"type": "file", "file": file | {"filename": content.name} if content.name else file}


def _call(content: Content) -> Json:
    arguments = content.text or "{}"
    return {"id": content.call_id, "type": "function", "function": {"name": content.name, "arguments": arguments}}


def _result(content: Content, report: Report) -> Json:
    """A result's text; parts that are no text are shown later or counted."""
    texts = [{"type": "text", "text": text} for text in _texts(content, report)]
    report.lose("marks of results that are errors", content.is_error)
    return {"role": "tool", "tool_call_id": content.call_id, "content": _content(texts) or ""}


def _texts(content: Content, report: Report) -> Iterator[str]:
    if content.text:
        yield content.text
    for part in content.parts:
        if part.kind in NO_PLACE:
            report.lose(f"{part.kind} blocks")
        elif part.kind is Kind.TEXT and part.text:
            yield part.text


def _shown(result: Content) -> Iterator[Content]:
    return (part for part in result.parts if part.kind in (Kind.IMAGE, Kind.DOCUMENT))


TARGET = ExportTarget("openai", "OpenAI chat", "POST /v1/chat/completions", ".openai.json", "application/json", _write)
