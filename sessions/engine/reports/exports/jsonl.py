"""ctxweb's own JSON lines: a head, then ``{role, content, id, timestamp, usage, …}`` one message a line.

Blocks are those of the Messages API where these read back exactly, else blocks of type ``ctxweb_block`` with the
engine's own fields.  Requests without a message in the list have lines of their own.  Read back by ``ctxweb_jsonl``.

Cannot carry: the system prompt and tool definitions, of which a session keeps sizes and no text; previews of lists;
what the text of a stub would have been.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sessions.engine.reading.formats.ctxweb_jsonl import BLOCK, HEAD, VERSION, content_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reports.exports import ExportedMessage, ExportTarget, Listing, Read, Report
from sessions.engine.reports.exports._documents import messages_block
from sessions.engine.transcript.types import Content, RecordedCompaction, Request, Role

Json = dict[str, Any]


def _write(listing: Listing, read: Read, report: Report) -> Iterator[str]:
    """The head, a line for each message, a line for each request without a message."""
    report.lose("blocks of the system prompt and tool definitions", len(listing.transcript.system))
    yield dumps(_head(listing)) + "\n"
    for entry in listing.entries:
        report.n_messages += 1
        yield dumps(_line(entry, read(entry), whole=listing.whole)) + "\n"
    for request in listing.elsewhere:
        yield dumps({"request": _facts(request)}) + "\n"


def block_json(content: Content) -> Json:
    """One block: as the Messages API writes it if that reads back to the same content, else field by field."""
    plain = messages_block(content)
    if content_of(plain) == content:
        return plain
    block: Json = {"type": BLOCK, "kind": content.kind.value}
    for field in fields(Content):
        value = getattr(content, field.name)
        if field.name not in ("kind", "parts") and value:
            block[field.name] = value
    return block | {"parts": [block_json(part) for part in content.parts]} if content.parts else block


def _head(listing: Listing) -> Json:
    transcript = listing.transcript
    facts = {
        name: value
        for name in ("id", "title", "model", "client", "format", "window", "parent_id", "parent_call_id")
        if (value := getattr(transcript, name))
    }
    head: Json = {HEAD: VERSION, **facts, "list": listing.what, "n_messages": len(listing.entries)}
    told = {
        "compactions": transcript.compactions, "refusals": transcript.errors, "clearings": transcript.clearings,
        "events": transcript.events,
    }  # fmt: skip
    return head | {name: [*map(_given, values)] for name, values in told.items() if listing.whole and values}


def _line(entry: ExportedMessage, contents: tuple[Content, ...], *, whole: bool) -> Json:
    message = entry.message
    line: Json = {
        "role": message.role.value, "content": [block_json(content) for content in contents], "id": entry.id,
    }  # fmt: skip
    if message.timestamp is not None:
        line["timestamp"] = message.timestamp
    if message.role is Role.USER:
        line["typed"] = message.typed
    marks = {
        "meta": message.meta, "attachment": message.attachment, "summary": message.summary, "inserted": entry.inserted,
        "edited": entry.original is not None,
    }  # fmt: skip
    line |= {name: value for name, value in marks.items() if value}
    if whole and message.compaction is not None:
        line["compaction"] = message.compaction
    if entry.reply:
        line["request"] = _facts(entry.reply)
        if entry.reply.usage:
            line["usage"] = line["request"].pop("usage")
    return line


def _facts(request: Request) -> Json:
    usage = _given(request.usage) if request.usage else None
    facts = {"index": request.index, **_given(request)}
    facts.pop("message", None)
    return facts | {"usage": usage} if usage else facts


def _given(value: Request | RecordedCompaction | Any) -> Json:
    """The fields that differ from their defaults."""
    return {
        field.name: found
        for field in fields(value)
        if (found := getattr(value, field.name)) != field.default and field.name != "usage"
    }


TARGET = ExportTarget(
    "jsonl", "JSONL", "ctxweb's own, read back by ctxweb_jsonl", ".jsonl", "application/jsonl", _write
)
