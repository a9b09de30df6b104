"""Events of Claude managed-agent sessions, as the API lists and streams them (formats 47).

Usage stands in the end of every model request.  A compaction is an event without its summary.  The threads of several
agents are sessions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_requests import system_contents
from sessions.engine.reading.formats._assembly import with_unique_ids
from sessions.engine.reading.formats._jsonl import values
from sessions.engine.reading.formats._managed_events import CONTEXT, ManagedReading, event_contents
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import Record, as_dict, text_of
from sessions.engine.transcript.types import Content, Origin, Parsed, Skipped

if TYPE_CHECKING:
    Found = Iterator[tuple[tuple[str | int, ...], Any]]

FAMILIES = ("user.", "agent.", "session.", "span.", "system.", "event_")
FOREIGN_KEYS = ("data", "timestamp", "parentId")
"""Keys of Copilot's events, whose types look alike."""
WRAPPERS = ("raw", "event", "payload")
"""Where a runner puts an event when it writes fields of its own beside it."""


class ManagedAgents:
    """The format's entry in the registry."""

    name = "managed_agents"
    label = "Claude managed agent"
    source = "Events of Claude managed-agent sessions: GET /v1/sessions/…/events, or as a runner logs them"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, subagents=PARTLY,
        records=Records(error="session.error", compaction="agent.thread_context_compacted"),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Events of the API's families, one of which is an agent's or a model request's."""
        document = head.document
        entries = document[:200] if isinstance(document, list) else head.values if document is None else [document]
        events = [event for entry in entries for record, _ in _records(entry) for _, event in _events(record)]
        fitting = [event for event in events if _is_event(event)]
        own = [event["type"] for event in fitting if event["type"].startswith(("agent.", "span.model_request"))]
        if own and 2 * len(fitting) > len(events):
            return Sniff(92, f"{len(fitting)} of the first {len(events)} events are a session's, among them {own[0]}")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """A session for every thread, the session's own first."""
        skipped: list[Skipped] = []
        threads: dict[str, ManagedReading] = {}
        native, model = "", ""
        system: tuple[Content, ...] = ()
        for record, origin in _recorded(source, skipped):
            native = native or (text_of(record.get("id")) if "type" not in record or "agent" in record else "")
            model = model or _model(record)
            system = system or system_contents(as_dict(record.get("agent")))
            for path, event in _events(record):
                if not _is_event(event):
                    if event is record and "agent" in record:
                        continue
                    skipped.append(Skipped(origin.line, origin.offset, "no event of a session"))
                    continue
                thread = text_of(event.get("session_thread_id"))
                threads.setdefault(thread, ManagedReading(measure)).take(event, inside(origin, *path))
        stem, found = native or stem_of(source.name), []
        for thread, reading in threads.items():
            notes = reading.finish()
            name = f"{stem}.{thread}" if thread and len(threads) > 1 else stem
            facts: dict[str, Any] = {"otherwise": model, "warnings": notes, "system": () if thread else measure(system)}
            found.append(session_of(reading.thread, id=name, format=self.name, **facts))
        kept = with_unique_ids(session for session in found if session.messages)
        if not kept:
            raise UnreadableInput("no events that say anything", next_step="Check the file's format")
        return Parsed(self.name, kept, tuple(skipped))

    contents = each_value(event_contents)


def _recorded(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Record, Origin]]:
    """The records of a document, of a list, or of lines; in a line ``[method, event]`` of a recorder the second."""
    document = source.head().document
    if document is not None:
        places = enumerate(document) if isinstance(document, list) else [(None, document)]
        whole = Origin(1, 0, source.size)
        held = ((value, whole if n is None else inside(whole, n)) for n, value in places)
    else:
        held = ((value, Origin(line.number, line.offset, line.length)) for line, value in values(source, skipped))
    for value, origin in held:
        found = list(_records(value))
        if not found:
            skipped.append(Skipped(origin.line, origin.offset, "no event of a session"))
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
    if not kind.startswith(FAMILIES) or any(key in event for key in FOREIGN_KEYS):
        return False
    return kind in CONTEXT or kind.startswith(("session.", "agent.", "user.", "span.", "event_"))


def _model(record: Record) -> str:
    model = as_dict(record.get("agent")).get("model")
    return text_of(model) or text_of(as_dict(model).get("id"))


FORMAT = ManagedAgents()
