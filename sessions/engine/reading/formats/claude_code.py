"""Claude Code session files: one JSON object a line, ``<sessionId>.jsonl`` or ``subagents/agent-*.jsonl`` (formats 3).

One model response is up to eleven lines with the same ``message.id``; it is one message, placed at its first line.
Records of the client (progress, hooks, snapshots, titles) and ``toolUseResult`` are not context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions.engine.reading.byte_breakdown import Tally
from sessions.engine.reading.formats import YES, Coverage, Format, Measured, Sniff, each_value
from sessions.engine.reading.formats._blocks import title_of
from sessions.engine.reading.formats._claude_bodies import Shelves
from sessions.engine.reading.formats._claude_build import kin_of, linked, transcripts_of
from sessions.engine.reading.formats._claude_lines import UI_TYPES, ClaudeRecord, line_contents, record_of, role_of
from sessions.engine.reading.formats._claude_ways import sessions_of, sidechains
from sessions.engine.reading.formats._marks import is_qwen_record
from sessions.engine.reading.formats._records import first_objects, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import Head, Line, Source, written_length
from sessions.engine.transcript.types import Block, Parsed, Transcript

CHAIN_KEYS = ("sessionId", "uuid", "parentUuid", "isSidechain", "leafUuid", "isSnapshotUpdate")
KNOWN_TYPES = (*UI_TYPES, "user", "assistant", "attachment")
TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}


@dataclass(slots=True)
class ClaudeReading:
    """What one pass over the file collects."""

    source: Source
    records: list[ClaudeRecord] = field(default_factory=list)
    shelves: Shelves = field(default_factory=Shelves)
    titles: dict[tuple[str, str], str] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    n_twins: int = 0
    twin_bytes: int = 0
    client: str = ""
    project: str = ""
    tally: Tally = field(default_factory=Tally)


class _Format(Format):
    label = "Claude Code"
    source = "Session files of Claude Code 1.0 to 2.1, ~/.claude/projects (JSONL)"
    coverage = Coverage(
        "1.0.0 to 2.1.219", usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES, live=YES,
        error="isApiErrorMessage, error, errorDetails, apiErrorStatus", compaction="compact_boundary",
        failed="compact_result failed, local-command-stderr", who="compactMetadata.trigger",
        clearing="microcompact_boundary", retry="system api_error",
        interruption="[Request interrupted by user", end="result with is_error", model="message.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        if any(is_qwen_record(value) for value in lines):
            return Sniff(0, "chained session lines, but their messages hold parts: Qwen Code's")
        chained = [v for v in lines if text_of(v.get("type")) in KNOWN_TYPES and any(key in v for key in CHAIN_KEYS)]
        if any(role_of(value) for value in chained):
            return Sniff(95, f"{len(chained)} of the first {len(lines)} lines are chained session lines")
        if chained:
            return Sniff(60, "session lines, but no message among the first lines")
        if any(value.get("type") in ("user", "assistant") for value in lines):
            return Sniff(0, "lines have a type, but none has sessionId, uuid or parentUuid")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One pass over the lines, then the chains: root session first, then its sub-agents."""
        reading = ClaudeReading(source)
        for line, value in objects(source):
            _read(reading, line, value, measure)
        built, alternatives = _transcripts(reading, source.name)
        reading.shelves.once = len(built) == 1 and not alternatives
        twins = f"Lines with toolUseResult: {reading.n_twins:,} ({reading.twin_bytes:,} bytes)"
        notes = noted((reading.n_twins, f"{twins}, the client's copy and not context"))
        return Parsed(
            transcripts=tuple(transcript for transcript, _ in built),
            alternatives=tuple(alternatives),
            warnings=notes + unread_notes(reading.unknown),
            fates=reading.tally.fates(source.size, len(source.skipped)),
            kin=tuple(kin_of(transcript, records) for transcript, records in built),
        )

    contents = each_value(line_contents)


