"""Entries of a pi session and the branch that its last one stands on (formats 11).

Version 1 has no ids and is one line of entries.  Later versions are a tree: the branch is the way from the last entry
up to the root.  A parent that is not in the file, or that leads in a circle, is replaced by the entry before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._pi_messages import ROLES, pi_contents, pi_usage
from sessions.engine.reading.formats._preview import preview_of, title_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Measured, Record, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Skipped

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Line

NOT_CONTEXT = frozenset({"session", "model_change", "thinking_level_change", "custom", "label", "session_info"})
INTO_CONTEXT = {"branch_summary": "summary", "custom_message": "content"}


@dataclass(slots=True)
class Node:
    """One entry of the file; ``place`` is its message in the thread, ``mark`` the compaction it records."""

    ident: str
    parent: str | None
    place: int | None = None
    mark: Mark | None = None
    first_kept: int | str | None = None
    summary: str = ""


@dataclass(slots=True)
class PiReading:
    """What one pass over the file collects."""

    measure: Measured
    thread: Thread = field(default_factory=Thread)
    nodes: list[Node] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    header: Record = field(default_factory=dict)
    name: str = ""


def read_entry(reading: PiReading, line: Line, value: Record) -> None:
    """Take one entry of the file."""
    kind, parent = text_of(value.get("type")), value.get("parentId")
    node = Node(text_of(value.get("id")), parent if isinstance(parent, str) else None)
    reading.nodes.append(node)
    message = value.get("message")
    if kind == "session":
        reading.header, node.ident = reading.header or value, ""
    elif kind == "session_info":
        reading.name = text_of(value.get("name")) or reading.name
    elif kind == "message" and isinstance(message, dict):
        if message.get("excludeFromContext") is not True:
            _add_message(reading, node, message, _origin(line, "message"), seconds(value.get("timestamp")))
    elif kind == "compaction":
        _add_compaction(reading, node, value, line)
    elif kind in INTO_CONTEXT and INTO_CONTEXT[kind] in value:
        key = INTO_CONTEXT[kind]
        entry = _entry(reading, pi_contents(value[key]), _origin(line, key), Role.USER, seconds(value.get("timestamp")))
        entry.meta, entry.native_id = True, node.ident
        _append(reading, node, entry)
    elif kind == "message" or kind in INTO_CONTEXT:
        reading.skipped.append(Skipped(line.number, line.offset, f"an entry of type {kind} without its content"))
    elif kind not in NOT_CONTEXT:
        reading.unknown[kind] = reading.unknown.get(kind, 0) + 1


def settle_branch(reading: PiReading) -> None:
    """Drop what is not on the branch of the last entry, and find what each compaction of it kept."""
    branch = _branch(reading.nodes)
    for number, node in enumerate(reading.nodes):
        if node.place is not None:
            reading.thread.entries[node.place].dropped = number not in branch
    path = sorted(branch)
    for number in path:
        node = reading.nodes[number]
        if node.mark is None:
            continue
        if node.place is not None:
            reading.thread.entries[node.place].compaction = len(reading.thread.marks)
        node.mark.preserved = _kept(reading.nodes, path, number)
        reading.thread.marks.append(node.mark)


def _add_message(reading: PiReading, node: Node, message: Record, origin: Origin, timestamp: float | None) -> None:
    role_name = text_of(message.get("role"))
    role = ROLES.get(role_name, Role.USER)
    entry = _entry(reading, contents := pi_contents(message), origin, role, timestamp)
    entry.native_id = node.ident
    entry.typed = role_name == "user" and is_prompt(contents)
    entry.meta = role is Role.USER and role_name not in ("user", "toolResult")
    if entry.typed:
        entry.title = title_of("\n".join(content.text for content in contents if content.kind is Kind.TEXT))
    place = _append(reading, node, entry)
    if role is Role.ASSISTANT:
        usage = pi_usage(message)
        # pi leaves replies that were broken off out of what it sends (transform-messages).
        aborted = message.get("stopReason") in ("aborted", "error")
        if message.get("stopReason") == "error":
            reading.thread.fail(message.get("errorMessage"))
        elif message.get("stopReason") == "aborted":
            reading.thread.event(EventKind.INTERRUPTION, text_of(message.get("errorMessage")))
        model, response_id = text_of(message.get("model")), text_of(message.get("responseId"))
        failed, seller = aborted and usage is None, text_of(message.get("provider"))
        reading.thread.calls.append(
            Call(place, place + 1, model, timestamp, usage, failed, response_id, aborted, seller)
        )


def _add_compaction(reading: PiReading, node: Node, value: Record, line: Line) -> None:
    """The context is then the summary, what was kept before this line, and what follows it."""
    mark = Mark(len(reading.thread.entries), len(reading.thread.calls), outside=False)
    mark.tokens_before = count_of(value.get("tokensBefore")) or None
    kept_id, kept_index = value.get("firstKeptEntryId"), value.get("firstKeptEntryIndex")
    node.mark = mark
    if isinstance(kept_id, str):
        node.first_kept = kept_id
    elif isinstance(kept_index, int) and not isinstance(kept_index, bool):
        node.first_kept = kept_index
    if text_of(value.get("summary")):
        origin = _origin(line, "summary")
        entry = _entry(reading, pi_contents(value["summary"]), origin, Role.USER, seconds(value.get("timestamp")))
        entry.summary, entry.native_id = True, node.ident
        mark.summary = _append(reading, node, entry)


def _entry(
    reading: PiReading, contents: tuple[Content, ...], origin: Origin, role: Role, timestamp: float | None
) -> Entry:
    return Entry((origin,), role, reading.measure(contents), preview_of(contents), timestamp=timestamp)


def _append(reading: PiReading, node: Node, entry: Entry) -> int:
    node.place = len(reading.thread.entries)
    reading.thread.entries.append(entry)
    return node.place


def _origin(line: Line, key: str) -> Origin:
    return Origin(line.number, line.offset, line.length, (key,))


def _branch(nodes: Sequence[Node]) -> set[int]:
    numbers = {node.ident: number for number, node in enumerate(nodes) if node.ident}
    found: set[int] = set()
    at = len(nodes) - 1
    while at >= 0:
        found.add(at)
        node = nodes[at]
        if node.ident and node.parent is None:
            roots = [number for number in range(at) if not nodes[number].ident]
            return found | set(roots)
        above = numbers.get(node.parent) if node.parent else None
        at = above if above is not None and above < at else at - 1
    return found


def _kept(nodes: Sequence[Node], path: Sequence[int], number: int) -> list[int]:
    """Messages from the first kept entry up to the compaction's own line, earlier summaries left out."""
    wanted = nodes[number].first_kept
    if isinstance(wanted, int):
        start = wanted
    else:
        start = next((n for n in path if nodes[n].ident and nodes[n].ident == wanted), number)
    kept = (nodes[n] for n in path if start <= n < number)
    return [node.place for node in kept if node.place is not None and node.mark is None]
