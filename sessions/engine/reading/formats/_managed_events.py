"""What one pass over the events of a Claude managed-agent session collects (formats 47).

A reply is the events between the start of a model request and the next event that is not the agent's; its usage stands
in the request's end, before or after them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._anthropic_usage import usage_of
from sessions.engine.reading.formats._blocks import is_prompt, result_of, tool_use
from sessions.engine.reading.formats._preview import preview_of, prompt_words, title_of
from sessions.engine.reading.formats._records import unread_notes
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Measured, Record, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Usage

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
STATES = ("session.", "span.", "user.")
CONTEXT = frozenset({*SAID, *RESULTS, *TOLD, START, END, COMPACTED})


def event_contents(event: Any) -> tuple[Content, ...]:
    """The blocks that one event puts into the context."""
    if not isinstance(event, dict):
        return contents_of(event)
    kind = text_of(event.get("type"))
    if kind in CALLS:
        return (tool_use(event.get("input"), event.get("name"), event.get("id")),)
    said = contents_of(event.get("content"))
    if kind in RESULTS:
        call_id = text_of(event.get(RESULTS[kind])) or text_of(event.get("tool_use_id"))
        return (result_of(said, call_id, is_error=event.get("is_error") is True),)
    if kind == "agent.thinking":
        thought = text_of(event.get("thinking")) or "\n".join(content.text for content in said)
        return (Content(Kind.THINKING, text=thought),) if thought else ()
    return said or contents_of(text_of(event.get("description")))


@dataclass(slots=True)
class ManagedReading:
    """One thread of a session; ``reply`` is the place of the reply that is being read, ``span`` its request."""

    measure: Measured
    thread: Thread = field(default_factory=Thread)
    contents: list[Content] = field(default_factory=list)
    reply: int | None = None
    span: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
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

    def finish(self) -> tuple[str, ...]:
        """Add what was never processed; what is to be said of the session."""
        for event, origin in self.queued.values():
            self._take(text_of(event.get("type")), event, origin)
        self._flush()
        notes = []
        if self.n_failed:
            notes.append(f"Model requests that failed: {self.n_failed}; not counted as requests")
        if self.thread.marks:
            notes.append(f"What the compactions wrote and kept is not recorded: {len(self.thread.marks)}")
        return (*notes, *unread_notes(self.unknown))

    def _take(self, kind: str, event: Record, origin: Origin) -> None:
        if kind in SAID:
            self._said(event, origin)
        elif kind == START:
            self._flush()
            self.span = text_of(event.get("id"))
        elif kind == END:
            self._end(event)
        elif kind in TOLD or kind in RESULTS:
            self._flush()
            self._told(kind, event, origin)
        elif kind == COMPACTED:
            self._flush()
            self.thread.marks.append(Mark(len(self.thread.entries), len(self.thread.calls)))
        elif not kind.startswith(STATES):
            self.unknown[kind] += 1
        if kind == "session.error":
            self.thread.fail(event.get("error"))

    def _said(self, event: Record, origin: Origin) -> None:
        contents = event_contents(event)
        if not contents:
            return
        if self.reply is None:
            self.reply = len(self.thread.entries)
            time = seconds(event.get("processed_at"))
            native = text_of(event.get("id"))
            self.thread.entries.append(Entry((), Role.ASSISTANT, (), "", native_id=native, timestamp=time))
            call = Call(self.reply, self.reply + 1, timestamp=time, usage=self.ended.pop(self.span, None))
            self.thread.calls.append(call)
            self.calls[self.span] = call
        self.contents += contents
        entry = self.thread.entries[self.reply]
        entry.origins = (*entry.origins, origin)

    def _end(self, event: Record) -> None:
        """A request's usage: that of the reply with its start, of one that is still to come, or of none."""
        usage, span = usage_of(event.get("model_usage")), text_of(event.get("model_request_start_id")) or self.span
        if event.get("is_error") is True:
            self.n_failed += 1
            return
        call = self.calls.get(span)
        if call is None:
            self.ended[span] = usage
        elif call.usage is None:
            call.usage = usage

    def _flush(self) -> None:
        if self.reply is not None:
            entry = self.thread.entries[self.reply]
            entry.blocks, entry.preview = self.measure(self.contents), preview_of(self.contents)
            self.contents, self.reply = [], None
            self.calls.pop("", None)

    def _told(self, kind: str, event: Record, origin: Origin) -> None:
        contents = event_contents(event)
        if not contents:
            return
        role = Role.SYSTEM if kind == "system.message" else Role.USER
        entry = Entry((origin,), role, self.measure(contents), preview_of(contents))
        entry.native_id, entry.timestamp = text_of(event.get("id")), seconds(event.get("processed_at"))
        entry.typed = kind == "user.message" and is_prompt(contents)
        entry.meta = role is Role.USER and kind in TOLD and not entry.typed
        if entry.typed:
            entry.title = title_of(prompt_words([content.text for content in contents if content.kind is Kind.TEXT]))
        self.thread.entries.append(entry)
