"""Conversations of the Amazon Q Developer CLI and of Kiro CLI: what ``/save`` writes, and their database (formats 82).

An entry is what was sent and what came back, one call; its tokens are not recorded.  After a compaction the summary
stands beside the history, which has lost what it took.  Errors and notices stand in the transcript for the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import base64_of, definitions, opaque, result_of, text_blocks
from sessions.engine.reading.formats._chat_blocks import call_of
from sessions.engine.reading.formats._records import first_records, has_columns, inside, records, rows_of, stem_of
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.transcript.recorded_events import OWN_COUNT, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

ASKED, ANSWERED = ("Prompt", "ToolUseResults", "CancelledToolUses"), ("ToolUse", "Response")
TABLES = ("conversations_v2", "conversations")
COMPACT = "> /compact"
_OVERFLOW = re.compile(r"\W*the context window has overflowed", re.IGNORECASE)
_NOTICE = re.compile(
    rf"{_OVERFLOW.pattern}|\W*(?:(?:amazon q|kiro) is having trouble|conversation too short to compact"
    r"|failed to (?:compact|summari[sz]e))",
    re.IGNORECASE,
)
"""How lines of the transcript begin that are no one's words but an error's."""
_USAGE = re.compile(r"context window \((\d[\d,]{0,14}) of ([\d,.]+k?) tokens used\)", re.IGNORECASE)
LOOK_CHARS, MOST_CHARS, MANY_CHARS = 200, 4_000, 10_000
CALLS, STOPPED = "[Tool uses:", "^C"
"""What a line says of an answer without words; what stands there where the user stopped."""


def q_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a user's message, of an answer, or of a summary."""
    if isinstance(value, str):
        return text_blocks(value)
    message = as_dict(value)
    found: list[Content] = []
    for kind, held in (message | as_dict(message.get("content"))).items():
        inner = as_dict(held)
        if kind in ANSWERED:
            thinking = as_dict(inner.get("thinking"))
            thought = as_dict(next((one for one in thinking.values() if isinstance(one, dict)), thinking))
            found += text_blocks(text_of(thought.get("text")), Kind.THINKING, text_of(thought.get("signature")))
            found += (*text_blocks(text_of(inner.get("content"))), *map(call_of, as_list(inner.get("tool_uses"))))
        elif kind in ASKED:
            found += [_result(as_dict(result)) for result in as_list(inner.get("tool_use_results"))]
            found += text_blocks(text_of(inner.get("prompt")))
    found += [_image(as_dict(image)) for image in as_list(message.get("images"))]
    return (*found, *text_blocks(text_of(message.get("additional_context"))))


def _result(result: Record) -> Content:
    parts = [as_dict(part) for part in as_list(result.get("content"))]
    said = [written(part["Text"] if "Text" in part else part.get("Json", part)) for part in parts]
    texts = tuple(Content(Kind.TEXT, text=text) for text in said)
    return result_of(texts, result.get("tool_use_id"), is_error=result.get("status") == "Error")


def _image(image: Record) -> Content:
    """A picture, whose bytes are a list of numbers."""
    source = as_dict(image.get("source"))
    if not (data := base64_of(source.get("bytes") or source.get("Bytes"))):
        return opaque(image, "image")
    return Content(Kind.IMAGE, media_type=f"image/{text_of(image.get('format')).lower() or 'png'}", data=data)


def of_answer(assistant: Record, key: str) -> str:
    """A text of an answer, of whichever kind it is."""
    return next((text_of(as_dict(held).get(key)) for kind, held in assistant.items() if kind in ANSWERED), "")


class _Entry(NamedTuple):
    """What was sent, what came back, and where both stand."""

    user: dict[str, Any]
    assistant: dict[str, Any]
    metadata: dict[str, Any]
    places: tuple[Origin, Origin]


