"""Events of Claude managed-agent sessions, as the API lists and streams them (formats 47).

Usage stands in the end of every model request.  A compaction is an event without its summary.  The threads of several
agents are sessions of their own.

A reply is the events between the start of a model request and the next event that is not the agent's; its usage stands
in the request's end, before or after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import contents_of, system_contents
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._records import inside, stem_of, unread_notes, values
from sessions.engine.reading.formats._values import Path, Record, as_dict, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

Found = Iterator[tuple[Path, Any]]
CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
SAID = ("agent.message", "agent.thinking", "agent.thread_message_sent", *CALLS)
RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.tool_result": "tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""Events that answer a call, and where they name it."""
TOLD = ("user.message", "system.message", "user.define_outcome", "agent.thread_message_received")
START, END, COMPACTED = "span.model_request_start", "span.model_request_end", "agent.thread_context_compacted"
SYSTEM = "system."
FAMILIES = ("user.", "agent.", "session.", "span.", SYSTEM, "event_")
FOREIGN_KEYS = ("data", "timestamp", "parentId")
"""Keys of Copilot's events, whose types look alike."""
WRAPPERS = ("raw", "event", "payload")
"""Where a runner puts an event when it writes fields of its own beside it."""


def event_contents(event: Record) -> tuple[Content, ...]:
    """The blocks that one event puts into the context."""
    kind = text_of(event.get("type"))
    if kind in CALLS:
        return (tool_use(event.get("input"), event.get("name"), event.get("id")),)
    said = contents_of(event.get("content"))
    if kind in RESULTS:
        call_id = text_of(event.get(RESULTS[kind])) or text_of(event.get("tool_use_id"))
        return (result_of(said, call_id, is_error=event.get("is_error") is True),)
    if kind == "agent.thinking":
        thought = text_of(event.get("thinking")) or "\n".join(content.text for content in said)
        return text_blocks(thought, Kind.THINKING)
    return said or contents_of(text_of(event.get("description")))


