"""Factory Droid: its session store, and the events of ``droid exec --output-format stream-json`` (formats 26).

Neither reports usage.  The store is a tree; the branch is that of its last message.  A stream's answer may stand only
in its completion.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, text_blocks, title_of, tool_use
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._records import first_objects, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._thread import Call, Thread, entry_of, session_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of, written
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
HEADER, COMPLETION = "session_start", "completion"
OWN_BLOCKS = frozenset({"tool_use", "tool_result"})
OWN_EVENTS = ("message", "tool_call", COMPLETION)
"""Those that no other agent's stream has."""
EVENTS = frozenset({"system", "message", "tool_call", "tool_result", COMPLETION, "error"})


def is_stored(value: Record) -> bool:
    """A message of the store: linked, with a role and content."""
    message = as_dict(value.get("message"))
    is_said = text_of(message.get("role")) in ROLES and isinstance(message.get("content"), (str, list))
    return is_said and value.get("type") == "message" and isinstance(value.get("id"), str)


def is_droid_line(value: Record) -> bool:
    """What only Droid's store has: its header, or linked messages with the Messages API's calls or results."""
    if text_of(value.get("type")) in ("compaction_state", "todo_state") and "message" not in value:
        return isinstance(value.get("id"), str)
    if value.get("type") == HEADER:
        return isinstance(value.get("id"), str) and "message" not in value
    if not is_stored(value) or "parentId" not in value or "stopReason" in value["message"]:
        return False
    return any(text_of(as_dict(block).get("type")) in OWN_BLOCKS for block in as_list(value["message"]["content"]))


def is_event(value: Record) -> bool:
    """An event of the stream: its session, and what its type has to have."""
    kind = text_of(value.get("type"))
    if kind not in EVENTS or not isinstance(value.get("session_id"), str):
        return False
    if kind == "message":
        return text_of(value.get("role")) in ROLES and isinstance(value.get("text"), str)
    if kind == "tool_call":
        return isinstance(value.get("toolCallId"), str) and isinstance(value.get("toolName"), str)
    return kind != "tool_result" or isinstance(value.get("toolCallId"), str)


def droid_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a stored message or of an event."""
    line = as_dict(value)
    if "message" in line and line.get("type") == "message":
        return contents_of(as_dict(line["message"]).get("content"))
    kind = text_of(line.get("type"))
    if kind == "tool_call":
        return (tool_use(line.get("parameters"), line.get("toolName"), line.get("toolCallId")),)
    if kind == "tool_result":
        text, failed = written(line.get("value")), line.get("isError") is True
        return (Content(Kind.TOOL_RESULT, text, call_id=text_of(line.get("toolCallId")), is_error=failed),)
    return text_blocks(text_of(line.get("finalText" if kind == COMPLETION else "text")))


class _Format(Format):
    label = "Factory Droid"
    source = "Sessions of Factory Droid 0.81, ~/.factory/sessions (JSONL), and --output-format stream-json"
    coverage = Coverage("0.81", images=YES, refusals=YES, live=YES, error="event error", model="modelId")

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        stored = sum(map(is_stored, lines))
        if stored and any(map(is_droid_line, lines)):
            return Sniff(94, f"a Droid's header or blocks, and {stored} of the first {len(lines)} lines are messages")
        events = [value for value in lines if is_event(value)]
        if any(value["type"] in OWN_EVENTS for value in events) and 2 * len(events) > len(lines):
            return Sniff(92, f"{len(events)} of the first {len(lines)} lines are events of a Droid's stream")
        return Sniff(0, "a Droid's header, but no messages") if any(v.get("type") == HEADER for v in lines) else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        read = _store if any(map(is_stored, first_objects(source.head()))) else _stream
        return read(source, measure)

    contents = each_value(droid_contents)


def _store(source: Source, measure: Measured) -> Parsed:
    thread, unknown = Thread(), Counter[str]()
    links: list[tuple[str, str]] = []
    header: Record = {}
    for line, value in objects(source):
        kind = text_of(value.get("type"))
        if is_stored(value):
            links.append((value["id"], text_of(value.get("parentId"))))
            _take(thread, value, line.at(), measure)
        elif kind == HEADER:
            header = header or value
        elif kind and kind != "message":
            unknown[kind] += 1
        else:
            source.skip("neither a message nor a record with a type", line)
    on_branch = set(branch(links, len(links) - 1))
    for place, entry in enumerate(thread.entries):
        entry.dropped = place not in on_branch
    unclear = ((n, kind) for kind, n in unknown.items() if "compact" in kind.lower())
    maybe = "which may record compactions and are not understood"
    transcript = session_of(
        thread,
        id=text_of(header.get("id")) or stem_of(source.name),
        title=title_of(text_of(header.get("sessionTitle")) or text_of(header.get("title"))),
        client=text_of(header.get("version")),
        project=text_of(header.get("cwd")),
        warnings=noted(*((n, f"Lines of type {kind!r}, {maybe}: {n:,}") for n, kind in unclear)),
    )
    return read_as([transcript], warnings=unread_notes(unknown))


def _take(thread: Thread, value: Record, origin: Origin, measure: Measured) -> None:
    """A stored message; replies that follow each other without a call between are one request."""
    role, contents = ROLES[value["message"]["role"]], droid_contents(value)
    facts: dict[str, Any] = {"native_id": text_of(value.get("id")), "timestamp": seconds(value.get("timestamp"))}
    prompt = role is Role.USER and is_prompt(contents)
    entry = entry_of(contents, role, origin, measure, prompt=prompt, **facts)
    place = len(thread.entries)
    last = thread.entries[-1] if thread.entries else None
    follows = last is not None and last.role is Role.ASSISTANT and text_of(value.get("parentId")) == last.native_id
    thread.entries.append(entry)
    if role is not Role.ASSISTANT:
        return
    if follows and last and not any(block.kind is Kind.TOOL_USE for block in last.blocks):
        thread.calls[-1].stop = place + 1
    else:
        thread.calls.append(Call(place, place + 1, text_of(value["message"].get("model")), entry.timestamp))


def _stream(source: Source, measure: Measured) -> Parsed:
    history = Assembly(measure)
    session = model = ""
    answered = False
    for line, value in objects(source, is_event, "not an event of a Droid's stream"):
        session = session or value["session_id"]
        model = text_of(value.get("model")) or model
        said = value["type"] == "message" and value["role"] == "assistant"
        if value["type"] != COMPLETION or not answered:
            contents, kind = droid_contents(value), value["type"]
            facts: dict[str, Any] = {"id": text_of(value.get("id")), "timestamp": seconds(value.get("timestamp"))}
            if kind == "error":
                history.fail(value.get("message", value.get("error")))
            elif kind == "tool_call" or value.get("role") == "assistant" or (kind == COMPLETION and contents):
                history.reply(contents, (line.at(),), model=model, **facts)
            elif kind in ("message", "tool_result"):
                history.add(Role.USER, contents, (line.at(),), **facts)
        answered = said or (answered and value["type"] in ("system", COMPLETION))
    transcript = history.transcript(session or stem_of(source.name), otherwise=model)
    return read_as([transcript])