class _Format(Format):
    label = "Amazon Q, Kiro CLI"
    source = "Conversations of Amazon Q Developer CLI and Kiro CLI: /save (JSON), data.sqlite3 (SQLite)"
    coverage = Coverage(
        images=YES, compactions=PARTLY, refusals=YES,
        error="transcript", compaction="latest_summary", begun="transcript", who="transcript",
        window="model_info.context_window_tokens", model="request_metadata.model_id",
        interruption="CancelledToolUses",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        is_older = set(head.tables.get(TABLES[1], ())) == {"key", "value"}
        if is_older or has_columns(head, TABLES[0], "key", "conversation_id", "value"):
            return Sniff(95, "a database with conversations as JSON by key")
        found = sum(_is_conversation(record) for record in first_records(head))
        return Sniff(95, f"{found} conversations with next_message, history and transcript") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found: dict[str, Transcript] = {}
        for record, origin in _conversations(source):
            session = _session(record, origin, stem_of(source.name), measure)
            found.setdefault(session.id, session)
        return read_as(found.values(), "no conversation with a history")

    contents = each_value(q_contents)


def _is_conversation(record: Record) -> bool:
    known = "conversation_id" in record and isinstance(record.get("history"), list)
    return known and isinstance(record.get("transcript"), list) and "next_message" in record


def _conversations(source: Source) -> Iterator[tuple[Record, Origin]]:
    database = source.database()
    if database is None:
        yield from records(source, _is_conversation, "no conversation: it has no history and transcript")
        return
    for table in TABLES:
        for row, origin in rows_of(source, table) if table in database.tables else ():
            value = decoded(row.get("value"))
            if isinstance(value, dict) and _is_conversation(value):
                yield value, inside(origin, "value")
            else:
                source.skip(f"a row of {table} that is no conversation")


def _session(record: Record, origin: Origin, stem: str, measure: Measured) -> Transcript:
    history, entries = Assembly(measure), list(_entries(record, origin))
    pending, info = as_dict(record.get("next_message")), as_dict(record.get("model_info"))
    lines = _lines(record, entries)
    cuts = [(at, text) for at, text in lines if text.startswith(COMPACT) or _OVERFLOW.match(text)]
    cut = (cuts[-1] if cuts else (0, "")) if text_of(next(iter(as_list(record.get("latest_summary"))), None)) else None
    for position, entry in enumerate([*entries, None]):
        if entry is None and pending:
            _asked(history, pending, inside(origin, "next_message"))
        for text in (text for at, text in lines if at == position):
            _tell(history, text, is_begun=cut is None)
        if cut is not None and cut[0] == position:
            trigger = ("manual" if cut[1].startswith(COMPACT) else "auto") if cut[1] else None
            # What stands before it in the history was kept; the call that made it stands beside its text.
            number = history.forget((), trigger=trigger)
            text, made = [*as_list(record.get("latest_summary")), None][:2]
            when = seconds(as_dict(made).get("stream_end_timestamp_ms"))
            history.summary(q_contents(text), [inside(origin, "latest_summary", 0)], number, timestamp=when)
        if entry is not None:
            _asked(history, entry.user, entry.places[0])
            if contents := q_contents(entry.assistant):
                when = seconds(entry.metadata.get("stream_end_timestamp_ms"))
                native, model = of_answer(entry.assistant, "message_id"), text_of(entry.metadata.get("model_id"))
                history.answer(contents, [entry.places[1]], model=model, id=native, timestamp=when)
    if (sent := count_of(record.get("context_message_length"))) >= MANY_CHARS:
        words = f"{sent:,} characters of context files go with each prompt, and are not in the file"
        history.event(EventKind.SETTINGS, words)
    own = text_of(info.get("model_id")) or text_of(record.get("model"))
    # By where they come from.
    tools = [tool for listed in as_dict(record.get("tools")).values() for tool in as_list(listed)]
    states = (as_dict(as_dict(entry.user.get("env_context")).get("env_state")) for entry in entries)
    return history.transcript(
        text_of(record.get("conversation_id")) or stem,
        window=count_of(info.get("context_window_tokens")) or None,
        system=measure(definitions([as_dict(tool).get("ToolSpecification", tool) for tool in tools])),
        project=next(filter(None, (text_of(state.get("current_working_directory")) for state in states)), ""),
        model="" if any(request.model for request in history.requests) else own,
    )


def _entries(record: Record, origin: Origin) -> Iterator[_Entry]:
    """The history's entries, which are pairs in older files."""
    for position, value in enumerate(as_list(record.get("history"))):
        pair = isinstance(value, list)
        keys: tuple[Any, Any] = (0, 1) if pair else ("user", "assistant")
        held: dict[Any, Any] = dict(enumerate(value)) if pair else as_dict(value)
        place = inside(origin, "history", position)
        places = inside(place, keys[0]), inside(place, keys[1])
        user, assistant = as_dict(held.get(keys[0])), as_dict(held.get(keys[1]))
        yield _Entry(user, assistant, as_dict(held.get("request_metadata")), places)


def _lines(record: Record, entries: list[_Entry]) -> list[tuple[int, str]]:
    """Commands and notices of the transcript, each with how many entries stand before it; the oldest first.

    From the end on, a line that begins as an entry's answer does is that answer.
    """
    found, at = list[tuple[int, str]](), len(entries)
    for line in reversed(as_list(record.get("transcript"))):
        text = text_of(line)[:MOST_CHARS].strip()
        said = of_answer(entries[at - 1].assistant, "content")[:LOOK_CHARS].strip() if at else ""
        if at and not text.startswith("> ") and (text.startswith(said) if said else text.startswith(CALLS)):
            at -= 1
        elif text.startswith(COMPACT) or _NOTICE.match(text) or _USAGE.search(text) or text == STOPPED:
            found.append((at, text))
    return found[::-1]


def _tell(history: Assembly, text: str, *, is_begun: bool) -> None:
    """A notice; ``is_begun``: no summary says that the compaction that it speaks of came about."""
    if text == STOPPED:
        history.event(EventKind.INTERRUPTION, text)
    elif listed := _USAGE.search(text):
        history.note(listed, f"Amazon Q's {OWN_COUNT}: {int(listed[1].replace(',', '')):,} of {listed[2]} tokens")
    elif not text.startswith(COMPACT):
        history.fail(text)
        if is_begun and _OVERFLOW.match(text):
            history.event(EventKind.COMPACTION_STARTED, text)


def _asked(history: Assembly, user: Record, origin: Origin) -> None:
    contents, content = q_contents(user), as_dict(user.get("content"))
    if "CancelledToolUses" in content:
        history.event(EventKind.INTERRUPTION, "tool uses cancelled")
    if contents:
        # An answer to cancelled calls may be typed beside their results.
        typed = bool(text_of(as_dict(next(iter(content.values()), None)).get("prompt")))
        history.add(Role.USER, contents, [origin], timestamp=seconds(user.get("timestamp")), typed=typed)
