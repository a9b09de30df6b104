"""Cline's and Roo's API history: Messages API blocks with marks for what left the context (formats 17).

Roo hides messages instead of deleting them: ``condenseParent`` names the summary, ``truncationParent`` the marker
that replaced them.  Both stand before the messages that were kept, so the next request is further on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats._assembly import Assembly, Kept
from sessions.engine.reading.formats._blocks import opaque
from sessions.engine.reading.formats._chat_blocks import parts_of, role_of
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Record, as_dict, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Skipped, Usage

KEPT_BY_ROO = 3
"""Messages behind an assistant summary that were there before it (Roo's N_MESSAGES_TO_KEEP)."""


@dataclass(frozen=True, slots=True)
class Condensation:
    """A recorded compaction: the message that stands for it, what it hid, how many messages behind it are older."""

    index: int
    summary: bool
    hidden: frozenset[int]
    n_kept: int


def entry_contents(entry: Any) -> tuple[Content, ...]:
    """The blocks of one entry of the history."""
    if not isinstance(entry, dict):
        return parts_of(entry)
    content = entry.get("content")
    if isinstance(content, list):
        return tuple(_block(block) for block in content)
    if content is None and "type" in entry:
        return (opaque({key: value for key, value in entry.items() if key not in ("role", "ts", "id")}),)
    return parts_of(content)


def read_history(
    entries: Sequence[Any], path: tuple[str | int, ...], size: int, assembly: Assembly, skipped: list[Skipped]
) -> None:
    """Every entry a message; a reply with metrics is a request, one without belongs to its run."""
    kept: list[Record] = []
    origins: list[Origin] = []
    for position, entry in enumerate(entries):
        if isinstance(entry, dict):
            kept.append(entry)
            origins.append(Origin(1, 0, size, (*path, position)))
        else:
            skipped.append(Skipped(1, 0, f"message {position} is not an object"))
    marks = _marks(kept)
    made = {mark.index: k for k, mark in enumerate(marks)}
    for index, entry in enumerate(kept):
        _add(assembly, entry, origins[index], made.get(index))
    gone: set[int] = set()
    kept_in_all = Kept()
    replies = [(r.message, r.index) for r in assembly.requests if r.message is not None]
    for mark in marks:
        gone |= mark.hidden
        _compaction(assembly, mark, kept_in_all.of(range(mark.index), gone), replies)


def _add(assembly: Assembly, entry: Record, origin: Origin, compaction: int | None) -> None:
    summary = compaction is not None and entry.get("isSummary") is True
    role, in_run = role_of(entry), assembly.follows_reply()
    index = assembly.add(
        role,
        entry_contents(entry),
        (origin,),
        id=text_of(entry.get("id")),
        typed=None if compaction is None else False,
        timestamp=seconds(entry.get("ts")),
        summary=summary,
        compaction=compaction,
    )
    usage = _usage(entry)
    if role is Role.ASSISTANT and compaction is None and (usage or not in_run):
        assembly.request(index, usage, **sold_by(entry))


def sold_by(entry: Record) -> dict[str, str]:
    """The model that an entry names and who sold it: the session's file and the extension's name them differently."""
    info = as_dict(entry.get("modelInfo"))
    model = text_of(info.get("id")) or text_of(info.get("modelId"))
    return {"model": model, "provider": text_of(info.get("provider")) or text_of(info.get("providerId"))}


def _usage(entry: Record) -> Usage | None:
    """Usage of a reply; ``inputTokens`` includes what the cache read or wrote (formats 1.1)."""
    metrics = entry.get("metrics")
    if not isinstance(metrics, dict):
        return None
    tokens = metrics.get("tokens")
    return usage_at(metrics, "cline history") or usage_at(as_dict(tokens), "cline tokens")


def _marks(entries: Sequence[Record]) -> list[Condensation]:
    marks = []
    condensed, truncated = _hidden(entries, "condenseParent"), _hidden(entries, "truncationParent")
    for index, entry in enumerate(entries):
        if entry.get("isSummary") is True:
            hidden = condensed.get(text_of(entry.get("condenseId")), frozenset())
            marks.append(Condensation(index, True, hidden, KEPT_BY_ROO if role_of(entry) is Role.ASSISTANT else 0))
        elif entry.get("isTruncationMarker") is True:
            hidden = truncated.get(text_of(entry.get("truncationId")), frozenset())
            marks.append(Condensation(index, False, hidden, len(hidden)))
    return marks


def _hidden(entries: Sequence[Record], key: str) -> dict[str, frozenset[int]]:
    """The messages that each compaction hides, by its id."""
    found: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        if native_id := text_of(entry.get(key)):
            found.setdefault(native_id, []).append(index)
    return {native_id: frozenset(indices) for native_id, indices in found.items()}


def _compaction(
    assembly: Assembly, mark: Condensation, preserved: tuple[int, ...], replies: Sequence[tuple[int, int]]
) -> None:
    """The compaction of one mark; without hidden messages what it removed was deleted, so it is outside."""
    at = bisect_left(replies, (mark.index + mark.n_kept + 1,))
    request = replies[at][1] if at < len(replies) else len(assembly.requests)
    before = assembly.requests[request - 1].usage if request else None
    assembly.compaction(
        mark.index,
        message=mark.index if mark.summary else None,
        request=request,
        tokens_before=before.context + before.output if before else None,
        preserved=preserved,
        outside=not mark.hidden,
    )


def _block(block: Any) -> Content:
    """One block; a file is sent as its text, results without types as their JSON."""
    if not isinstance(block, dict):
        return parts_of([block])[0]
    if block.get("type") == "file" and isinstance(block.get("content"), str):
        return Content(Kind.TEXT, text=block["content"], name="file", target=text_of(block.get("path")))
    results = block.get("content")
    if block.get("type") == "tool_result" and isinstance(results, list) and not any(map(_typed, results)):
        return parts_of([{**block, "content": dumps(results) if results else ""}])[0]
    return parts_of([block])[0]


def _typed(item: Any) -> bool:
    return not isinstance(item, dict) or "type" in item
