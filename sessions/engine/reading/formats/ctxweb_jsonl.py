"""ctxweb's own export: a head line, then ``{role, content, id, timestamp, usage, …}`` one message a line.

Content is Messages API blocks, and blocks of type ``ctxweb_block`` where a source had something that these cannot say.
A reply names its request; requests without a message in the file have lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.base import limits
from sessions.engine.reading.formats import YES, Coverage, Format, Measured, Sniff, each_value
from sessions.engine.reading.formats._anthropic_blocks import block_of, contents_of
from sessions.engine.reading.formats._blocks import is_prompt, preview_of
from sessions.engine.reading.formats._branch import RESULTS, THINKING
from sessions.engine.reading.formats._provider_errors import EVENT_KINDS
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import Head, Line, Source
from sessions.engine.transcript.recorded_events import ErrorKind, RecordedEvent
from sessions.engine.transcript.types import (
    Content,
    Kind,
    Message,
    Parsed,
    ProviderError,
    RecordedClearing,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)

ERROR_KINDS, CLEARED = frozenset(ErrorKind), (RESULTS, THINKING)
USAGE = ("input", "cache_read", "cache_write", "output", "reasoning", "cache_write_1h")
HEAD, VERSION, BLOCK = "ctxweb", "session/1", "ctxweb_block"
ROLES = {role.value: role for role in Role}
KINDS = {kind.value: kind for kind in Kind}
TEXTS = ("text", "name", "call_id", "payload", "media_type", "data", "url", "target")
NO_HEAD = "The first line of this export is not here: its title, model, window and recorded compactions are unknown"


@dataclass(slots=True)
class ExportLines:
    """What the lines so far hold; ``replies`` are (message, request, usage) as written."""

    messages: list[Message] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    replies: list[tuple[int, Record, Any]] = field(default_factory=list)
    elsewhere: list[Record] = field(default_factory=list)

    def add(self, message: Message, value: Record) -> None:
        """Take one line's message, and the request it answers."""
        self.messages.append(message)
        self.ids.add(message.id)
        request = value.get("request")
        if message.role is Role.ASSISTANT and isinstance(request, dict):
            self.replies.append((message.index, request, value.get("usage")))


def count_or_none(value: Any) -> int | None:
    """``value`` if it is a whole number from 0, at most ``limits.MAX_COUNT``, else None."""
    counted = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return min(value, limits.MAX_COUNT) if counted else None


def _requests(known: ExportLines) -> tuple[Request, ...]:
    """Requests in the order of their written indices, numbered again."""
    replies = known.replies
    ends = [index for index, _, _ in replies[1:]] + [len(known.messages)]
    found = [
        (_place(facts, index), _request(facts, usage, message=index, most=end - index))
        for (index, facts, usage), end in zip(replies, ends, strict=False)
    ]
    found += [(_place(facts, len(known.messages)), _request(facts, facts.get("usage"))) for facts in known.elsewhere]
    found.sort(key=lambda pair: pair[0])
    return tuple(replace(request, index=number) for number, (_, request) in enumerate(found))


def _compactions(head: Record, known: ExportLines, n_requests: int) -> Iterator[RecordedCompaction]:
    """The compactions of the head, within the bounds of the file."""
    n_messages = len(known.messages)
    for facts in [held for held in as_list(head.get("compactions")) if isinstance(held, dict)]:
        boundary = min(count_or_none(facts.get("boundary")) or 0, n_messages)
        message = count_or_none(facts.get("message"))
        indices = [count_or_none(index) for index in as_list(facts.get("preserved"))]
        yield RecordedCompaction(
            boundary=boundary,
            request=min(count_or_none(facts.get("request")) or 0, n_requests),
            message=message if message is not None and message < n_messages else None,
            trigger=text_of(facts.get("trigger")) or None,
            tokens_before=count_or_none(facts.get("tokens_before")),
            tokens_after=count_or_none(facts.get("tokens_after")),
            preserved=tuple(index for index in indices if index is not None and index < boundary),
            outside=facts.get("outside") is True,
            unseen=facts.get("unseen") is True,
            by=text_of(facts.get("by")),
            standing=count_or_none(facts.get("standing")),
            reason=text_of(facts.get("reason")),
        )


def _recorded(
    head: Record, known: ExportLines, n_requests: int
) -> tuple[tuple[ProviderError, ...], tuple[RecordedEvent, ...], tuple[RecordedClearing, ...]]:
    """The refusals and failed compactions, the other events and the clearings of the head, within the same bounds."""
    refusals, events, clearings = (map(as_dict, as_list(head.get(key))) for key in ("refusals", "events", "clearings"))
    errors = tuple(
        ProviderError(
            kind,
            *_where(facts, known, n_requests),
            tokens=count_or_none(facts.get("tokens")),
            limit=count_or_none(facts.get("limit")),
            of_compaction=facts.get("of_compaction") is True,
            model=text_of(facts.get("model")),
            **_told(facts),
        )
        for facts in refusals
        if (kind := text_of(facts.get("kind"))) in ERROR_KINDS
    )
    others = tuple(
        RecordedEvent(kind, *_where(facts, known, n_requests), **_told(facts))
        for facts in events
        if (kind := text_of(facts.get("kind"))) in EVENT_KINDS
    )
    cleared = tuple(
        RecordedClearing(
            what,
            *_where(facts, known, n_requests),
            trigger=text_of(facts.get("trigger")) or None,
            n_cleared=count_or_none(facts.get("n_cleared")),
            tokens_freed=count_or_none(facts.get("tokens_freed")),
            calls=tuple(filter(None, map(text_of, as_list(facts.get("calls"))))),
        )
        for facts in clearings
        if (what := text_of(facts.get("what"))) in CLEARED
    )
    return errors, others, cleared