def _read(reading: ClaudeReading, line: Line, value: Record, measure: Measured) -> None:
    kind = text_of(value.get("type"))
    if kind in TITLES:
        key = text_of(value.get("sessionId")) or text_of(value.get("leafUuid"))
        reading.titles[kind, key] = text_of(value.get(TITLES[kind]))
    if not kind and role_of(value) is None:
        reading.source.skip("an object without a type or a message", line)
        return
    is_empty = kind in ("user", "assistant") and value.get("message") is None
    if is_empty:
        reading.source.skip(f"a line of type {kind} without a message", line)
    record, facts, body = record_of(line, value, len(reading.records), reading.shelves, measure)
    if kind not in KNOWN_TYPES and not record.is_message:
        reading.unknown[kind] += 1
    twin_bytes = 0
    if "toolUseResult" in value:
        twin_bytes = written_length(value, "toolUseResult", line.data or b"")
        reading.n_twins += 1
        reading.twin_bytes += twin_bytes
        reading.tally.add("toolUseResult copies", 1, twin_bytes, part=True)
    if not is_empty:
        _tally(reading.tally, kind, body.blocks if record.is_message else None, line.length - twin_bytes)
    reading.client = text_of(value.get("version")) or reading.client
    reading.project = reading.project or text_of(value.get("cwd"))
    if record.uuid or record.is_message or record.rare.refusal or record.rare.clearing:
        # It holds the names that the one before it holds, not copies of them.
        before = reading.records[-1] if reading.records else record
        record.parent = before.uuid if record.parent == before.uuid else record.parent
        record.response_id = before.response_id if record.response_id == before.response_id else record.response_id
        reading.records.append(record)
        reading.shelves.facts.add(facts)
        reading.shelves.bodies.add(body)


def _tally(tally: Tally, kind: str, blocks: tuple[Block, ...] | None, n_bytes: int) -> None:
    """Account for a line without its twin, by type; ``blocks`` of a message, else None."""
    if blocks is not None:
        tally.message(blocks, n_bytes)
    elif kind == "assistant":
        tally.add("error and synthetic replies", 1, n_bytes)
    elif kind in KNOWN_TYPES:
        tally.add(f"{kind} records", 1, n_bytes)
    else:
        tally.add(f"unknown type {kind!r}", 1, n_bytes, opaque=True)


def _transcripts(
    reading: ClaudeReading, name: str
) -> tuple[list[tuple[Transcript, list[ClaudeRecord]]], list[Transcript]]:
    """The sessions on their latest branches, each with its lines, and the same on those that a rewind left."""
    main = [record for record in reading.records if not record.sidechain]
    sides = sidechains([record for record in reading.records if record.sidechain])
    of_file = {"client": reading.client, "project": reading.project}
    built: list[tuple[Transcript, list[ClaudeRecord]]] = []
    alternatives: list[Transcript] = []
    if any(record.is_message for record in main):
        for records in sessions_of(main):
            native_id = next((r.session for r in reversed(records) if r.session), "") or stem_of(name)
            latest, *left = transcripts_of(records, native_id, _title(reading, records), **of_file)
            built.append((latest, records))
            alternatives += left
    children = []
    for key, records in sides.items():
        if any(record.is_message for record in records):
            latest, *left = transcripts_of(records, key, **of_file)
            children.append((latest, records))
            alternatives += left
    if not built:
        return children, alternatives
    return built + list(zip(linked(children, built), [records for _, records in children], strict=True)), alternatives


def _title(reading: ClaudeReading, records: Sequence[ClaudeRecord]) -> str:
    """The newest title of this session; a summary counts only if its leaf is one of these lines."""
    sessions = {record.session for record in records} | {""}
    uuids = {record.uuid for record in records}
    for kind in TITLES:
        homes = uuids if kind == "summary" else sessions
        named = [title for (k, key), title in reading.titles.items() if k == kind and key in homes and title]
        if named:
            return title_of(named[-1])
    return ""
