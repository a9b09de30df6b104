"""Events of ``codex exec --json``: what one run prints, one event a line (formats 63).

A call stands in ``item.started`` and its result in ``item.completed``: two messages.  The prompt is not printed; usage
is the thread's sum so far at the end of every turn, so that a turn's is the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import text_blocks, tool_use
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._records import NOT_PRINTED, first_objects, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, text_of, written
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

ITEMS = ("item.started", "item.updated", "item.completed")
EVENTS = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "error", *ITEMS})
SAID = {"agent_message": Kind.TEXT, "assistant_message": Kind.TEXT, "reasoning": Kind.THINKING}
CALLS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
    "web_search": ("query",),
    "todo_list": ("items",),
}
"""Items that are calls, and the fields that the model wrote."""
UNANSWERED = ("web_search", "todo_list")
"""Calls whose result the stream does not print."""


class _Format(Format):
    label = "Codex exec"
    source = "Events of codex exec --json, as a runner keeps them (JSONL)"
    coverage = Coverage("0.44 to 0.144", usage=PARTLY, refusals=YES, live=YES, error="turn.failed, error")

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        events = [value for value in lines if _is_event(value)]
        own = [v for v in events if "thread_id" in v or _kind(v.get("item")) in SAID or _kind(v.get("item")) in CALLS]
        if own and 2 * len(events) > len(lines):
            first = own[0]["type"]
            return Sniff(94, f"{len(events)} of the first {len(lines)} records are events of a thread, as {first}")
        kinds = (text_of(value.get("type")) for value in lines)
        named = next((kind for kind in kinds if kind.startswith(("thread.", "turn."))), "")
        return Sniff(0, f"an event of type {named}, but no item of Codex's beside it") if named else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        runs = [_Run(Assembly(measure))]
        for line, value in objects(source):
            if not _is_event(value):
                source.skip(f"no event of a thread: {text_of(value.get('type'))!r}", line)
                continue
            thread = text_of(value.get("thread_id"))
            if value["type"] == "thread.started" and runs[-1].thread not in ("", thread):
                runs.append(_Run(Assembly(measure)))
            if not runs[-1].take(value, line.at()):
                source.skip(f"an item of type {_kind(value.get('item'))!r}", line)
        return read_as([run.transcript(source.name) for run in runs])

    contents = each_place(lambda value, _, message: _contents(as_dict(as_dict(value).get("item")), message.role))


@dataclass(slots=True)
class _Run:
    """One thread in the making; ``first`` is the first request of the turn, ``total`` the usage at the last's end."""

    made: Assembly
    thread: str = ""
    first: int = 0
    total: Usage = field(default_factory=lambda: Usage(0, 0, 0, 0))
    called: set[str] = field(default_factory=set)
    n_sums: int = 0
    error: str = ""
    summed: list[Usage] = field(default_factory=list)

    def take(self, event: Record, origin: Origin) -> bool:
        """One event; False where its item is of no known type."""
        kind = event["type"]
        if kind == "thread.started":
            self.thread = self.thread or text_of(event.get("thread_id"))
        elif kind == "turn.started":
            self.made.end_run()
            self.first, self.error = len(self.made.requests), ""
        elif kind == "turn.completed":
            self._end(openai_usage(event.get("usage")))
        elif kind in ("turn.failed", "error"):
            self._refuse(text_of(as_dict(event.get("error")).get("message") or event.get("message")))
        else:
            return self._item(kind, as_dict(event.get("item")), origin)
        return True

    def _refuse(self, error: str) -> None:
        """Note an error once: a turn fails with the words of the error before it."""
        if error != self.error:
            self.made.fail(error)
        self.error = error

    def _item(self, event: str, item: Record, origin: Origin) -> bool:
        kind, ident = _kind(item), text_of(item.get("id"))
        if kind == "error":
            self._refuse(text_of(item.get("message")))
            return True
        done = event == "item.completed"
        if (kind in SAID and done) or (kind == "todo_list" and not done):
            self._say(item, origin)
        elif kind in CALLS and kind != "todo_list":
            if ident not in self.called and (done or kind not in UNANSWERED):
                self.called.add(ident)
                self._say(item, origin)
            if done and kind not in UNANSWERED:
                self.made.add(Role.USER, _contents(item, Role.USER), [origin])
        return kind in SAID or kind in CALLS

    def _say(self, item: Record, origin: Origin) -> None:
        if contents := _contents(item, Role.ASSISTANT):
            self.made.reply(contents, [origin])

    def _end(self, total: Usage | None) -> None:
        """A turn's own usage: that of its request where it has one, else a sum that no request can be given."""
        if total is None:
            return
        # What was counted since; all of it where a count fell, as in a thread that began anew.
        fields = ("input", "cache_read", "cache_write", "output", "reasoning")
        grown = {name: getattr(total, name) - getattr(self.total, name) for name in fields}
        usage = replace(total, **grown) if min(grown.values()) >= 0 else total
        self.total = total
        n_requests = len(self.made.requests) - self.first
        if n_requests == 1:
            self.made.requests[-1] = replace(self.made.requests[-1], usage=usage)
        elif usage.context or usage.output:
            self.n_sums += n_requests
            self.summed.append(usage)

    def transcript(self, name: str) -> Transcript:
        if self.summed:
            sent, said = (sum(counts) for counts in zip(*((u.context, u.output) for u in self.summed), strict=True))
            told = f"{sent:,} input and {said:,} output tokens over {self.n_sums:,} requests"
            self.made.warnings.append(f"A turn reports only its total: {told}")
        self.made.warnings.append(NOT_PRINTED)
        return self.made.transcript(self.thread or stem_of(name))


def _is_event(value: Record) -> bool:
    kind = text_of(value.get("type"))
    return kind in EVENTS and (kind not in ITEMS or isinstance(value.get("item"), dict))


def _kind(item: Any) -> str:
    held = as_dict(item)
    return text_of(held.get("type")) or text_of(held.get("item_type"))


def _contents(item: Record, role: Role) -> tuple[Content, ...]:
    kind, ident = _kind(item), text_of(item.get("id"))
    if role is Role.USER:
        failed = item.get("status") in ("failed", "declined") or item.get("error") is not None
        # What the call returned, as far as the stream prints it: of a change its outcome alone.
        error = as_dict(item.get("error")).get("message") or item.get("error")
        said = {
            "command_execution": item.get("aggregated_output"),
            "mcp_tool_call": as_dict(item.get("result")).get("content") or error,
            "collab_tool_call": item.get("agents_states"),
        }.get(kind) or item.get("status")
        return (Content(Kind.TOOL_RESULT, text=written(said), call_id=ident, is_error=failed),)
    if kind in SAID:
        return text_blocks(text_of(item.get("text")), SAID[kind])
    asked = {key: item[key] for key in CALLS.get(kind, ()) if key in item}
    name = text_of(item.get("tool")) or kind
    return (tool_use(asked.get("arguments", asked), name, ident),)
