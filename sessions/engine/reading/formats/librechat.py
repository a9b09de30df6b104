"""Conversations exported by LibreChat: messages by parentMessageId, in a list or as a tree (formats 83).

The branch is the way from the last message up to the root, as LibreChat shows it.  Usage of calls is not recorded:
``promptTokens`` of an answer and ``tokenCount`` of a message are LibreChat's own estimates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import media_link, result_of, tool_use
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._chat_blocks import part_of, parts_of
from sessions.engine.reading.formats._error_body import MAX_DEPTH, error_body
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import OWN_ESTIMATE, ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

NO_PARENT = "00000000-0000-0000-0000-000000000000"
TREES = ("messages", "messagesTree")
CONTENT, CALL, SUMMARY, ERROR, UPDATE = "content", "tool_call", "summary", "error", "agent_update"
SAID = ("value", "text", ERROR, "think", CONTENT)
EMPTIED = "EMPTY_MESSAGES"
TOO_LONG = frozenset({"INPUT_LENGTH", "FINAL_CONTEXT_OVERFLOW", EMPTIED})
"""Errors of LibreChat's own, made before anything is sent."""
_INFO = re.compile(r"(\d{1,12}) ?/ ?(\d{1,12})")
"""What a message counts and what the conversation allows."""
Placed = tuple[dict[str, Any], Origin]


