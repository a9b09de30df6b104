"""Qwen Code sessions: chained lines like Claude Code's, whose messages are Gemini's content (formats 22).

A compression records the whole list after it: what of it stood there before stayed, the rest is its summary and what
goes with it.  A rewind leaves a branch; requests on it are counted.

Two records with one uuid are one message.  The branch is the way from the last record of the conversation up to the
root; a parent that is not in the file is replaced by the record before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._blocks import is_prompt, prompt_words, title_of
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._counts import inclusive_usage
from sessions.engine.reading.formats._gemini_parts import parts_of
from sessions.engine.reading.formats._marks import is_qwen_record
from sessions.engine.reading.formats._provider_errors import Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread, entry_of, session_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.recorded_events import NOT_SHRUNK, SILENT, UNCOUNTED
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool_result": Role.USER}
COMPRESSION, COMMAND, LARGER = "chat_compression", "/compress", 2
FAILED_STATUS = {3: UNCOUNTED, 4: SILENT}
"""How the client numbers a compression that failed, beside one whose result was ``LARGER``."""
TURNS = frozenset({*ROLES, "rewind", COMPRESSION})
"""What the branch may end at: a title or a snapshot that is written later is no turn of the conversation."""


@dataclass(slots=True)
class _Record:
    """One record; ``history`` is the whole list after a compression, None for every other record."""

    kind: str
    uuid: str
    parent: str
    session: str
    agent: str
    timestamp: float | None
    message: Entry | None = None
    model: str = ""
    usage: Usage | None = None
    window: int = 0
    refusal: Refusal | None = None
    history: list[Entry] | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    name: str = ""
    command: str = ""


def qwen_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a record, or of an item of a compressed history."""
    message = as_dict(value).get("message")
    return parts_of(as_dict(message if isinstance(message, dict) else value).get("parts"))


