"""Which lines of a Claude Code file belong to one session, and which a compaction kept (formats 3.5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from sessions.engine.reading.formats._values import as_dict
from sessions.engine.transcript.types import Role

if TYPE_CHECKING:
    from sessions.engine.reading.formats._claude_lines import ClaudeRecord


def without_copies(records: Sequence[ClaudeRecord]) -> tuple[list[ClaudeRecord], list[ClaudeRecord]]:
    """Records, and the copies among them: lines written again with the same uuid and the same blocks."""
    seen: dict[str, ClaudeRecord] = {}
    kept: list[ClaudeRecord] = []
    copies: list[ClaudeRecord] = []
    for record in records:
        known = seen.get(record.uuid) if record.uuid else None
        if known and known.role is record.role and _shape(known) == _shape(record):
            copies.append(record)
            continue
        if record.uuid and not known:
            seen[record.uuid] = record
        kept.append(record)
    return kept, copies


def sidechains(records: Iterable[ClaudeRecord]) -> dict[str, list[ClaudeRecord]]:
    """Sub-agent lines by agent id, else by the uuid of their root."""
    by_uuid = {record.uuid: record for record in records if record.uuid}
    chains: dict[str, list[ClaudeRecord]] = {}
    roots: dict[str, str] = {}
    for record in records:
        key = f"agent-{record.agent}" if record.agent else ""
        if not key:
            key = roots.get(record.parent) or record.uuid or f"L{record.facts.origin.line}"
            if record.parent in by_uuid and record.parent not in roots:
                key = _root(record, by_uuid)
            roots[record.uuid] = key
        chains.setdefault(key, []).append(record)
    return chains


def sessions_of(records: Sequence[ClaudeRecord]) -> list[list[ClaudeRecord]]:
    """Main lines by session.

    A resumed session copies lines with their old session id: such lines are linked, and stay together. Only a group
    of lines with its own session id, no link to the others and a chain of its own is another session.
    """
    groups: dict[str, list[ClaudeRecord]] = {}
    for record in records:
        groups.setdefault(record.session, []).append(record)
    if len(groups) < 2:
        return [list(records)] if records else []
    home = {record.uuid: record.session for record in records if record.uuid}
    merged = {session: session for session in groups}
    linked: set[str] = set()
    for record in records:
        parent = home.get(record.parent)
        if parent is None:
            continue
        if parent == record.session:
            linked.add(parent) if record.role is Role.ASSISTANT else None
            continue
        old, new = _find(merged, parent), _find(merged, record.session)
        merged[old] = new
    alone = {name for name in groups if name in linked or _find(merged, name) != name}
    anchor = next((name for name in groups if name in alone), next(iter(groups)))
    found: dict[str, list[ClaudeRecord]] = {}
    for record in records:
        name = _find(merged, record.session) if record.session in alone else _find(merged, anchor)
        found.setdefault(name, []).append(record)
    return list(found.values())


def preserved_uuids(
    boundary: ClaudeRecord, copies: Sequence[ClaudeRecord], records: Mapping[str, ClaudeRecord], answered: int | None
) -> set[str]:
    """Uuids of the messages that a compaction kept: named by its metadata, else written again right after it.

    ``copies`` are in file order, ``records`` all other lines by their uuid; ``answered`` is the order of the first
    reply after the boundary, None without one.  Copies behind it are none: a later compaction writes again what an
    earlier one took out.
    """
    facts = boundary.rare.boundary or {}
    uuids = as_dict(facts.get("preservedMessages")).get("uuids")
    kept = {uuid for uuid in uuids if isinstance(uuid, str)} if isinstance(uuids, list) else set()
    segment = facts.get("preservedSegment")
    if isinstance(segment, dict):
        kept |= _segment(segment, boundary, records)
    if kept:
        return kept
    later = bisect_right(copies, boundary.order, key=attrgetter("order"))
    return {copy.uuid for copy in copies[later:] if answered is None or copy.order < answered}


def _segment(segment: Mapping[str, object], boundary: ClaudeRecord, records: Mapping[str, ClaudeRecord]) -> set[str]:
    """The lines from a segment's head to its tail, up the chain; in file order where that does not lead to the head.

    The line of a hook that the tail is may hang from a copy of a much older one.
    """
    head, kept = records.get(str(segment.get("headUuid"))), set()
    step = records.get(str(segment.get("tailUuid")))
    while step and step.order < boundary.order and step.uuid not in kept:
        kept.add(step.uuid)
        if step is head:
            return kept
        step = records.get(step.parent)
    if head is None:
        return kept
    return {uuid for uuid, record in records.items() if head.order <= record.order < boundary.order}


def _shape(record: ClaudeRecord) -> tuple[object, ...]:
    return tuple((b.kind, b.n_bytes, b.n_payload, b.call_id, len(b.parts)) for b in record.body.blocks)


def _root(record: ClaudeRecord, by_uuid: dict[str, ClaudeRecord]) -> str:
    seen: set[str] = set()
    while record.parent in by_uuid and record.uuid not in seen:
        seen.add(record.uuid)
        record = by_uuid[record.parent]
    return record.uuid


def _find(merged: dict[str, str], name: str) -> str:
    while merged[name] != name:
        merged[name] = name = merged[merged[name]]
    return name
