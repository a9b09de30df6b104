"""Sessions of DeepSeek Harness (``dsh``): an append-only log of numbered events, one a line (formats 65).

Messages are the events that change what the model sees: one at its end, or one in place of a part of it, which is a
compaction where a summary stands there, and a clearing where a result was cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import system_contents
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import blocks_of, is_prompt, title_of, tool_use
from sessions.engine.reading.formats._branch import RESULTS, Clearing
from sessions.engine.reading.formats._chat_blocks import part_of
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._items import call_content, plain_result
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.session_links import SessionLinks
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

MESSAGES = {
    "user/message": Role.USER,
    "system/message": Role.SYSTEM,
    "assistant/message": Role.ASSISTANT,
    "tool/result": Role.USER,
}
"""Events that put a message into what the model sees."""
ROWS = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
"""Rows that hold a run of events, and where its members stand."""
RETRY = "llm/retry"
ATTEMPTS = ("turn/start", "llm/retry-started")
"""Events that begin a call anew: the same words are then another failure."""
FAMILIES = (
    *("turn/", "step/", "user/", "assistant/", "tool/", "system/", "request/", "compaction/", "session/", "agent/"),
    *("command/", "permission/", "sandbox/", "approval/", "goal/", "todo/", "hook/", "llm/"),
)
"""How its own events begin, which some logs do not number; a plugin's may begin in any way."""


def is_dsh_event(value: Record) -> bool:
    """Whether a line is an event of DeepSeek Harness, or a row of them."""
    kind, is_numbered = text_of(value.get("type")), isinstance(value.get("seq"), int)
    known = kind in ROWS or kind.startswith(FAMILIES) or (is_numbered and "/" in kind)
    return known and isinstance(value.get("data"), dict)


def is_dsh_header(value: Record) -> bool:
    """Whether a line opens a session of DeepSeek Harness; pi's has a ``timestamp`` there."""
    return value.get("type") == "session" and "createdAt" in value and "timestamp" not in value


def event_contents(event: Any) -> tuple[Content, ...]:
    """The blocks of the message that an event holds, in its ``data`` or in the ``message`` there."""
    data = as_dict(as_dict(event).get("data"))
    message = as_dict(data.get("message")) or data
    found = blocks_of(message.get("content"), _block)
    if as_dict(event).get("type") != "tool/result" or any(content.kind is Kind.TOOL_RESULT for content in found):
        return found
    options = data.get("callId"), message.get("toolCallId"), as_dict(message.get("source")).get("callId")
    call_id = next(filter(None, map(text_of, options)), "")
    return (plain_result(call_id, message.get("content"), is_error=data.get("isError") is True),)


def _block(block: Any) -> Content:
    kind = text_of(as_dict(block).get("type"))
    if kind == "reasoning":
        return Content(Kind.THINKING, text=text_of(block.get("text")))
    if kind == "tool-call":
        given = block.get("arguments")
        name, call_id = text_of(block.get("name")), text_of(block.get("id"))
        return call_content(name, call_id, given) if isinstance(given, str) else tool_use(given, name, call_id)
    if kind == "tool-result":
        call_id, failed = text_of(block.get("toolCallId")), block.get("isError") is True
        return plain_result(call_id, block.get("content"), is_error=failed)
    return part_of(block)


def _source_of(event: Record) -> Record:
    data = as_dict(event.get("data"))
    return as_dict((as_dict(data.get("message")) or data).get("source"))


def _compaction_of(event: Record) -> str:
    """The compaction whose summary an event's message is; "" for any other message."""
    return text_of(_source_of(event).get("compactionId"))


