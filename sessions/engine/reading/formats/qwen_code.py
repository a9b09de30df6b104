"""Qwen Code sessions: chained lines like Claude Code's, whose messages are Gemini's content (formats 22).

A compression records the whole list after it: what of it stood there before stayed, the rest is its summary and what
goes with it.  A rewind leaves a branch; requests on it are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._qwen_records import (
    COMPRESSION,
    QwenMessage,
    QwenRecord,
    branch_of,
    is_qwen_record,
    merged,
    qwen_contents,
    record_of,
)  # fmt: skip
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread, session_of
from sessions.engine.reading.formats._values import text_of
from sessions.engine.transcript.types import Parsed, Role, Skipped, Transcript


@dataclass(slots=True)
class QwenSession:
    """The records of one conversation: the main one, or a sub-agent's."""

    records: list[QwenRecord] = field(default_factory=list)
    by_uuid: dict[str, QwenRecord] = field(default_factory=dict)


class _QwenCode:
    name = "qwen_code"
    label = "Qwen Code"
    source = "Session files of Qwen Code 0.21, ~/.qwen/projects/…/chats (JSONL)"
    coverage = Coverage(
        "0.21", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES, live=YES,
        records=Records(
            error="ui_telemetry error_message, status_code", compaction="chat_compression",
            window="contextWindowSize", model="model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        found = [value for value in lines if is_qwen_record(value)]
        if any(isinstance(value.get("message"), dict) for value in found):
            return Sniff(96, f"{len(found)} of the first {len(lines)} records are chained, with messages of parts")
        return Sniff(60, "chained system records with a payload, but no message among the first") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The main conversation on the branch of its last turn, then its sub-agents."""
        skipped: list[Skipped] = []
        sessions: dict[str, QwenSession] = {"": QwenSession()}
        client = project = ""
        unfit = "not a record with a uuid and a message of parts"
        for line, value in objects(source, skipped, is_qwen_record, unfit):
            client = text_of(value.get("version")) or client
            project = project or text_of(value.get("cwd"))
            record = record_of(line, value, measure)
            if record.kind == COMPRESSION and record.history is None:
                skipped.append(line.skipped("a compression that does not record the list after it"))
            _take(sessions.setdefault(record.agent, QwenSession()), record)
        native = next((r.session for r in reversed(sessions[""].records) if r.session), "") or stem_of(source.name)
        found: list[Transcript] = []
        for agent, session in sessions.items():
            own: dict[str, Any] = {"id": f"{native}.{agent}" if agent else native}
            if agent and found and not found[0].parent_id:
                own["parent_id"] = native
            transcript = _transcript(session, client=client, project=project, **own)
            found += [transcript] if transcript.messages else []
        return Parsed(self.name, tuple(found), tuple(skipped))

    contents = each_value(qwen_contents)


def _take(session: QwenSession, record: QwenRecord) -> None:
    """Keep a record; a second one of a reply with the same uuid is part of the first."""
    known = session.by_uuid.get(record.uuid)
    if record.kind == "assistant" and known is not None:
        merged(known, record)
        return
    session.records.append(record)
    if record.kind == "assistant":
        session.by_uuid[record.uuid] = record


def _transcript(session: QwenSession, **facts: Any) -> Transcript:
    thread, on_branch = Thread(), set(branch_of(session.records))
    uuids = {session.records[number].uuid for number in on_branch}
    models = Counter(session.records[n].model for n in on_branch if session.records[n].model)
    live: list[int] = []
    keys: dict[int, int] = {}
    title, window, n_left = "", 0, 0
    for number, record in enumerate(session.records):
        here = number in on_branch
        if here or record.parent in uuids:
            title = record.name or title
            thread.refuse(record.refusal)
            if record.message is None:
                # What is told after the last turn hangs on what was told before it.
                uuids.add(record.uuid)
        if here:
            window = record.window or window
        if record.message is not None:
            place = _append(thread, record.message, record)
            thread.entries[place].dropped = not here
            n_left += not here
            keys[place] = record.message.key
            live += [place] if here else []
        elif record.history is not None and here:
            live = _compress(thread, record, live, keys)
    notes = (f"Messages on branches that the session left: {n_left}; their requests are counted",) if n_left else ()
    facts |= {"model": models.most_common(1)[0][0] if models else "", "title": title, "warnings": notes}
    return session_of(thread, format=FORMAT.name, window=window or None, **facts)


def _append(thread: Thread, message: QwenMessage, record: QwenRecord) -> int:
    place = len(thread.entries)
    thread.entries.append(
        Entry(
            tuple(message.origins), message.role, message.blocks, message.preview, native_id=record.uuid,
            timestamp=record.timestamp, title=message.title, typed=message.typed, meta=message.meta,
        )
    )  # fmt: skip
    if message.role is Role.ASSISTANT and record.history is None:
        thread.calls.append(Call(place, place + 1, record.model, record.timestamp, record.usage))
    return place


def _compress(thread: Thread, record: QwenRecord, live: list[int], keys: dict[int, int]) -> list[int]:
    """Replace what is live by the list after the compression; the places of that list."""
    number, history = len(thread.marks), record.history or []
    mark = Mark(len(thread.entries), len(thread.calls), tokens_before=record.tokens_before, outside=False)
    thread.marks.append(mark)
    stayed = _stayed(history, live, keys)
    mark.preserved = sorted(stayed.values())
    after = []
    for position, message in enumerate(history):
        place = stayed.get(position)
        if place is None:
            place = _append(thread, message, record)
            entry = thread.entries[place]
            entry.compaction, keys[place] = number, message.key
            entry.native_id = f"{record.uuid}.{position}" if record.uuid else ""
            if mark.summary is None and message.role is Role.USER:
                mark.summary, entry.summary = place, True
        after.append(place)
    return sorted(after)


def _stayed(history: Sequence[QwenMessage], live: Sequence[int], keys: dict[int, int]) -> dict[int, int]:
    """Positions of the list after a compression that stood in the one before, to their places there; from the end."""
    found: dict[int, int] = {}
    end = len(live)
    for position in range(len(history) - 1, -1, -1):
        match = next((n for n in range(end - 1, -1, -1) if keys[live[n]] == history[position].key), None)
        if match is None:
            continue
        found[position], end = live[match], match
    return found


FORMAT = _QwenCode()