@dataclass(slots=True)
class _Reading:
    """One thread of a session; ``said`` are the events of the reply that is being read, ``span`` its request."""

    history: Assembly
    said: list[tuple[Record, Origin]] = field(default_factory=list)
    span: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    ended: dict[str, Usage | None] = field(default_factory=dict)
    queued: dict[str, tuple[Record, Origin]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    n_failed: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def take(self, event: Record, origin: Origin) -> None:
        """One event; one that waits to be processed is put aside until it is."""
        kind, ident = text_of(event.get("type")), text_of(event.get("id"))
        if ident and ident in self.taken:
            return
        if kind in TOLD and ident and "processed_at" in event and event["processed_at"] is None:
            self.queued[ident] = event, origin
            return
        self.queued.pop(ident, None)
        self.taken.add(ident)
        self._take(kind, event, origin)

    def finish(self) -> None:
        """Add what was never processed, and what is to be said of the session."""
        for event, origin in self.queued.values():
            self._take(text_of(event.get("type")), event, origin)
        self._flush()
        n_failed, n_cut = self.n_failed, len(self.history.compactions)
        self.history.note(n_failed, f"Model requests that failed: {n_failed}; not counted as requests")
        self.history.note(n_cut, f"What the compactions wrote and kept is not recorded: {n_cut}")
        self.history.warnings += unread_notes(self.unknown)

    def _take(self, kind: str, event: Record, origin: Origin) -> None:
        if kind in SAID and event_contents(event):
            self.said.append((event, origin))
        elif kind == END:
            self._end(event)
        elif kind in (START, COMPACTED, "session.error") or kind in TOLD or kind in RESULTS:
            self._flush()
        if kind == START:
            self.span = text_of(event.get("id"))
        elif kind in TOLD or kind in RESULTS:
            if contents := event_contents(event):
                role = Role.SYSTEM if kind == "system.message" else Role.USER
                typed = kind == "user.message" and is_prompt(contents)
                meta = role is Role.USER and kind in TOLD and not typed
                self.history.add(role, contents, [origin], typed=typed, meta=meta, **_facts(event))
        elif kind == COMPACTED:
            self.history.compaction()
        elif kind == "session.error":
            self.history.fail(event.get("error"))
        elif kind not in SAID and not kind.startswith(("session.", "span.", "user.")):
            self.unknown[kind] += 1

    def _end(self, event: Record) -> None:
        """A request's usage: that of the reply with its start, of one that is still to come, or of none."""
        usage, span = usage_of(event.get("model_usage")), text_of(event.get("model_request_start_id")) or self.span
        if event.get("is_error") is True:
            self.n_failed += 1
        elif span not in self.calls:
            self.ended[span] = usage
        elif (call := self.history.requests[self.calls[span]]).usage is None:
            self.history.requests[call.index] = replace(call, usage=usage)

    def _flush(self) -> None:
        """The reply that was read is whole."""
        said, self.said = self.said, []
        if said:
            contents = [content for event, _ in said for content in event_contents(event)]
            usage = self.ended.pop(self.span, None)
            self.history.answer(contents, [origin for _, origin in said], usage=usage, **_facts(said[0][0]))
            if self.span:
                self.calls[self.span] = len(self.history.requests) - 1


def _facts(event: Record) -> dict[str, Any]:
    return {"id": text_of(event.get("id")), "timestamp": seconds(event.get("processed_at"))}


class _Format(Format):
    label = "Claude managed agent"
    source = "Events of Claude managed-agent sessions: GET /v1/sessions/…/events, or as a runner logs them"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, subagents=PARTLY,
        error="session.error", compaction="agent.thread_context_compacted",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = head.document
        entries = document[:200] if isinstance(document, list) else head.values if document is None else [document]
        events = [event for entry in entries for record, _ in _records(entry) for _, event in _events(record)]
        fitting = [event for event in events if _is_event(event)]
        own = [event["type"] for event in fitting if event["type"].startswith(("agent.", "span.model_request"))]
        if own and 2 * len(fitting) > len(events):
            return Sniff(92, f"{len(fitting)} of the first {len(events)} events are a session's, among them {own[0]}")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        threads: dict[str, _Reading] = {}
        native, model = "", ""
        system: tuple[Content, ...] = ()
        for record, origin in _recorded(source):
            native = native or (text_of(record.get("id")) if "type" not in record or "agent" in record else "")
            agent = as_dict(record.get("agent"))
            model = model or text_of(agent.get("model")) or text_of(as_dict(agent.get("model")).get("id"))
            system = system or system_contents(agent)
            for path, event in _events(record):
                if _is_event(event):
                    thread = text_of(event.get("session_thread_id"))
                    threads.setdefault(thread, _Reading(Assembly(measure))).take(event, inside(origin, *path))
                elif event is not record or "agent" not in record:
                    source.skip("no event of a session", origin)
        stem, found = native or stem_of(source.name), []
        for thread, reading in threads.items():
            reading.finish()
            name = f"{stem}.{thread}" if thread and len(threads) > 1 else stem
            own = () if thread else measure(system)
            found.append(reading.history.transcript(name, otherwise=model, system=own))
        return read_as(found, "no events that say anything")

    contents = each_value(event_contents)


def _recorded(source: Source) -> Iterator[tuple[Record, Origin]]:
    """The records of a document, of a list, or of lines; in a line ``[method, event]`` of a recorder the second."""
    document = source.head().document
    if document is not None:
        places = enumerate(document) if isinstance(document, list) else [(None, document)]
        whole = Origin(1, 0, source.size)
        held = ((value, whole if n is None else inside(whole, n)) for n, value in places)
    else:
        held = ((value, line.at()) for line, value in values(source))
    for value, origin in held:
        found = list(_records(value))
        # What a client called and the list that it sent, which the stream tells again.
        is_call = isinstance(value, list) and len(value) == 2 and text_of(value[0]).startswith("client.")
        if not found and not is_call:
            source.skip("no event of a session", origin)
        yield from ((record, inside(origin, *path)) for record, path in found)


def _records(value: Any) -> Iterator[tuple[Record, tuple[int, ...]]]:
    """The record that an entry is; what a client called, with the lists that it sent, is none."""
    if isinstance(value, dict):
        yield value, ()
    elif isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict):
        yield value[1], (1,)


def _events(record: Record) -> Found:
    """The events of a record with the path to them: a page's ``data``, a file's ``events``, or the record itself."""
    if wrapper := next((key for key in WRAPPERS if _is_event(record.get(key))), ""):
        yield (wrapper,), record[wrapper]
        return
    for key in ("data", "events"):
        if isinstance(record.get(key), list):
            for position, event in enumerate(record[key]):
                yield (key, position), event
            return
    yield (), record


def _is_event(event: Any) -> bool:
    kind = text_of(as_dict(event).get("type"))
    is_known = kind in TOLD or (kind.startswith(FAMILIES) and not kind.startswith(SYSTEM))
    return is_known and not any(key in event for key in FOREIGN_KEYS)
