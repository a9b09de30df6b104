"""Requests, compactions, clearings and refusals of ctxweb's own export, checked: an edited file may be broken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.base import limits
from sessions.engine.reading.formats._clearings import RESULTS, THINKING
from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._provider_errors import BODY, CONTEXT, EVENT_KINDS, MEDIA
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.recorded_events import RecordedEvent
from sessions.engine.transcript.types import (
    FAILED_COMPACTION,
    GAVE_UP,
    Message,
    ProviderError,
    RecordedClearing,
    RecordedCompaction,
    Request,
    Role,
    Usage,
)

ERROR_KINDS, CLEARED = (CONTEXT, BODY, MEDIA, FAILED_COMPACTION, GAVE_UP), (RESULTS, THINKING)
USAGE = ("input", "cache_read", "cache_write", "output", "reasoning", "cache_write_1h")


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

    def settled(self, n_compactions: int) -> tuple[Message, ...]:
        """The messages, without marks of compactions that the file does not have."""
        return tuple(
            m if m.compaction is None or m.compaction < n_compactions else replace(m, compaction=None)
            for m in self.messages
        )


def count_or_none(value: Any) -> int | None:
    """``value`` if it is a whole number from 0, at most ``limits.MAX_COUNT``, else None."""
    counted = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return min(value, limits.MAX_COUNT) if counted else None


def requests_of(known: ExportLines) -> tuple[Request, ...]:
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


def compactions_of(written: Any, known: ExportLines, n_requests: int) -> tuple[RecordedCompaction, ...]:
    """The compactions of the head, within the bounds of the file."""
    n_messages = len(known.messages)
    found = []
    for facts in written if isinstance(written, list) else ():
        if not isinstance(facts, dict):
            continue
        boundary = min(count_or_none(facts.get("boundary")) or 0, n_messages)
        message, kept = count_or_none(facts.get("message")), facts.get("preserved")
        indices = [count_or_none(index) for index in kept] if isinstance(kept, list) else []
        found.append(
            RecordedCompaction(
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
            )
        )
    return tuple(found)


def refusals_of(written: Any, known: ExportLines, n_requests: int) -> tuple[ProviderError, ...]:
    """The refusals and failed compactions of the head, within the bounds of the file."""
    return tuple(
        ProviderError(
            kind,
            *_where(facts, known, n_requests),
            tokens=count_or_none(facts.get("tokens")),
            limit=count_or_none(facts.get("limit")),
            of_compaction=facts.get("of_compaction") is True,
            **_told(facts),
        )
        for facts in map(as_dict, as_list(written))
        if (kind := text_of(facts.get("kind"))) in ERROR_KINDS
    )


def events_of(written: Any, known: ExportLines, n_requests: int) -> tuple[RecordedEvent, ...]:
    """What else the head records, within the bounds of the file."""
    return tuple(
        RecordedEvent(kind, *_where(facts, known, n_requests), **_told(facts))
        for facts in map(as_dict, as_list(written))
        if (kind := text_of(facts.get("kind"))) in EVENT_KINDS
    )


def clearings_of(written: Any, known: ExportLines, n_requests: int) -> tuple[RecordedClearing, ...]:
    """The clearings of the head, within the bounds of the file."""
    return tuple(
        RecordedClearing(
            what,
            *_where(facts, known, n_requests),
            trigger=text_of(facts.get("trigger")) or None,
            n_cleared=count_or_none(facts.get("n_cleared")),
            tokens_freed=count_or_none(facts.get("tokens_freed")),
            calls=tuple(filter(None, map(text_of, as_list(facts.get("calls"))))),
        )
        for facts in map(as_dict, as_list(written))
        if (what := text_of(facts.get("what"))) in CLEARED
    )


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
    return Request(
        index=0,
        message=message,
        usage=_usage(usage),
        on_branch=facts.get("on_branch") is not False,
        response_id=text_of(facts.get("response_id")),
        model=text_of(facts.get("model")),
        timestamp=seconds(facts.get("timestamp")),
        n_messages=max(1, min(count_or_none(facts.get("n_messages")) or 1, most)),
        aborted=facts.get("aborted") is True,
        provider=text_of(facts.get("provider")),
        window=max(0, count_of(facts.get("window"))),
    )


def _usage(written: Any) -> Usage | None:
    if not isinstance(written, dict):
        return None
    counts = {name: count_of(written.get(name)) for name in USAGE}
    found = Usage(**counts, placeholder=written.get("placeholder") is True)
    return found if found.context or found.output else None
