"""Responses of a Claude Code file: lines grouped by ``message.id``, usage counted once (formats 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sessions.engine import limits
from sessions.engine.formats._claude_lines import PLACEHOLDER_CHARS_PER_TOKEN
from sessions.engine.types import Message, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.formats._claude_lines import ClaudeRecord
    from sessions.engine.types import Usage


@dataclass(slots=True)
class ClaudeMessage:
    """A message in the making: all lines of one response, or one user or attachment line.

    ``first`` is its first line, which is where it stands; ``is_reply`` tells whether it is a model's.
    """

    records: list[ClaudeRecord]
    first: ClaudeRecord = field(init=False)
    is_reply: bool = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.records[0]
        self.is_reply = self.first.role is Role.ASSISTANT


def units_of(records: Sequence[ClaudeRecord]) -> list[ClaudeMessage]:
    """Messages in file order; responses without an id are one per run of assistant lines."""
    units: list[ClaudeMessage] = []
    replies: dict[str, ClaudeMessage] = {}
    run: ClaudeMessage | None = None
    for record in records:
        if not record.is_message:
            continue
        if record.role is Role.ASSISTANT and record.response_id:
            known = replies.get(record.response_id)
            if known:
                known.records.append(record)
                continue
            replies[record.response_id] = unit = ClaudeMessage([record])
            units.append(unit)
            run = None
        elif record.role is Role.ASSISTANT and run:
            run.records.append(record)
        else:
            units.append(ClaudeMessage([record]))
            run = units[-1] if record.role is Role.ASSISTANT else None
    return units


def reply_usage(unit: ClaudeMessage) -> Usage | None:
    """The last and largest usage of a response's lines, ``placeholder`` where its output never became final.

    A placeholder is an output that no line with a stop reason confirms and that is too small for what was written:
    8 characters or more for each token.
    """
    reported = [record.usage for record in unit.records if record.usage]
    if not reported:
        return None
    best = reported[0]
    for usage in reported[1:]:
        best = usage if (usage.output, usage.context) >= (best.output, best.context) else best
    n_visible = sum(record.n_visible for record in unit.records)
    stopped = any(record.stopped for record in unit.records)
    unfinished = not stopped and n_visible >= PLACEHOLDER_CHARS_PER_TOKEN * best.output
    return replace(best, placeholder=True) if unfinished and n_visible else best


def message_of(
    unit: ClaudeMessage, index: int, native_id: str, compaction: int | None, *, resumed: bool = False
) -> Message:
    """The message of a unit at ``index``."""
    first, records = unit.first, unit.records
    is_one = len(records) == 1
    return Message(
        index=index,
        id=native_id,
        role=first.role or Role.USER,
        blocks=first.blocks if is_one else tuple([block for record in records for block in record.blocks]),
        origins=(first.origin,) if is_one else tuple([record.origin for record in records]),
        preview=first.preview if is_one else _joined([record.preview for record in records]),
        timestamp=first.timestamp,
        typed=first.typed,
        meta=first.meta,
        attachment=first.attachment,
        summary=first.summary,
        compaction=compaction,
        planned=first.planned,
        resumed=resumed,
    )


def _joined(previews: Sequence[str]) -> str:
    return " · ".join(preview for preview in previews if preview)[: limits.PREVIEW_CHARS]
