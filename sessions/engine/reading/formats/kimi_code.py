"""Kimi Code sessions: the wire file of one agent, one record a line (formats 40).

Usage is that of ``usage.record``, each call once; a compaction's own call is counted off the branch.  The recorder's
sizes of a compaction count messages alone, so its figures here are those of the calls around it.

A step is one model call: its parts and calls stand on lines of their own and are one message, where the first stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats import _blocks as blocks
from sessions.engine.reading.formats._branch import RESULTS, Clearing
from sessions.engine.reading.formats._chat_blocks import chat_contents, part_of, parts_of, plain_keys
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._records import first_objects, folders_of, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._thread import Call, Mark, Thread, entry_of, session_of
from sessions.engine.reading.formats._values import ROLES, Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ENDED = "full_compaction.cancel"
"""A compaction that came to nothing: by an error where one stands there, else by whatever broke it off."""
CANCELLED = EventKind.COMPACTION_CANCELLED.value
NOWHERE = -1
"""Place of a call whose answer is not part of the conversation: it is counted, off the branch."""
FIRST = 20
"""The metadata line may follow a runner's own lines, at most so many."""


@dataclass(slots=True)
class Step:
    """One model call in the making; ``place`` is its message, None until its first part."""

    call: Call
    place: int | None = None
    contents: list[Content] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    recorded: bool = False


@dataclass(slots=True)
class _Reading:
    """``live`` are the places of what the model has; ``real`` those that a user wrote, ``injected`` the agent's own."""

    source: Source
    measure: Measured
    thread: Thread = field(default_factory=Thread)
    steps: list[Step] = field(default_factory=list)
    by_uuid: dict[str, Step] = field(default_factory=dict)
    newest: Step | None = None
    live: list[int] = field(default_factory=list)
    real: set[int] = field(default_factory=set)
    injected: set[int] = field(default_factory=set)
    trigger: str | None = None
    model: str = ""
    system: str = ""
    tools: Any = None
    notes: list[str] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    origin: Origin = field(init=False)
    n_sent: int = 0
    is_subagent: bool = False

    def take(self, record: Record, origin: Origin) -> None:
        kind, self.origin = text_of(record.get("type")), origin
        if reader := _READERS.get(kind):
            reader(self, record)
        elif kind in ("config.update", "profile.bind"):
            self.system = text_of(record.get("systemPrompt")) or self.system
            self.model = text_of(record.get("modelAlias")).rpartition("/")[2] or self.model
        elif kind == "llm.tools_snapshot":
            self.tools = record.get("tools") or self.tools
        elif kind == "full_compaction.begin":
            self.trigger = source if (source := record.get("source")) in ("auto", "manual") else None
        elif kind.startswith("context."):
            self.unknown[kind] += 1
        if error := record.get("error"):
            is_failure = text_of(as_dict(error).get("code")).startswith("compaction.")
            if is_failure and self.thread.refused and self.thread.refused[-1][0].kind == EventKind.COMPACTION_CANCELLED:
                # The turn's end tells why the compaction was given up.
                self.thread.refused.pop()
            self.thread.fail(error, of_compaction=kind == ENDED or is_failure)
        elif kind == ENDED:
            self.thread.event(EventKind.COMPACTION_CANCELLED, " ".join(filter(None, (self.trigger, CANCELLED))))

    def finish(self) -> None:
        """Measure what the steps said; calls without answer and usage are no requests."""
        for step in self.steps:
            if step.place is not None:
                entry = self.thread.entries[step.place]
                entry.blocks, entry.origins = self.measure(step.contents), tuple(step.origins)
                entry.preview = blocks.preview_of(step.contents)
            step.call.failed = step.place is None and step.call.usage is None
        n_open = max(0, self.n_sent - sum(not step.call.failed for step in self.steps))
        self.notes += noted(
            (n_open, f"Model calls without an answer: {n_open}; not counted as requests"),
            (self.is_subagent, "Session of a subagent; the session that started it is another file"),
        )
        self.notes += unread_notes(self.unknown)

    def add(self, record: Record, contents: tuple[Content, ...], role: Role) -> int:
        """A message of the line that is read; its place."""
        entry = entry_of(contents, role, self.origin, self.measure, timestamp=seconds(record.get("time")))
        self.live.append(self.thread.add(entry))
        return self.live[-1]


