"""OpenHands: V0 events, alone or as ``history`` of an evaluation's output lines, and V1 SDK events (formats 12).

One event is one message, so several calls of one response are several messages of one request.  Condensations are
recorded compactions: the events they forget leave the context, their summary joins it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats import _openhands_v0 as v0
from sessions.engine.reading.formats import _openhands_v1 as v1
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._blocks import definitions, text_blocks
from sessions.engine.reading.formats._counts import openai_usage, usage_at
from sessions.engine.reading.formats._records import inside, stem_of, values
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Role, Transcript

HISTORY_KEYS = ("history", "trajectory", "events")
ASKED, CONDENSED = ("condensation_request", "CondensationRequest"), ("condensation", "Condensation")
SAID = ("message", "MessageEvent")
"""Kinds of events as the versions 0 and 1 name them."""


@dataclass(slots=True)
class _Reading:
    """What one file collects: sessions, how many events of each kind are not context."""

    source: Source
    measure: Measured
    transcripts: list[Transcript] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)


class _Run:
    """One session in the making."""

    def __init__(self, reading: _Reading) -> None:
        self.reading = reading
        self.history = Assembly(reading.measure)
        self.spending = v1.CallUsage()
        self.system: tuple[Content, ...] = ()
        self.client = ""
        self.is_asked = False
        self.events_at: int | None = None

    def take(self, event: Any, origin: Origin) -> None:
        """One event of either version; anything else is skipped with its line."""
        is_old = v0.is_event(event)
        version = v0 if is_old else v1
        if not version.is_event(event):
            self.reading.source.skip("neither an action nor an observation", origin)
            return
        role, kind = version.role_of(event), event.get("action") if is_old else event["kind"]
        native = v0.event_id(event) if is_old else text_of(event.get("id"))
        facts: dict[str, Any] = {"id": native, "timestamp": seconds(event.get("timestamp"))}
        if is_old:
            self.history.refuse(v0.error_of_event(event))
        elif kind in v1.FAILURES:
            self.history.fail({key: event.get(key) for key in ("code", "detail")}, of_compaction=self.is_asked)
        self.is_asked = self.is_asked or kind in ASKED
        if kind in CONDENSED:
            summary = _summary_v0(event) if is_old else v1.contents_of_event(event)
            found = {self.history.by_id[key] for key in version.forgotten_ids(event) if key in self.history.by_id}
            # One that was asked for came by hand or because the window was full: the record does not say which.
            compaction = self.history.forget(found, trigger=None if self.is_asked else "auto")
            self.is_asked = False
            if summary:
                self.history.summary(summary, [origin], compaction, **facts)
        if kind == "ConversationStateUpdateEvent":
            self.spending.update(event)
            self.events_at = v1.condenser_limit(event.get("value")) or self.events_at
        if role is None:
            self.reading.unused[text_of(kind or event.get("observation"))] += 1
            return
        contents = version.contents_of_event(event)
        if role is Role.ASSISTANT:
            self.is_asked = False
            index = self.history.reply(contents, [origin], **self._call(event, is_old=is_old), **facts)
        else:
            typed = kind in SAID and event.get("source") == "user"
            index = self.history.add(role, contents, [origin], typed=typed, **facts)
        if role is Role.SYSTEM:
            told = as_dict(event.get("args")) if is_old else event
            self.system += definitions(told.get("tools"), "title")
            self.client = text_of(told.get("openhands_version")) or self.client
        self.history.remember(native, index)

    def _call(self, event: Record, *, is_old: bool) -> dict[str, Any]:
        """What a reply says of its call; usage stands with the first event of a response."""
        if is_old:
            response = v0.response_of(event)
            native, model = text_of(response.get("id")), text_of(response.get("model"))
            return {"response_id": native, "model": model, "usage": openai_usage(response.get("usage"))}
        native, model = text_of(event.get("llm_response_id")), self.spending.model
        known = bool(native) and any(r.response_id == native for r in self.history.requests[-1:])
        return {"response_id": native, "model": model, "usage": None if known else self.spending.take()}

    def finish(self, native_id: str, holder: Record) -> None:
        """Add the session to what was read, if it has any message; ``holder`` is the output line it came from."""
        history = self.history
        if not history.messages:
            return
        # Replies without usage have that of ``metrics.token_usages``, by response id, or in order where each has one.
        listed = as_list(as_dict(holder.get("metrics")).get("token_usages"))
        usages = [usage for usage in listed if isinstance(usage, dict)]
        by_id = {text_of(usage.get("response_id")): usage for usage in usages}
        for position, request in enumerate(history.requests):
            in_order = usages[position] if len(usages) == len(history.requests) else None
            spent = by_id.get(request.response_id, in_order) if request.response_id else in_order
            if request.usage is None and spent is not None:
                history.requests[position] = replace(request, usage=usage_at(spent, "openhands"))
        metadata = as_dict(holder.get("metadata"))
        made = history.transcript(
            native_id,
            system=self.reading.measure(self.system),
            client=self.client,
            window=self.spending.window or None,
            otherwise=text_of(as_dict(metadata.get("llm_config")).get("model")),
            events_at=v1.condenser_limit(metadata) or self.events_at,
        )
        self.reading.transcripts.append(made)


def _contents(value: Any, origin: Origin, message: Message) -> tuple[Content, ...]:
    """The blocks of an event; of a condensation, its summary."""
    if message.id.startswith(v0.RESOLVED) and v0.is_event(value) and isinstance(origin.path[-1], int):
        return v0.contents_of_event(v0.with_source(value, origin.path[-1]))
    if message.summary and value.get("action") == "condensation":
        return _summary_v0(value)
    return v0.contents_of_event(value) if v0.is_event(value) else v1.contents_of_event(value)


class _Format(Format):
    label = "OpenHands"
    source = "OpenHands 0.35 evaluation output and trajectories, software-agent-sdk events (JSON or JSONL)"
    coverage = Coverage(
        "0.35 to 0.40, SDK", usage=YES, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        error="ConversationErrorEvent, agent_state_changed reason", compaction="Condensation",
        who="no CondensationRequest: auto", model="metrics, response.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        roots = [head.document] if head.document is not None else list(head.values)
        for number, root in enumerate(roots, 1):
            events = _events_of(root)
            if not events:
                continue
            first = [event for item in events[:40] for event in (item if isinstance(item, list) else [item])]
            if v0.is_resolved(root) and any(v0.is_event(event) for event in first):
                return Sniff(90, f"value {number} is what the resolver wrote of an issue, with its events")
            sourced = [event for event in first if v0.is_event(event) and isinstance(event.get("source"), str)]
            if any(key in event for event in sourced for key in ("args", "extras", "content")):
                where = "has" if events is root else "holds a history of"
                return Sniff(90, f"value {number} {where} actions and observations with a source")
            if any(v1.is_event(event) and event["kind"] in v1.KINDS for event in first):
                return Sniff(90, f"value {number} is an event of kind {text_of(first[0].get('kind'))}")
        if any(isinstance(root, dict) and "action" in root and "args" in root for root in roots):
            return Sniff(0, "lines have an action, but no id, source or timestamp")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = _Reading(source, measure)
        flat = _Run(reading)
        head = source.head()
        # The file's JSON values: one a line, or one document over many lines.
        placed = ((value, line.at()) for line, value in values(source))
        is_document = head.document is not None and len(head.values) != 1
        for value, origin in [(head.document, Origin(1, 0, source.size))] if is_document else placed:
            events = _events_of(value)
            if v0.is_event(value) or v1.is_event(value):
                flat.take(value, origin)
            elif events is None:
                source.skip("neither an event nor a history of events", origin)
            else:
                _read_history(reading, value, origin, stem_of(source.name))
        flat.finish(stem_of(source.name), {})
        notes = [f"Events that are not context: {n:,} × {kind}" for kind, n in sorted(reading.unused.items())]
        transcripts = with_unique_ids(reading.transcripts)
        return Parsed(transcripts, warnings=tuple(notes))

    contents = each_place(_contents)


def _read_history(reading: _Reading, holder: Any, origin: Origin, stem: str) -> None:
    run, events, place, named = _Run(reading), holder, origin, as_dict(holder)
    if named:
        key = next(key for key in HISTORY_KEYS if isinstance(named.get(key), list))
        events, place = named[key], inside(origin, key)
    if v0.is_resolved(holder):
        events = [v0.with_source(event, n) if v0.is_event(event) else event for n, event in enumerate(events)]
    for position, item in enumerate(events):
        if isinstance(item, list):
            for side, event in enumerate(item):
                run.take(event, inside(place, position, side))
        else:
            run.take(item, inside(place, position))
    number = as_dict(named.get("issue")).get("number")
    native = text_of(named.get("instance_id")) or text_of(named.get("id"))
    run.finish(native or (f"issue-{number}" if isinstance(number, int) else stem), named)


def _events_of(root: Any) -> list[Any] | None:
    if isinstance(root, list):
        return root
    if not isinstance(root, dict):
        return None
    if v0.is_event(root) or v1.is_event(root):
        return [root]
    return next((root[key] for key in HISTORY_KEYS if isinstance(root.get(key), list)), None)


def _summary_v0(event: Record) -> tuple[Content, ...]:
    return text_blocks(text_of(as_dict(event.get("args")).get("summary")))
