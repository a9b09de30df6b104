"""Messages of Hermes, rows and entries alike, and the conversations that its sessions make (formats 50)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats._blocks import result_of
from sessions.engine.reading.formats._chat_entries import chat_call, chat_parts
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._trace_dialects import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Role

if TYPE_CHECKING:
    from sessions.engine.reading.formats._assembly import Assembly

ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM, "user": Role.USER, "tool": Role.USER}
COMPRESSED = "compression"
SUMMARY = "[CONTEXT "
"""How a summary starts: "[CONTEXT COMPACTION" or, in older versions, "[CONTEXT SUMMARY]"."""
MAX_CHAIN = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """A session of Hermes: its own facts, and its messages with their origins, read when they are asked for."""

    record: Record
    load: Callable[[], Sequence[tuple[Record, Origin]]]

    @property
    def id(self) -> str:
        """Its own id."""
        return text_of(self.record.get("id")) or text_of(self.record.get("session_id"))

    @property
    def parent(self) -> str:
        """The session it goes on from, or was started by."""
        return text_of(self.record.get("parent_session_id"))


def is_hermes_message(value: Any) -> bool:
    """An entry with a role of a chat and content or calls."""
    held = as_dict(value)
    return text_of(held.get("role")) in ROLES and ("content" in held or "tool_calls" in held)


def hermes_contents(value: Any) -> tuple[Content, ...]:
    """Thinking, what is said, calls; a tool's entry is one result."""
    said = as_dict(value)
    held = said.get("content")
    parts = decoded(held) if isinstance(held, str) and held.lstrip().startswith('[{"type"') else held
    found = chat_parts(parts)
    if said.get("role") == "tool":
        return (result_of(found, said.get("tool_call_id")),)
    thought = text_of(said.get("reasoning_content")) or text_of(said.get("reasoning"))
    encrypted = "".join(
        text_of(as_dict(item).get("encrypted_content")) for item in as_list(decoded(said.get("codex_reasoning_items")))
    )
    thinking = (Content(Kind.THINKING, text=thought, payload=encrypted),) if thought or encrypted else ()
    return (*thinking, *found, *(chat_call(call) for call in as_list(decoded(said.get("tool_calls")))))


def lineages(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Sessions in the order of the file, each with those that go on from it after a compaction."""
    by_id = {entry.id: entry for entry in entries if entry.id}
    after: dict[str, Entry] = {}
    for entry in entries:
        parent = by_id.get(entry.parent)
        if parent is not None and parent is not entry and parent.record.get("end_reason") == COMPRESSED:
            after.setdefault(parent.id, entry)
    later = {id(entry) for entry in after.values()}
    found = []
    for entry in entries:
        chain = [entry]
        while chain[-1].id in after and len(chain) < MAX_CHAIN and after[chain[-1].id] not in chain:
            chain.append(after[chain[-1].id])
        if id(entry) not in later:
            found.append(chain)
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
        messages = entry.load()
        left = [bool(said.get("compacted")) and said.get("active") == 0 for said, _ in messages]
        start = len(left) - left[::-1].index(True) if any(left) else 0
        if self._n_sessions and start < len(left):
            self._compact(messages[:start] or messages)
        else:
            self._add_all(messages[:start])
        if start:
            self._compact(messages[start:])
        elif not self._n_sessions:
            self._add_all(messages)
        self._n_sessions += 1
        for what, n in self._n_other.items():
            self.history.warnings.append(f"{what}: {n:,}, not messages")
        self._n_other.clear()

    def _add_all(self, messages: Sequence[tuple[Record, Origin]], made: int | None = None) -> None:
        for said, origin in messages:
            self._add(said, origin, made)

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
        facts: dict[str, Any] = {
            "id": f"m{native}" if isinstance(native, int) else text_of(native),
            "timestamp": seconds(said.get("timestamp")),
        }
        if made is not None and _is_summary(contents):
            index = self.history.summary(contents, (origin,), made, **facts)
        elif role is Role.ASSISTANT and made is None:
            index = self.history.reply(contents, (origin,), **facts)
            self.history.end_run()
        else:
            index = self.history.add(role, contents, (origin,), compaction=made, **facts)
        self.keys.setdefault(contents, index)


def _is_summary(contents: Sequence[Content]) -> bool:
    return any(content.kind is Kind.TEXT and content.text.lstrip().startswith(SUMMARY) for content in contents)