class _Format(Format):
    label = "LibreChat"
    source = "Conversations exported by LibreChat (JSON)"
    coverage = Coverage(
        images=YES, compactions=YES, refusals=YES,
        error="error of a message", compaction="summary", model="model of a message", interruption="unfinished",
        window="options.maxContextTokens",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        n = sum(_is_conversation(record) for record in found)
        return Sniff(95, f"{n} of the first {len(found)} entries have messages with isCreatedByUser") if n else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        placed = records(source, _is_conversation, "no conversation: it has no messages")
        found = [_session(record, origin, stem_of(source.name), measure) for record, origin in placed]
        return read_as(found, "no conversation with messages")

    contents = each_place(lambda value, origin, message: _contents(value, origin, message.role))


def _is_conversation(record: Record) -> bool:
    entries = [as_dict(entry) for key in TREES for entry in as_list(record.get(key))]
    return "conversationId" in record and any("isCreatedByUser" in one and "messageId" in one for one in entries)


def _session(record: Record, origin: Origin, stem: str, measure: Measured) -> Transcript:
    history, options = Assembly(measure), as_dict(record.get("options"))
    placed = list(_placed(record, origin))
    named = [[text_of(message.get(key)) for key in ("messageId", "parentMessageId")] for message, _ in placed]
    links = [(native, "" if parent == NO_PARENT else parent) for native, parent in named]
    shown = set(branch(links, len(links) - 1))
    for position, (message, place) in enumerate(placed):
        if position in shown:
            _add(history, message, place)
        elif message.get("error") is True:
            _failed(history, message)
    left = len(placed) - len(shown)
    history.note(left, f"Messages on branches that the conversation left: {left}")
    for key in ("promptTokens", "tokenCount"):
        own = [found for position in shown if (found := count_of(placed[position][0].get(key)))]
        span = f"{min(own, default=0):,} to {max(own, default=0):,} tokens"
        history.note(own, f"{key} in the file ({span}) are LibreChat's {OWN_ESTIMATE}, not usage")
    return history.transcript(
        text_of(record.get("conversationId")) or stem,
        title=text_of(record.get("title")),
        window=count_of(options.get("maxContextTokens")) or None,
        system=measure(parts_of(text_of(options.get("promptPrefix")))),
        otherwise=text_of(options.get("model")),
    )


def _placed(record: Record, origin: Origin) -> Iterator[Placed]:
    """Every message, one before those that answer it."""
    waiting = [(entry, inside(origin, key, n)) for key in TREES for n, entry in enumerate(as_list(record.get(key)))]
    waiting.reverse()
    while waiting:
        value, place = waiting.pop()
        message = as_dict(value)
        if "isCreatedByUser" in message:
            yield message, place
        children = [(child, inside(place, "children", n)) for n, child in enumerate(as_list(message.get("children")))]
        waiting += reversed(children)


def _add(history: Assembly, message: Record, origin: Origin) -> None:
    native, time = text_of(message.get("messageId")), seconds(message.get("createdAt"))
    if message.get("isCreatedByUser") is True:
        history.add(Role.USER, _contents(message, origin, Role.USER), [origin], id=native, timestamp=time)
    elif message.get("error") is True:
        _failed(history, message)
    else:
        _answer(history, message, origin, {"id": native, "timestamp": time})
    if summary := text_of(message.get(SUMMARY)):
        _summary(history, summary, inside(origin, SUMMARY), time)
    if message.get("unfinished") is True:
        history.event(EventKind.INTERRUPTION, "unfinished")


def _failed(history: Assembly, message: Record) -> None:
    """A message that is an error, on whatever branch: it was tried all the same."""
    parts = [as_dict(part).get(ERROR) for part in as_list(message.get(CONTENT))]
    for said in (message.get("text"), *parts):
        _refused(history, _text(said), text_of(message.get("model")))


def _refused(history: Assembly, words: str, model: str) -> None:
    """An error's words; one for its length gives what the message counts and what is allowed."""
    body = error_body(words)
    code = next((one for one in body.codes if one.upper() in TOO_LONG), "")
    if code:
        # Where its own pruning left nothing to send no provider was asked.
        kind = EventKind.ERROR if code.upper() == EMPTIED else ErrorKind.CONTEXT
        figures = _INFO.search(words) if kind is ErrorKind.CONTEXT else None
        counted, allowed = (int(figures[1]), int(figures[2])) if figures else (None, None)
        said = " ".join((body.words or words).split())[:MAX_WORDS]
        history.refuse(Refusal(kind, counted, allowed, code=code, words=said, model=model))
    elif words:
        history.fail(words, model=model)


def _summary(history: Assembly, summary: str, origin: Origin, time: float | None) -> None:
    number = history.forget(range(len(history.messages)))
    history.summary(parts_of(summary), [origin], number, timestamp=time)


def _answer(history: Assembly, message: Record, origin: Origin, facts: dict[str, Any]) -> None:
    parts = [(_as_part(part), inside(origin, CONTENT, n)) for n, part in enumerate(as_list(message.get(CONTENT)))]
    steps = list(_steps([one for one in parts if _kind(one) != UPDATE])) or [[(dict(message), origin)]]
    model, time = text_of(message.get("model")), facts["timestamp"]
    for step in steps:
        (part, place), kind = step[0], _kind(step[0])
        if kind == SUMMARY and _text(part):
            _summary(history, _text(part), place, time)
        elif kind == ERROR:
            _refused(history, _text(part), model)
        elif contents := [content for one, at in step for content in _contents(one, at, Role.ASSISTANT)]:
            history.answer(contents, [at for _, at in step], model=model, **facts)
            for one, at in step:
                if results := _contents(one, at, Role.USER) if _kind((one, at)) == CALL else ():
                    history.add(Role.USER, results, [at], typed=False, timestamp=time)


def _steps(parts: list[Placed]) -> Iterator[list[Placed]]:
    """Parts up to the last of some calls: what follows their results is another call; a summary or error is alone."""
    step: list[Placed] = []
    for one in parts:
        before = _kind(step[-1]) if step else ""
        if step and ({before, _kind(one)} & {SUMMARY, ERROR} or (before == CALL and _kind(one) != CALL)):
            yield step
            step = []
        step.append(one)
    if step:
        yield step


def _kind(one: Placed) -> str:
    return text_of(one[0].get("type"))


def _as_part(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": value} if isinstance(value, str) else as_dict(value)


def _text(value: Any, depth: int = 0) -> str:
    """The words of a part, or of a value: a string, ``{value}``, or a list of parts with text."""
    if depth > MAX_DEPTH:
        return ""
    if isinstance(value, dict):
        return next((said for key in SAID if (said := _text(value.get(key), depth + 1))), "")
    return "".join(_text(part, depth + 1) for part in value) if isinstance(value, list) else text_of(value)


def _contents(value: Any, origin: Origin, role: Role) -> tuple[Content, ...]:
    """A summary, a part of an answer, or a whole message; of a tool's part the call or, as the user's, its result."""
    if origin.path[-2:-1] == (CONTENT,) or not isinstance(value, dict):
        return _part(_as_part(value), role)
    listed = [content for part in as_list(value.get(CONTENT)) for content in _part(_as_part(part), role)]
    return (*(listed or parts_of(_text(value.get("text")))), *map(_file, map(as_dict, as_list(value.get("files")))))


def _part(part: Record, role: Role) -> tuple[Content, ...]:
    kind, call = text_of(part.get("type")), as_dict(part.get(CALL))
    if kind == CALL and call:
        inner = as_dict(call.get("function")) or call
        if role is Role.ASSISTANT:
            arguments = inner.get("arguments", inner.get("args"))
            return (tool_use(arguments, inner.get("name"), call.get("id")),)
        output = call.get("output", inner.get("output"))
        return () if output in (None, "") else (result_of(parts_of(output), call.get("id")),)
    if kind == "think":
        return (Content(Kind.THINKING, text=_text(part)),)
    if kind in ("text", SUMMARY):
        return parts_of(_text(part))
    return (part_of(part),)


def _file(file: Record) -> Content:
    """A file beside a message: a picture, or a document by its name; neither's bytes are in the export."""
    is_picture = text_of(file.get("type")).startswith("image/")
    link, name = text_of(file.get("filepath")) or text_of(file.get("file_id")), text_of(file.get("filename"))
    return media_link(link, kind=Kind.IMAGE if is_picture else Kind.DOCUMENT, name=name)