def _appended(reading: _Reading, record: Record) -> None:
    message, contents = as_dict(record.get("message")), kimi_contents(record)
    if not contents:
        return
    role = ROLES.get(text_of(message.get("role")), Role.USER)
    place = reading.add(record, contents, role)
    entry = reading.thread.entries[place]
    said = as_dict(message.get("origin"))
    kind = text_of(said.get("kind")) or "user"
    by_hand = kind in ("skill_activation", "plugin_command") and said.get("trigger") == "user-slash"
    if message.get("role") == "user" and (kind == "user" or by_hand):
        reading.real.add(place)
        entry.typed = blocks.is_prompt(contents)
    reading.is_subagent |= said.get("name") == "subagent"
    entry.meta = role is Role.USER and not entry.typed and message.get("role") != "tool"
    if kind == "injection":
        reading.injected.add(place)
    if entry.typed or said.get("name") == "subagent":
        entry.title = blocks.prompt_title(contents)


def _request(reading: _Reading, record: Record) -> None:
    reading.model = text_of(record.get("model")) or reading.model
    if record.get("kind") == "loop":
        reading.n_sent += 1
        if reading.newest:
            reading.newest.call.model = reading.model


def _loop_event(reading: _Reading, record: Record) -> None:
    event = as_dict(record.get("event"))
    kind, time = event.get("type"), seconds(record.get("time"))
    if kind == "step.begin":
        _begin(reading, text_of(event.get("uuid")), time)
    elif kind in ("content.part", "tool.call"):
        uuid = text_of(event.get("stepUuid"))
        step = reading.by_uuid.get(uuid) or _begin(reading, uuid, time)
        if step.place is None:
            step.place = reading.add(record, (), Role.ASSISTANT)
            step.call.first, step.call.stop = step.place, step.place + 1
        step.contents += kimi_contents(record)
        step.origins.append(reading.origin)
    elif kind == "tool.result":
        reading.add(record, kimi_contents(record), Role.USER)
    elif kind == "step.end":
        ended = reading.by_uuid.get(text_of(event.get("uuid")))
        if ended and not ended.recorded:
            ended.call.usage = usage_at(as_dict(event.get("usage")), "kimi_code")
            ended.call.response_id = text_of(event.get("messageId"))
    else:
        reading.unknown[f"loop event {text_of(kind)}"] += 1


def _begin(reading: _Reading, uuid: str, time: float | None) -> Step:
    n = len(reading.thread.entries)
    step = Step(Call(n, n, reading.model, time))
    reading.steps.append(step)
    reading.by_uuid[uuid] = reading.newest = step
    reading.thread.calls.append(step.call)
    return step


def _usage(reading: _Reading, record: Record) -> None:
    """The record of a call: that of the step before it, or one beside the conversation (a compaction's)."""
    usage, step = usage_at(as_dict(record.get("usage")), "kimi_code"), reading.newest
    if record.get("usageScope") != "session" and step and not step.recorded:
        step.recorded, step.call.usage = True, usage or step.call.usage
    elif usage:
        time = seconds(record.get("time"))
        reading.thread.calls.append(Call(NOWHERE, NOWHERE, reading.model, time, usage))


def _compact(reading: _Reading, record: Record) -> None:
    """The context is then some of what the user wrote, or in older files the newest messages, and the summary."""
    if not summary_of(record):
        reading.source.skip("a compaction without a summary", reading.origin)
        return
    mark = Mark(len(reading.thread.entries), len(reading.thread.calls), _kept(reading, record), trigger=reading.trigger)
    mark.outside = not reading.live
    number = len(reading.thread.marks)
    reading.thread.marks.append(mark)
    reading.live = list(mark.preserved)
    mark.summary = reading.add(record, kimi_contents(record), Role.USER)
    entry = reading.thread.entries[mark.summary]
    entry.summary, entry.compaction = True, number
    before, after = count_of(record.get("tokensBefore")), count_of(record.get("tokensAfter"))
    reading.notes.append(
        f"Compaction {number}: the recorder counts messages alone, {before:,} → {after:,} tokens by its own estimate"
    )
    reading.trigger = None


def _kept(reading: _Reading, record: Record) -> list[int]:
    if record.get("keptUserMessageCount") is None:
        return reading.live[count_of(record.get("compactedCount")) :]
    n, n_head = (count_of(record.get(key)) for key in ("keptUserMessageCount", "keptHeadUserMessageCount"))
    real = [place for place in reading.live if place in reading.real]
    n_head = max(0, min(n_head, n, len(real)))
    n_tail = max(0, min(n, len(real)) - n_head)
    return real[:n_head] + real[len(real) - n_tail :]


