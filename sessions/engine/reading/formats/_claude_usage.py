"""Responses of a Claude Code file: lines grouped by ``message.id``, usage counted once (formats 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions.engine.base import limits
from sessions.engine.reading.formats._claude_lines import PLACEHOLDER_CHARS_PER_TOKEN, ClaudeRecord
from sessions.engine.transcript.types import Block, Kind, Message, Role, Usage


@dataclass(slots=True)
class ClaudeMessage:
    """A message in the making, which stands at its ``first`` line: a response, or one user or attachment line."""

    first: ClaudeRecord
    more: list[ClaudeRecord] | None = None

    @property
    def records(self) -> Sequence[ClaudeRecord]:
        """All its lines."""
        return (self.first, *self.more) if self.more else (self.first,)

    def add(self, record: ClaudeRecord) -> None:
        """One line more."""
        self.more = self.more or []
        self.more.append(record)

    @property
    def is_reply(self) -> bool:
        """Whether it is a model's."""
        return self.first.role is Role.ASSISTANT


def units_of(records: Sequence[ClaudeRecord]) -> list[ClaudeMessage]:
    """Messages in file order; responses without an id are one per run of assistant lines."""
    units: list[ClaudeMessage] = []
    replies: dict[str, ClaudeMessage] = {}
    run: ClaudeMessage | None = None
    for record in records:
        if not record.is_message:
            continue
        if record.role is Role.ASSISTANT and record.response_id:
            if known := replies.get(record.response_id):
                known.add(record)
                continue
            replies[record.response_id] = unit = ClaudeMessage(record)
            units.append(unit)
            run = None
        elif record.role is Role.ASSISTANT and run:
            run.add(record)
        else:
            units.append(ClaudeMessage(record))
            run = units[-1] if record.role is Role.ASSISTANT else None
    return units


def reply_usage(unit: ClaudeMessage) -> Usage | None:
    """The last and largest usage of a response's lines, ``placeholder`` where its output never became final.

    A placeholder is an output that no line with a stop reason confirms and that is too small for what was written:
    8 characters or more for each token.
    """
    lines = [record.facts for record in unit.records]
    reported = [facts.usage for facts in lines if facts.usage]
    if not reported:
        return None
    best = max(reversed(reported), key=lambda usage: (usage.output, usage.context))
    n_visible = sum([facts.n_visible for facts in lines])
    stopped = any(facts.stopped for facts in lines)
    unfinished = not stopped and n_visible >= PLACEHOLDER_CHARS_PER_TOKEN * best.output
    return replace(best, placeholder=True) if unfinished and n_visible else best


def blocks_of(unit: ClaudeMessage) -> list[Block]:
    """The blocks of a unit's message."""
    return [block for record in unit.records for block in record.body.blocks]


def is_cut_thinking(unit: ClaudeMessage) -> bool:
    """Whether a reply reached its maximum while it only thought: the client does not send it again."""
    if not any(record.rare.cut for record in unit.records):
        return False
    return all(block.kind is Kind.THINKING for block in blocks_of(unit))


def message_of(
    unit: ClaudeMessage, index: int, native_id: str, compaction: int | None, *, resumed: bool = False
) -> Message:
    """The message of a unit at ``index``."""
    record, facts, body, more = unit.first, unit.first.facts, unit.first.body, unit.more
    bodies = [body, *[each.body for each in more]] if more else None
    previews = [each.preview for each in bodies or ()]
    return Message(
        index=index,
        id=native_id,
        role=record.role or Role.USER,
        blocks=tuple([block for each in bodies for block in each.blocks]) if bodies else body.blocks,
        origins=(facts.origin, *[each.facts.origin for each in more]) if more else (facts.origin,),
        preview=" · ".join(filter(None, previews))[: limits.PREVIEW_CHARS] if bodies else body.preview,
        timestamp=facts.timestamp,
        typed=facts.typed,
        meta=facts.meta,
        attachment=record.attachment,
        summary=record.summary,
        compaction=compaction,
        planned=facts.planned,
        resumed=resumed,
    )