class _Format(Format):
    label = "Qwen Code"
    source = "Session files of Qwen Code 0.21, ~/.qwen/projects/…/chats (JSONL)"
    coverage = Coverage(
        "0.21", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES, live=YES,
        error="ui_telemetry error_message, status_code", compaction="chat_compression",
        who="slash_command /compress: manual", failed="compressionStatus 2, 3 or 4",
        window="contextWindowSize", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        found = [value for value in lines if is_qwen_record(value)]
        if any(isinstance(value.get("message"), dict) for value in found):
            return Sniff(96, f"{len(found)} of the first {len(lines)} records are chained, with messages of parts")
        return Sniff(60, "chained system records with a payload, but no message among the first") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        sessions: dict[str, list[_Record]] = {"": []}
        replies: dict[tuple[str, str], _Record] = {}
        client = project = ""
        unfit = "not a record with a uuid and a message of parts"
        for line, value in objects(source, is_qwen_record, unfit):
            client = text_of(value.get("version")) or client
            project = project or text_of(value.get("cwd"))
            record = _record(line, value, measure)
            if record.kind == COMPRESSION and record.history is None:
                source.skip("a compression that does not record the list after it", line)
            first = replies.setdefault((record.agent, record.uuid), record) if record.kind == "assistant" else record
            if first is record:
                sessions.setdefault(record.agent, []).append(record)
            else:
                _merge(first, record)
        native = next((r.session for r in reversed(sessions[""]) if r.session), "") or stem_of(source.name)
        found: list[Transcript] = []
        for agent, records in sessions.items():
            own: dict[str, Any] = {"id": f"{native}.{agent}" if agent else native}
            if agent and found and not found[0].parent_id:
                own["parent_id"] = native
            transcript = _transcript(records, client=client, project=project, **own)
            found += [transcript] if transcript.messages else []
        return Parsed(tuple(found))

    contents = each_value(qwen_contents)


def _record(line: Line, value: Record, measure: Measured) -> _Record:
    kind, payload = text_of(value.get("type")), as_dict(value.get("systemPayload"))
    record = _Record(
        kind=text_of(value.get("subtype")) or kind if kind == "system" else kind,
        uuid=text_of(value.get("uuid")),
        parent=text_of(value.get("parentUuid")),
        session=text_of(value.get("sessionId")),
        agent=text_of(value.get("agentId")) or ("sidechain" if value.get("isSidechain") is True else ""),
        timestamp=seconds(value.get("timestamp")),
        model=text_of(value.get("model")),
        window=max(0, count_of(value.get("contextWindowSize"))),
    )
    role = ROLES.get(kind)
    if role is not None and isinstance(value.get("message"), dict):
        contents = qwen_contents(value)
        record.message = entry = _entry(contents, line.at(), role, measure)
        # A notification is a message that nobody typed; what the user typed stands in the payload.
        entry.meta = kind == "user" and value.get("subtype") == "notification"
        entry.typed = kind == "user" and is_prompt(contents) and not entry.meta
        if entry.typed:
            texts = [content.text for content in contents if content.kind is Kind.TEXT]
            entry.title = title_of(text_of(payload.get("displayText")) or prompt_words(texts))
        record.usage = _usage(as_dict(value.get("usageMetadata")))
    elif record.kind == COMPRESSION:
        _compression(record, payload, line, measure)
    elif record.kind == "custom_title":
        record.name = title_of(text_of(payload.get("customTitle")))
    elif record.kind == "slash_command":
        items = [as_dict(item) for item in as_list(payload.get("outputHistoryItems"))]
        told = [error_of(item.get("text")) for item in items]
        record.refusal = next((error for error in told if error and error.of_compaction), None)
        for held in (as_dict(item.get("compression")) for item in items):
            # Of one that failed by command no other record tells.
            record.refusal = _failed(held) or record.refusal
        record.command = text_of(payload.get("rawCommand")).split(" ")[0]
    elif record.kind == "ui_telemetry":
        event = as_dict(payload.get("uiEvent"))
        record.refusal = error_of(event.get("error_message"), count_of(event.get("status_code")))
    return record


def _usage(usage: Record) -> Usage | None:
    """Usage of a reply: the prompt includes cached tokens, and the candidates include the thoughts.

    Only where the total says that thoughts come on top, as Gemini's own API counts, are they added.
    """
    sent, said = count_of(usage.get("promptTokenCount")), count_of(usage.get("candidatesTokenCount"))
    thoughts, cached = count_of(usage.get("thoughtsTokenCount")), count_of(usage.get("cachedContentTokenCount"))
    if thoughts and count_of(usage.get("totalTokenCount")) == sent + said + thoughts:
        said += thoughts
    return inclusive_usage(sent, said, cache_read=cached, reasoning=thoughts) if sent else None


def _entry(contents: tuple[Content, ...], origin: Origin, role: Role, measure: Measured) -> Entry:
    said = tuple(content for content in contents if content.kind is not Kind.THINKING)
    return entry_of(contents, role, origin, measure, key=hash((role, said)))


def _compression(record: _Record, payload: Record, line: Line, measure: Measured) -> None:
    """The list after the compression; one that failed or came to nothing records no list."""
    info, history = as_dict(payload.get("info")), payload.get("compressedHistory")
    if not isinstance(history, list):
        record.refusal = _failed(info)
        return
    record.tokens_before, record.tokens_after = (size or None for size in _sizes(info))
    record.history = [
        _entry(
            qwen_contents(item),
            line.at("systemPayload", "compressedHistory", position),
            Role.ASSISTANT if item.get("role") == "model" else Role.USER,
            measure,
        )
        for position, item in enumerate(history)
        if isinstance(item, dict)
    ]


def _sizes(info: Record) -> tuple[int, int]:
    """The client's count before and after a compression."""
    return count_of(info.get("originalTokenCount")), count_of(info.get("newTokenCount"))


def _failed(info: Record) -> Refusal | None:
    """That a compression failed, by its status; None where it did not."""
    status, (before, after) = info.get("compressionStatus"), _sizes(info)
    if status in FAILED_STATUS:
        return failed_compaction()._replace(words=FAILED_STATUS[status])
    if status != LARGER:
        return None
    words = f"{NOT_SHRUNK}: from {before} to {after} tokens" if before and after else ""
    return failed_compaction()._replace(words=words, tokens=before or None)


def _merge(first: _Record, second: _Record) -> None:
    if first.message and second.message:
        said, more = first.message, second.message
        said.origins += more.origins
        said.blocks += more.blocks
        said.key = hash((said.key, more.key))
        said.preview = said.preview or more.preview
    first.model, first.usage = second.model or first.model, second.usage or first.usage
    first.window = second.window or first.window


def _transcript(records: Sequence[_Record], **facts: Any) -> Transcript:
    leaf = max((place for place, record in enumerate(records) if record.kind in TURNS), default=-1)
    thread, on_branch = Thread(), set(branch([(record.uuid, record.parent) for record in records], leaf))
    uuids = {records[number].uuid for number in on_branch}
    asked = {record.uuid for record in records if record.command == COMMAND}
    models = Counter(records[n].model for n in on_branch if records[n].model)
    live: list[int] = []
    title, window, told = "", 0, None
    for number, record in enumerate(records):
        here = number in on_branch
        if here or record.parent in uuids:
            title = record.name or title
            # Of one that failed by command a record of its own may stand before it.
            thread.refuse(None if record.command and record.refusal == told else record.refusal)
            told = record.refusal if record.kind == COMPRESSION else None if record.command else told
            if record.message is None:
                # What is told after the last turn hangs on what was told before it.
                uuids.add(record.uuid)
        if here:
            window = record.window or window
        if record.message is not None:
            place = _append(thread, record.message, record)
            thread.entries[place].dropped = not here
            live += [place] if here else []
        elif record.history is not None and here:
            live = _compress(thread, record, record.history, live)
            thread.marks[-1].trigger = "manual" if record.parent in asked else None
    facts |= {"model": models.most_common(1)[0][0] if models else "", "title": title}
    return session_of(thread, window=window or None, **facts)


def _append(thread: Thread, entry: Entry, record: _Record) -> int:
    entry.native_id, entry.timestamp = record.uuid, record.timestamp
    place = thread.add(entry)
    if entry.role is Role.ASSISTANT and record.history is None:
        thread.calls.append(Call(place, place + 1, record.model, record.timestamp, record.usage))
    return place


def _compress(thread: Thread, record: _Record, history: Sequence[Entry], live: list[int]) -> list[int]:
    """Replace what is live by the list after the compression; the places of that list."""
    number, stayed = len(thread.marks), _stayed(thread, history, live)
    mark = Mark(len(thread.entries), len(thread.calls), sorted(stayed.values()), outside=False)
    mark.tokens_before, mark.tokens_after = record.tokens_before, record.tokens_after
    thread.marks.append(mark)
    after = list(mark.preserved)
    for position, entry in enumerate(history):
        if position in stayed:
            continue
        place = _append(thread, entry, record)
        entry.compaction, entry.native_id = number, f"{record.uuid}.{position}" if record.uuid else ""
        if mark.summary is None and entry.role is Role.USER:
            mark.summary, entry.summary = place, True
        after.append(place)
    return after


def _stayed(thread: Thread, history: Sequence[Entry], live: Sequence[int]) -> dict[int, int]:
    """Positions of the list after a compression that stood in the one before, to their places there; from the end."""
    found: dict[int, int] = {}
    end = len(live)
    for position in range(len(history) - 1, -1, -1):
        keys = ((n, thread.entries[live[n]].key) for n in range(end - 1, -1, -1))
        match = next((n for n, key in keys if key == history[position].key), None)
        if match is not None:
            found[position], end = live[match], match
    return found