def _told(facts: Record) -> dict[str, Any]:
    words = {name: text_of(facts.get(name)) for name in ("code", "words")}
    return words | {"status": count_of(facts.get("status")), "count": max(1, count_of(facts.get("count")))}


def _where(facts: Record, known: ExportLines, n_requests: int) -> tuple[int, int]:
    request, message = count_or_none(facts.get("request")) or 0, count_or_none(facts.get("message")) or 0
    return min(request, n_requests), min(message, len(known.messages))


def _place(facts: Record, otherwise: int) -> int:
    index = count_or_none(facts.get("index"))
    return otherwise if index is None else index


def _request(facts: Record, usage: Any, message: int | None = None, most: int = 1) -> Request:
    held = as_dict(usage)
    used = Usage(**{name: count_of(held.get(name)) for name in USAGE}, placeholder=held.get("placeholder") is True)
    return Request(
        index=0,
        message=message,
        usage=used if used.context or used.output else None,
        on_branch=facts.get("on_branch") is not False,
        response_id=text_of(facts.get("response_id")),
        model=text_of(facts.get("model")),
        timestamp=seconds(facts.get("timestamp")),
        n_messages=max(1, min(count_or_none(facts.get("n_messages")) or 1, most)),
        aborted=facts.get("aborted") is True,
        provider=text_of(facts.get("provider")),
        window=max(0, count_of(facts.get("window"))),
    )


def _contents(value: Record) -> tuple[Content, ...]:
    content = value.get("content")
    return tuple(content_of(block) for block in content) if isinstance(content, list) else contents_of(content)


class _Format(Format):
    label = "ctxweb export"
    source = "ctxweb export --to jsonl"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES,
        compaction="head compactions", who="head compactions", window="head window", model="request.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        first = next(iter(lines), {})
        mark = first.get(HEAD)
        if mark is None:
            return Sniff(90, "a message as ctxweb exports it, without the head") if any(map(_is_own, lines)) else None
        if text_of(mark).startswith("session/"):
            return Sniff(98, f"line 1 has {HEAD!r}: {mark!r}")
        return Sniff(0, f"line 1 has {HEAD!r}, but it is not the head of a session")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        head: Record = {}
        known = ExportLines()
        for line, value in objects(source):
            if HEAD in value and "role" not in value:
                head = head or value
            elif text_of(value.get("role")) in ROLES and isinstance(value.get("content"), (str, list)):
                known.add(_message(line, value, known, measure), value)
            elif isinstance(value.get("request"), dict):
                known.elsewhere.append(value["request"])
            else:
                source.skip("neither a message, a request nor the head", line)
        return Parsed((_transcript(head, known, source.name),) if known.messages else ())

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
    parts = tuple(map(content_of, as_list(block.get("parts"))))
    return Content(KINDS[block["kind"]], **texts, is_error=bool(block.get("is_error")), parts=parts)


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
        origins=(line.at(),),
        preview=preview_of(contents),
        timestamp=seconds(value.get("timestamp")),
        typed=typed if isinstance(typed, bool) else role is Role.USER and is_prompt(contents),
        meta=value.get("meta") is True,
        attachment=text_of(value.get("attachment")),
        summary=value.get("summary") is True,
        compaction=count_or_none(value.get("compaction")),
    )


def _transcript(head: Record, known: ExportLines, name: str) -> Transcript:
    requests = _requests(known)
    compactions = tuple(_compactions(head, known, len(requests)))
    errors, events, clearings = _recorded(head, known, len(requests))
    # Marks of compactions that the file does not have.
    odd = {message.compaction for message in known.messages} - {None, *range(len(compactions))}
    times = [message.timestamp for message in known.messages if message.timestamp is not None]
    texts: dict[str, Any] = {name: text_of(head.get(name)) for name in ("parent_call_id", "title", "model", "client")}
    return Transcript(
        id=text_of(head.get("id")) or stem_of(name),
        format="",
        messages=tuple(replace(m, compaction=None) if m.compaction in odd else m for m in known.messages),
        requests=requests,
        compactions=compactions,
        errors=errors,
        clearings=clearings,
        events=events,
        parent_id=text_of(head.get("parent_id")) or None,
        **texts,
        window=count_or_none(head.get("window")) or None,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        warnings=() if head else (NO_HEAD,),
    )
