"""Hermes: its state.db, its exports, and the session files of older versions (formats 50).

A compaction ends a session and starts another that names it as its parent: the two are one conversation.  A session
that was compacted in place keeps the rows that left, marked so.  Usage stands for whole sessions only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import preview_of, result_of, text_blocks
from sessions.engine.reading.formats._chat_blocks import call_of, parts_of
from sessions.engine.reading.formats._traces import decoded, tools_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, first_text, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM, "user": Role.USER, "tool": Role.USER}
SUMMARY = "[CONTEXT "
"""How a summary starts: "[CONTEXT COMPACTION" or, in older versions, "[CONTEXT SUMMARY]"."""
MAX_CHAIN = 1000
OWN_KEYS = ("session_start", "platform", "end_reason", "source", "parent_session_id")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A session of Hermes: its own facts, and its messages with their origins, read when they are asked for.

    ``parent`` is the session that it goes on from, or was started by.
    """

    id: str
    parent: str
    record: Record
    load: Callable[[], Iterable[tuple[Record, Origin]]]


def hermes_contents(value: Any) -> tuple[Content, ...]:
    """Thinking, what is said, calls; a tool's entry is one result."""
    said = as_dict(value)
    held = said.get("content")
    parts = decoded(held) if isinstance(held, str) and held.lstrip().startswith('[{"type"') else held
    found = parts_of(parts)
    if said.get("role") == "tool":
        return (result_of(found, said.get("tool_call_id")),)
    thought = text_of(said.get("reasoning_content")) or text_of(said.get("reasoning"))
    encrypted = "".join(
        text_of(as_dict(item).get("encrypted_content")) for item in as_list(decoded(said.get("codex_reasoning_items")))
    )
    return (
        *text_blocks(thought, Kind.THINKING, encrypted),
        *found,
        *(call_of(call) for call in as_list(decoded(said.get("tool_calls")))),
    )