@dataclass(slots=True)
class DshReading:
    """One pass over a log; ``surface`` holds the numbers of the events that the model sees, with their messages.

    ``places`` says where in it a number stands; events below ``seeded`` are another session's, which this one took on.
    ``written`` has the calls that wrote summaries, by their compaction.
    """

    made: Assembly
    seq: int = 0
    seeded: int = 0
    surface: list[tuple[int, int]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    system: tuple[Content, ...] = ()
    window: int = 0
    error: str = ""
    title: str = ""
    begun: dict[str, str] = field(default_factory=dict)
    written: dict[str, Record] = field(default_factory=dict)
    pruned: list[str] = field(default_factory=list)
    n_replaced: int = 0

    def take(self, event: Record, origin: Origin) -> None:
        """One event, or a row that holds several."""
        kind, data = text_of(event.get("type")), as_dict(event.get("data"))
        given = event.get("seq", event.get("seq0"))
        seq = given if isinstance(given, int) and not isinstance(given, bool) else self.seq
        self.seq = seq + (len(as_list(data.get(ROWS[kind]))) if kind in ROWS else 1)
        if kind in MESSAGES:
            self._message(event, seq, origin)
        elif kind == "request/header":
            self.system = self.system or system_contents(as_dict(data.get("header")))
        elif kind == "request/context":
            self.window = count_of(data.get("contextWindow")) or self.window
        elif kind == "session/title":
            self.title = text_of(data.get("title")) or self.title
        elif kind.startswith("compaction/"):
            ident = text_of(data.get("compactionId"))
            if kind == "compaction/summary":
                self.written[ident] = data
            elif kind == "compaction/start":
                self.begun[ident] = "manual" if data.get("sourceCommandId") else "auto"
            elif kind == "compaction/end" and self.begun.pop(ident, "") and "error" in data:
                self.made.fail(data["error"], of_compaction=True)
        else:
            # A failure counts once: the stream, the retry and the turn's end tell the same one.
            reason = as_dict(data.get("reason")) or as_dict(as_dict(data.get("chunk")).get("reason"))
            failure = as_dict(reason.get("failure")) or as_dict(reason.get("error")) or as_dict(data.get("failure"))
            told = ": ".join(filter(None, (text_of(failure.get("code")), text_of(failure.get("message")))))
            if told and told != self.error:
                self.made.fail(failure, kind=EventKind.RETRY if kind == RETRY else EventKind.ERROR)
            self.error = told or ("" if kind in ATTEMPTS else self.error)

    def _message(self, event: Record, seq: int, origin: Origin) -> None:
        contents, change = event_contents(event), as_dict(event.get("surfaceOp"))
        shadowed = self._shadowed(change) if change.get("op") == "replace" else None
        if shadowed is None:
            if contents:
                self.places[seq] = len(self.surface)
                self.surface.append((seq, self._add(event, contents, seq, origin)))
            return
        first, last = shadowed
        if event["type"] == "tool/result":
            self.pruned += [content.call_id for content in contents if content.call_id]
            index = self.surface[first][1]
        elif _compaction_of(event) or last > first + 1:
            # A command of the user's asked for it, or the harness itself.
            begun = self.begun.get(_compaction_of(event)) or "auto"
            self.begun[_compaction_of(event)] = ""
            trigger = "manual" if _source_of(event).get("sourceCommandId") else begun
            number = self.made.forget([index for _, index in self.surface[first:last]], trigger=trigger)
            call = self.written.pop(_compaction_of(event), {})
            if (usage := usage_at(as_dict(call.get("usage")), "dsh")) is not None:
                # The conversation never saw the call that wrote it: the compaction precedes the next one.
                model, time = text_of(call.get("model")), seconds(event.get("time"))
                self.made.request(None, usage, on_branch=False, model=model, timestamp=time)
                self.made.next_request(number)
            # Unlike elsewhere, a summary that stands outside the range stays.
            self.made.summaries[:] = [index for index in self.made.summaries if index in self.made.gone]
            index = self.made.summary(contents, [origin], number, timestamp=seconds(event.get("time")))
        else:
            index = self._add(event, contents, seq, origin)
            self.n_replaced += 1
        self.places.pop(self.surface[first][0], None)
        self.surface[first:last] = [(seq, index)]
        if last == first + 1:
            self.places[seq] = first
        else:
            self.places = {number: place for place, (number, _) in enumerate(self.surface)}

    def _shadowed(self, change: Record) -> tuple[int, int] | None:
        """The part of what the model sees that a message stands for; None where the log does not hold it."""
        ends = (change.get("startSeq", change.get("start")), change.get("endSeq", change.get("end")))
        first, last = (self.places.get(end) if isinstance(end, int) else None for end in ends)
        return (first, last + 1) if first is not None and last is not None and first <= last else None

    def _add(self, event: Record, contents: tuple[Content, ...], seq: int, origin: Origin) -> int:
        data, role, time = as_dict(event.get("data")), MESSAGES[event["type"]], seconds(event.get("time"))
        message, source = as_dict(data.get("message")) or data, _source_of(event)
        native = text_of(message.get("id"))
        if role is not Role.ASSISTANT:
            is_user = event["type"] == "user/message"
            typed = is_user and source.get("kind") == "user" and is_prompt(contents)
            return self.made.add(
                role, contents, [origin], id=native, typed=typed, meta=is_user and not typed, timestamp=time
            )
        if self.pruned:
            self.made.clear(Clearing(RESULTS, "auto", len(self.pruned), calls=tuple(self.pruned)))
            self.pruned = []
        if seq < self.seeded:
            return self.made.add(role, contents, [origin], id=native, timestamp=time)
        self.made.end_run()
        model = text_of((source or as_dict(message.get("provenance"))).get("model"))
        usage = usage_at(as_dict(data.get("usage")), "dsh")
        return self.made.reply(contents, [origin], id=native, usage=usage, model=model, timestamp=time)


class _Format(Format):
    label = "DeepSeek Harness"
    source = "Sessions of DeepSeek Harness, ~/.dsh/sessions/…/session.jsonl, also packed with zstd"
    coverage = Coverage(
        "0 to 4", usage=YES, images=PARTLY, compactions=YES, refusals=YES, subagents=PARTLY, live=YES,
        error="failure in llm, step and turn events", compaction="compaction/summary",
        failed="compaction/end error", retry="llm/retry", who="sourceCommandId", begun="compaction/start and no end",
        clearing="tool results emptied by surfaceOp", window="request/context contextWindow",
        model="provenance.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        events = [value for value in lines if is_dsh_event(value)]
        opened = any(is_dsh_header(value) for value in lines[:1])
        if events and (opened or 2 * len(events) > len(lines)):
            return Sniff(94, f"{len(events)} of the first {len(lines)} records are events, as {events[0]['type']}")
        return Sniff(0, "a line opens a session of DeepSeek Harness, but no event follows") if opened else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading, header = DshReading(Assembly(measure)), dict[str, Any]()
        for line, value in objects(source):
            if is_dsh_header(value):
                header = header or value
                reading.seeded = count_of(value.get("seedLength"))
            elif is_dsh_event(value):
                reading.take(value, line.at())
            else:
                source.skip(f"no event: {text_of(value.get('type'))!r}", line)
        made = reading.made
        for _ in filter(None, reading.begun.values()):
            made.event(EventKind.COMPACTION_STARTED)
        made.note(reading.n_replaced, f"Messages that a plugin replaced: {reading.n_replaced}; both are shown")
        transcript = made.transcript(
            text_of(header.get("id")) or stem_of(source.name),
            title=title_of(reading.title),
            system=measure(reading.system),
            window=reading.window,
            project=text_of(header.get("cwd")),
        )
        # A subagent's session was made by another; a fork is a session of its own.
        home = text_of(header.get("parentSession")) if header.get("origin") == "subagent" else ""
        kin = (SessionLinks(transcript.id, home=home),) if home else ()
        return Parsed((transcript,) if made.messages else (), kin=kin)

    contents = each_value(event_contents)
