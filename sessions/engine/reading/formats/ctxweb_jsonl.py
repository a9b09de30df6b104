"""ctxweb's own export: a head line, then ``{role, content, id, timestamp, usage, …}`` one message a line.

Content is Messages API blocks, and blocks of type ``ctxweb_block`` where a source had something that these cannot say.
A reply names its request; requests without a message in the file have lines of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats import YES, Coverage, Measured, Records, Sniff, each_value
from sessions.engine.reading.formats._anthropic_blocks import block_of, contents_of
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._ctxweb_facts import (
    ExportLines,
    clearings_of,
    compactions_of,
    count_or_none,
    events_of,
    refusals_of,
    requests_of,
)
from sessions.engine.reading.formats._jsonl import first_objects, objects
from sessions.engine.reading.formats._preview import preview_of, stem_of
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Skipped, Transcript

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Head, Line, Source

HEAD, VERSION, BLOCK = "ctxweb", "session/1", "ctxweb_block"
ROLES = {role.value: role for role in Role}
KINDS = {kind.value: kind for kind in Kind}
TEXTS = ("text", "name", "call_id", "payload", "media_type", "data", "url", "target")
NO_HEAD = "The first line of this export is not here: its title, model, window and recorded compactions are unknown"


def _contents(value: Record) -> tuple[Content, ...]:
    content = value.get("content")
    return tuple(content_of(block) for block in content) if isinstance(content, list) else contents_of(content)


class CtxwebJsonl:
    """The format's entry in the registry."""

    name = "ctxweb_jsonl"
    label = "ctxweb export"
    source = "ctxweb export --to jsonl"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES,
        records=Records(
            compaction="head compactions", who="head compactions", window="head window", model="request.model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """A first line with ctxweb's mark, or lines that only an export has where the first one is lost."""
        lines = first_objects(head)
        first = next(iter(lines), {})
        mark = first.get(HEAD)
        if mark is None:
            return Sniff(90, "a message as ctxweb exports it, without the head") if any(map(_is_own, lines)) else None
        if text_of(mark).startswith("session/"):
            return Sniff(98, f"line 1 has {HEAD!r}: {mark!r}")
        return Sniff(0, f"line 1 has {HEAD!r}, but it is not the head of a session")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session: its head, its messages, its requests."""
        skipped: list[Skipped] = []
        head: Record = {}
        known = ExportLines()
        for line, value in objects(source, skipped):
            if HEAD in value and "role" not in value:
                head = head or value
            elif text_of(value.get("role")) in ROLES and isinstance(value.get("content"), (str, list)):
                message = _message(line, value, known, measure)
                known.add(message, value)
            elif isinstance(value.get("request"), dict):
                known.elsewhere.append(value["request"])
            else:
                skipped.append(Skipped(line.number, line.offset, "neither a message, a request nor the head"))
        return Parsed(self.name, (_transcript(head, known, source.name),) if known.messages else (), tuple(skipped))

    contents = each_value(_contents)


def _is_own(value: Record) -> bool:
    """Whether a line is a message with what only ctxweb writes: a block of its own, or the number of its request."""
    if text_of(value.get("role")) not in ROLES or not isinstance(value.get("content"), list):
        return False
    request = value.get("request")
    numbered = isinstance(request, dict) and isinstance(request.get("index"), int) and "n_messages" in request
    return numbered or any(isinstance(block, dict) and block.get("type") == BLOCK for block in value["content"])


def content_of(block: Any) -> Content:
    """One block: the Messages API's, or ctxweb's own."""
    if not isinstance(block, dict) or block.get("type") != BLOCK or text_of(block.get("kind")) not in KINDS:
        return block_of(block)
    texts = {name: text_of(block.get(name)) for name in TEXTS}
    parts = block.get("parts")
    return Content(
        KINDS[block["kind"]],
        **texts,
        is_error=bool(block.get("is_error")),
        parts=tuple(content_of(part) for part in parts) if isinstance(parts, list) else (),
    )


def _message(line: Line, value: Record, known: ExportLines, measure: Measured) -> Message:
    contents = _contents(value)
    role = ROLES[value["role"]]
    typed = value.get("typed")
    ident = text_of(value.get("id")) or f"L{line.number}"
    while ident in known.ids:
        ident = f"L{line.number}.{ident}"
    return Message(
        index=len(known.messages),
        id=ident,
        role=role,
        blocks=measure(contents),
        origins=(Origin(line.number, line.offset, line.length),),
        preview=preview_of(contents),
        timestamp=seconds(value.get("timestamp")),
        typed=typed if isinstance(typed, bool) else role is Role.USER and is_prompt(contents),
        meta=value.get("meta") is True,
        attachment=text_of(value.get("attachment")),
        summary=value.get("summary") is True,
        compaction=count_or_none(value.get("compaction")),
    )


def _transcript(head: Record, known: ExportLines, name: str) -> Transcript:
    requests = requests_of(known)
    compactions = compactions_of(head.get("compactions"), known, len(requests))
    times = [message.timestamp for message in known.messages if message.timestamp is not None]
    return Transcript(
        id=text_of(head.get("id")) or stem_of(name),
        format=FORMAT.name,
        messages=known.settled(len(compactions)),
        requests=requests,
        compactions=compactions,
        errors=refusals_of(head.get("refusals"), known, len(requests)),
        clearings=clearings_of(head.get("clearings"), known, len(requests)),
        events=events_of(head.get("events"), known, len(requests)),
        parent_id=text_of(head.get("parent_id")) or None,
        parent_call_id=text_of(head.get("parent_call_id")),
        title=text_of(head.get("title")),
        model=text_of(head.get("model")),
        client=text_of(head.get("client")),
        window=count_or_none(head.get("window")) or None,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        warnings=() if head else (NO_HEAD,),
    )


FORMAT = CtxwebJsonl()
