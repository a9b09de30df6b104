"""Factory Droid: its session store, and the events of ``droid exec --output-format stream-json`` (formats 26).

Neither reports usage.  The store is a tree; the branch is that of its last message.  A stream's answer may stand only
in its completion.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import is_prompt, preview_of, prompt_words, title_of
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._droid_lines import (
    COMPLETION,
    HEADER,
    ROLES,
    droid_contents,
    is_droid_line,
    is_event,
    is_own_event,
    is_stored,
)
from sessions.engine.reading.formats._records import first_objects, objects, stem_of, unread_notes
from sessions.engine.reading.formats._thread import Call, Entry, Thread, session_of
from sessions.engine.reading.formats._values import Record, seconds, text_of
from sessions.engine.transcript.types import Kind, Origin, Parsed, Role, Skipped


@dataclass(slots=True)
class DroidStore:
    """What one pass over a store collects."""

    measure: Measured
    thread: Thread = field(default_factory=Thread)
    links: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    header: dict[str, Any] = field(default_factory=dict)


class _FactoryDroid:
    name = "factory_droid"
    label = "Factory Droid"
    source = "Sessions of Factory Droid 0.81, ~/.factory/sessions (JSONL), and --output-format stream-json"
    coverage = Coverage(
        "0.81", images=YES, refusals=YES, live=YES,
        records=Records(error="event error", model="modelId"),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        stored = sum(map(is_stored, lines))
        if stored and any(map(is_droid_line, lines)):
            return Sniff(94, f"a Droid's header or blocks, and {stored} of the first {len(lines)} lines are messages")
        events = sum(map(is_event, lines))
        if any(map(is_own_event, lines)) and 2 * events > len(lines):
            return Sniff(92, f"{events} of the first {len(lines)} lines are events of a Droid's stream")
        return Sniff(0, "a Droid's header, but no messages") if any(v.get("type") == HEADER for v in lines) else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        lines = [value for value in source.head().values if isinstance(value, dict)]
        if any(map(is_stored, lines)):
            return _store(source, measure)
        return _stream(source, measure)

    contents = each_value(droid_contents)


def _store(source: Source, measure: Measured) -> Parsed:
    store = DroidStore(measure)
    for line, value in objects(source, store.skipped):
        kind = text_of(value.get("type"))
        if is_stored(value):
            _take(store, value, line.at())
        elif kind == HEADER:
            store.header = store.header or value
        elif kind and kind != "message":
            store.unknown[kind] += 1
        else:
            store.skipped.append(line.skipped("neither a message nor a record with a type"))
    thread = store.thread
    on_branch = set(branch(store.links, len(store.links) - 1))
    for place, entry in enumerate(thread.entries):
        entry.dropped = place not in on_branch
    transcript = session_of(
        thread,
        id=text_of(store.header.get("id")) or stem_of(source.name),
        format=FORMAT.name,
        title=title_of(text_of(store.header.get("sessionTitle")) or text_of(store.header.get("title"))),
        client=text_of(store.header.get("version")),
        project=text_of(store.header.get("cwd")),
        warnings=_warnings(store),
    )
    found = (transcript,) if transcript.messages else ()
    return Parsed(FORMAT.name, found, tuple(store.skipped), warnings=unread_notes(store.unknown))


def _warnings(store: DroidStore) -> tuple[str, ...]:
    """What the session does not show: branches that were left, and records that may be compactions."""
    n_left = sum(entry.dropped for entry in store.thread.entries)
    notes = [f"Messages on branches that the session left: {n_left}; their requests are counted"] if n_left else []
    for kind, n in store.unknown.items():
        if "compact" in kind.lower():
            notes.append(f"Lines of type {kind!r}, which may record compactions and are not understood: {n:,}")
    return tuple(notes)


def _take(store: DroidStore, value: Record, origin: Origin) -> None:
    """A stored message; replies that follow each other without a call between are one request."""
    thread, role, contents = store.thread, ROLES[value["message"]["role"]], droid_contents(value)
    entry = Entry((origin,), role, store.measure(contents), preview_of(contents), native_id=text_of(value.get("id")))
    entry.timestamp = seconds(value.get("timestamp"))
    entry.typed = role is Role.USER and is_prompt(contents)
    if entry.typed:
        entry.title = title_of(prompt_words([content.text for content in contents if content.kind is Kind.TEXT]))
    place = len(thread.entries)
    last = thread.entries[-1] if thread.entries else None
    follows = last is not None and last.role is Role.ASSISTANT and text_of(value.get("parentId")) == last.native_id
    thread.entries.append(entry)
    store.links.append((entry.native_id, text_of(value.get("parentId"))))
    if role is not Role.ASSISTANT:
        return
    if follows and last and not any(block.kind is Kind.TOOL_USE for block in last.blocks):
        thread.calls[-1].stop = place + 1
    else:
        thread.calls.append(Call(place, place + 1, text_of(value["message"].get("model")), entry.timestamp))


def _stream(source: Source, measure: Measured) -> Parsed:
    skipped: list[Skipped] = []
    history = Assembly(measure)
    session = model = ""
    answered = False
    for line, value in objects(source, skipped, is_event, "not an event of a Droid's stream"):
        session = session or value["session_id"]
        model = text_of(value.get("model")) or model
        said = value["type"] == "message" and value["role"] == "assistant"
        if value["type"] != COMPLETION or not answered:
            _event(history, value, line.at(), model)
        answered = said or (answered and value["type"] in ("system", COMPLETION))
    transcript = history.transcript(session or stem_of(source.name), FORMAT.name, otherwise=model)
    return Parsed(FORMAT.name, (transcript,) if history.messages else (), tuple(skipped))


def _event(history: Assembly, value: Record, origin: Origin, model: str) -> None:
    contents, kind = droid_contents(value), value["type"]
    facts: dict[str, Any] = {"id": text_of(value.get("id")), "timestamp": seconds(value.get("timestamp"))}
    if kind == "error":
        history.fail(value.get("message", value.get("error")))
    elif kind == "tool_call" or value.get("role") == "assistant" or (kind == COMPLETION and contents):
        history.reply(contents, (origin,), model=model, **facts)
    elif kind in ("message", "tool_result"):
        history.add(Role.USER, contents, (origin,), **facts)


FORMAT = _FactoryDroid()