def lineages(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Sessions in the order of the file, each with those that go on from it after a compaction."""
    by_id = {entry.id: entry for entry in entries if entry.id}
    after: dict[str, Entry] = {}
    for entry in entries:
        parent = by_id.get(entry.parent)
        if parent is not None and parent is not entry and parent.record.get("end_reason") == "compression":
            after.setdefault(parent.id, entry)
    later = set(after.values())
    found = [[entry] for entry in entries if entry not in later]
    for chain in found:
        while chain[-1].id in after and len(chain) < MAX_CHAIN and after[chain[-1].id] not in chain:
            chain.append(after[chain[-1].id])
    return found


class Lineage:
    """One conversation in the making; ``keys`` are the live messages by what they say."""

    def __init__(self, history: Assembly) -> None:
        self.history = history
        self.keys: dict[tuple[Content, ...], int] = {}
        self._n_sessions = 0
        self._n_other: Counter[str] = Counter()

    def take(self, entry: Entry) -> None:
        """A session's messages: a compaction stands before those of the second, and where rows left in place."""
        messages = list(entry.load())
        left = [bool(said.get("compacted")) and said.get("active") == 0 for said, _ in messages]
        start = len(left) - left[::-1].index(True) if any(left) else 0
        before = messages[:start] or messages
        if self._n_sessions and start < len(left):
            self._compact(before)
        elif start or not self._n_sessions:
            for said, origin in before:
                self._add(said, origin)
        if start:
            self._compact(messages[start:])
        self._n_sessions += 1
        self.history.warnings += [f"{what}: {n:,}, not messages" for what, n in self._n_other.items()]
        self._n_other.clear()

    def _compact(self, messages: Sequence[tuple[Record, Origin]]) -> None:
        """What is sent again stays; what stands before the last of it, or is the summary, the compaction made."""
        contents = [hermes_contents(said) for said, _ in messages]
        again = [place for place, said in enumerate(contents) if said in self.keys]
        kept = {self.keys[contents[place]] for place in again}
        number = self.history.forget(index for index in range(len(self.history.messages)) if index not in kept)
        self.keys = {key: index for key, index in self.keys.items() if index in kept}
        for place, (said, origin) in enumerate(messages):
            if place in again:
                continue
            made = place < max(again, default=-1) or _is_summary(contents[place])
            self._add(said, origin, number if made else None)

    def _add(self, said: Record, origin: Origin, made: int | None = None) -> None:
        contents = hermes_contents(said)
        role = ROLES.get(text_of(said.get("role")))
        if role is None:
            self._n_other[f"Entries with the role {text_of(said.get('role')) or '(none)'}"] += 1
            return
        if said.get("active") == 0 and not said.get("compacted"):
            self._n_other["Messages that were rewound"] += 1
            return
        if not contents:
            return
        native = said.get("id")
        name = f"m{native}" if isinstance(native, int) else text_of(native)
        facts: dict[str, Any] = {"id": name, "timestamp": seconds(said.get("timestamp"))}
        if _is_summary(contents):
            made = self.history.forget(()) if made is None else made  # what it took out is in another file
            facts["preview"] = preview_of(replace(one, text=one.text.partition("\n")[2]) for one in contents)
            index = self.history.summary(contents, (origin,), made, **facts)
        elif role is Role.ASSISTANT and made is None:
            index = self.history.answer(contents, (origin,), **facts)
        else:
            index = self.history.add(role, contents, (origin,), compaction=made, **facts)
        self.keys.setdefault(contents, index)


def _is_summary(contents: Sequence[Content]) -> bool:
    return any(content.kind is Kind.TEXT and content.text.lstrip().startswith(SUMMARY) for content in contents)


class _Format(Format):
    label = "Hermes"
    source = "Hermes Agent: ~/.hermes/state.db (SQLite), its exports (JSONL) and older session files (JSON)"
    coverage = Coverage(usage=PARTLY, images=YES, compactions=YES, subagents=YES, compaction="a summary's prefix")

    def sniff(self, head: Head) -> Sniff | None:
        if files.has_columns(head, "sessions", "end_reason", "parent_session_id"):
            if files.has_columns(head, "messages", "session_id", "tool_calls", "finish_reason"):
                return Sniff(95, "a database with sessions that have an end_reason, and messages that have tool_calls")
            return Sniff(0, "a database with sessions that have an end_reason, but no messages")
        n = sum(_is_record(record) for record in files.first_records(head))
        return Sniff(94, f"{n} records are a session with its messages, as Hermes keeps them") if n else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The conversations: what a compaction cut in two is one."""
        entries = list(_entries(source))
        if not entries:
            raise files.misread("no sessions of Hermes")
        found, chains = [], lineages(entries)
        whole = {entry.id: chain[0].id for chain in chains for entry in chain}
        for chain in chains:
            lineage = Lineage(Assembly(measure))
            for entry in chain:
                lineage.take(entry)
            first, last = chain[0], chain[-1].record
            tools = tools_of([as_dict(tool) for tool in as_list(decoded(first.record.get("tools")))])
            transcript = lineage.history.transcript(
                first.id or files.stem_of(source.name),
                title=text_of(last.get("title")),
                model=text_of(last.get("model")),
                parent_id=whole.get(first.parent, first.parent),
                system=measure(parts_of(text_of(first.record.get("system_prompt"))) + tools),
            )
            found.append(transcript)
        return read_as(found)

    contents = each_value(hermes_contents)


def _is_record(record: Record) -> bool:
    """A session with entries that have a role of a chat, and content or calls."""
    said = [one for one in as_list(record.get("messages")) if text_of(as_dict(one).get("role")) in ROLES]
    if not any("content" in one or "tool_calls" in one for one in said):
        return False
    named = isinstance(record.get("session_id"), str) or isinstance(record.get("id"), str)
    own = any(key in record for key in OWN_KEYS)
    return named and own and ("message_count" in record or "session_start" in record or "started_at" in record)


def _entries(source: Source) -> Iterator[Entry]:
    sessions: list[tuple[Record, Callable[[], Iterable[tuple[Record, Origin]]]]] = []
    if source.database() is None:
        for record, origin in files.records(source, _is_record, "a record that is no session"):
            found = list(files.objects_in(record["messages"], files.inside(origin, "messages"), source, "message"))
            sessions.append((record, partial(iter, found)))
    else:
        where = "WHERE session_id = ? ORDER BY rowid"
        for row, _ in files.rows_of(source, "sessions", "ORDER BY started_at, rowid"):
            sessions.append((row, partial(files.rows_of, source, "messages", where, (row.get("id"),))))
    for facts, load in sessions:
        yield Entry(first_text(facts, "id", "session_id"), text_of(facts.get("parent_session_id")), facts, load)