def _clear(reading: _Reading, _: Record) -> None:
    if reading.live:
        reading.thread.marks.append(Mark(len(reading.thread.entries), len(reading.thread.calls), trigger="manual"))
    reading.live = []


def _undo(reading: _Reading, record: Record) -> None:
    """The newest prompts leave with all after them; what was injected stays, a summary ends it."""
    wanted, gone = count_of(record.get("count")), set()
    for place in reversed(reading.live):
        if wanted <= 0 or reading.thread.entries[place].summary:
            break
        if place not in reading.injected:
            gone.add(place)
            wanted -= place in reading.real
    for place in gone:
        reading.thread.entries[place].dropped = True
    reading.live = [place for place in reading.live if place not in gone]


_READERS: dict[str, Callable[[_Reading, Record], None]] = {
    "llm.request": _request,
    "usage.record": _usage,
    "context.append_message": _appended,
    "context.append_loop_event": _loop_event,
    "context.apply_compaction": _compact,
    "context.clear": _clear,
    "context.undo": _undo,
    "micro_compaction.apply": lambda reading, _: reading.thread.clear(Clearing(RESULTS, "auto")),
}


def kimi_contents(record: Record) -> tuple[Content, ...]:
    """The blocks that one line puts into the context."""
    kind = record.get("type")
    if kind == "context.append_message":
        return chat_contents(plain_keys(as_dict(record.get("message"))))
    if kind == "context.append_loop_event":
        return _event(as_dict(record.get("event")))
    if kind == "context.apply_compaction":
        return (Content(Kind.TEXT, text=summary_of(record)),)
    return (blocks.opaque(record),)


def summary_of(record: Record) -> str:
    """What stands in the context after a compaction: ``contextSummary``, older files have ``summary`` alone."""
    found = text_of(record.get("contextSummary")) or text_of(record.get("summary"))
    parts = as_list(as_dict(record.get("summary")).get("content"))
    return found or "\n".join(text_of(as_dict(part).get("text")) for part in parts)


def _event(event: Record) -> tuple[Content, ...]:
    kind = event.get("type")
    if kind == "content.part":
        return (part_of(event.get("part")),)
    if kind == "tool.call":
        return (blocks.tool_use(event.get("args"), event.get("name"), event.get("toolCallId")),)
    if kind == "tool.result":
        result = as_dict(event.get("result"))
        said = (*parts_of(result.get("output")), *parts_of(text_of(result.get("note"))))
        return (blocks.result_of(said, event.get("toolCallId"), is_error=result.get("isError") is True),)
    return (blocks.opaque(event),)


class _Format(Format):
    label = "Kimi Code"
    source = "Wire files of Kimi Code, protocol 1.4, ~/.kimi-code/sessions/…/agents/<agent>/wire.jsonl (JSONL)"
    coverage = Coverage(
        "protocol 1.4", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=PARTLY, live=YES,
        error="error in a record", compaction="context.apply_compaction",
        who="full_compaction.begin source", clearing="micro_compaction.apply", model="llm.request model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        if not any(value.get("type") == "metadata" and "protocol_version" in value for value in lines[:FIRST]):
            return None
        records = [value for value in lines if text_of(value.get("type")).startswith(("context.", "turn.", "llm."))]
        if records:
            return Sniff(95, f"metadata with a protocol_version, and {len(records)} records of a context or its turns")
        return Sniff(0, "metadata with a protocol_version, but no record of a context")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = _Reading(source, measure)
        for line, record in objects(source):
            reading.take(record, line.at())
        reading.finish()
        # The session's folder, with the agent's where it is not the main one; the file's name elsewhere.
        folders, name = folders_of(source.name), stem_of(source.name)
        if len(folders) > 3 and folders[-3] == "agents":
            name = folders[-4] if folders[-2] == "main" else f"{folders[-4]}.{folders[-2]}"
        transcript = session_of(
            reading.thread,
            id=name,
            otherwise=reading.model,
            system=measure(parts_of(reading.system) + blocks.definitions(reading.tools)),
            warnings=reading.notes,
            left="Messages undone",
        )
        found = (transcript,) if transcript.messages or transcript.requests else ()
        return Parsed(found)

    contents = each_value(kimi_contents)
