"""Message histories of pydantic-ai, as ``ModelMessagesTypeAdapter`` writes them (formats 70).

A request's parts are what was sent since the reply before; a response is one model call with its usage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import blocks_of, media_link, opaque, result_of, tool_use
from sessions.engine.reading.formats._counts import first_count, inclusive_usage
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

SYSTEM, PROMPT = "system-prompt", "user-prompt"
LISTS = ("messages", "message_history", "all_messages")
"""Where a file that is no list of messages keeps them."""


def _part(value: Any) -> tuple[Content, ...]:
    """The blocks of one part: several where a prompt has text and pictures, none of a reply without parts."""
    part = as_dict(value)
    kind, content = text_of(part.get("part_kind")), part.get("content")
    if kind in ("text", SYSTEM, PROMPT):
        return blocks_of(content, _shown)
    if kind == "thinking":
        return (Content(Kind.THINKING, text=text_of(content), payload=text_of(part.get("signature"))),)
    if kind.endswith("tool-call"):
        return (tool_use(part.get("args"), part.get("tool_name"), part.get("tool_call_id")),)
    if kind.endswith("tool-return") or kind == "retry-prompt":
        text = (Content(Kind.TEXT, text=content if isinstance(content, str) else dumps(content)),)
        is_error, call_id = kind == "retry-prompt", part.get("tool_call_id")
        return (result_of(text, call_id, is_error=is_error),) if part.get("tool_name") else text
    return (opaque(part),) if part else ()


def _shown(item: Any) -> Content:
    """A part of a prompt: words, a link, or bytes as base64."""
    if isinstance(item, str):
        return Content(Kind.TEXT, text=item)
    held = as_dict(item)
    kind, media = text_of(held.get("kind")), text_of(held.get("media_type"))
    shown = Kind.IMAGE if kind == "image-url" or media.startswith("image/") else Kind.DOCUMENT
    if url := text_of(held.get("url")):
        return media_link(url, kind=shown)
    data = text_of(held.get("data"))
    return Content(shown, media_type=media, data=data) if data else opaque(held or {"value": item})


class _Format(Format):
    label = "pydantic-ai"
    source = "Message histories of pydantic-ai, as ModelMessagesTypeAdapter writes them (JSON or JSONL)"
    coverage = Coverage(usage=YES, images=PARTLY, model="model_name")

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        if isinstance(head.document, dict):
            found = [as_dict(one) for one in as_list(head.document.get(_key(head.document)))]
        fitting = [value for value in found if _fits(value)]
        if not fitting or 2 * len(fitting) < len(found):
            return None
        return Sniff(92, f"{len(fitting)} of the first {len(found)} entries are requests and responses with part_kind")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        history, instructions = Assembly(measure), list[str]()
        for message, origin in _messages(source):
            time, parts = seconds(message.get("timestamp")), message["parts"]
            places = [inside(origin, "parts", position) for position in range(len(parts))]
            if message["kind"] == "response":
                contents = [content for part in parts for content in _part(part)]
                usage, model = _usage(as_dict(message.get("usage"))), text_of(message.get("model_name"))
                places = places or [inside(origin, "parts")]
                history.answer(contents, places, usage=usage, model=model, timestamp=time)
                continue
            instructions += [words] if (words := text_of(message.get("instructions"))) else []
            for part, place in zip(parts, places, strict=True):
                kind = text_of(as_dict(part).get("part_kind"))
                role = Role.SYSTEM if kind == SYSTEM else Role.USER
                history.add(role, _part(part), [place], typed=kind == PROMPT, timestamp=time)
        system = measure(blocks_of("".join(instructions[-1:]), _shown))
        transcript = history.transcript(stem_of(source.name), system=system)
        return read_as([transcript], "no request or response with parts")

    contents = each_value(_part)


def _usage(counts: Record) -> Usage | None:
    """Its input holds what the cache read and wrote; before 0.8 the counts had other names."""
    return inclusive_usage(
        first_count(counts, "input_tokens", "request_tokens"),
        first_count(counts, "output_tokens", "response_tokens"),
        cache_read=first_count(counts, "cache_read_tokens"),
        cache_write=first_count(counts, "cache_write_tokens"),
        reasoning=first_count(as_dict(counts.get("details")), "reasoning_tokens"),
    )


def _messages(source: Source) -> Iterator[tuple[Record, Origin]]:
    for record, origin in records(source):
        key = _key(record)
        listed = [(one, inside(origin, key, n)) for n, one in enumerate(record[key])] if key else [(record, origin)]
        yield from ((one, place) for one, place in listed if _fits(one))


def _key(document: Record) -> str:
    """Under what a file keeps its messages; "" where it is one itself."""
    return next((key for key in LISTS if any(_fits(one) for one in as_list(document.get(key)))), "")


def _fits(value: Any) -> bool:
    """Whether a value is a request or a response whose parts say their kind."""
    held = as_dict(value)
    parts = held.get("parts")
    if held.get("kind") not in ("request", "response") or not isinstance(parts, list):
        return False
    return all("part_kind" in as_dict(part) for part in parts) and bool(parts or "usage" in held)
