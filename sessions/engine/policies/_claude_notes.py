"""Claude Code's session memory: notes kept in the background, used in place of a summary call (policies 4.8).

The calls that keep the notes are made in the background and are not billed in a replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.policies._claude_attached import attachments
from sessions.engine.policies._lists import apart, came_since
from sessions.engine.policies.policy import Item, View, pair_safe_cut
from sessions.engine.transcript.types import Kind, Role

PADDED = "claude_code_padded"


@dataclass(slots=True)
class Notes:
    """When the notes were written last (``memory["notes"]``): the context then, the newest reply they cover."""

    written: bool = False
    tokens: int = 0
    covers: str = ""
    calls: int = 0


def keep_notes(params: Any, view: View) -> Notes:
    """Write them where due: first at 10,000 tokens; then after 5,000 more and three tool calls, or a reply without."""
    notes: Notes = view.state.memory.setdefault("notes", Notes())
    reply, has_calls = "", False
    for item in came_since(view, "notes_seen"):
        if item.message.role is Role.ASSISTANT:
            n_calls = sum(block.kind is Kind.TOOL_USE for block in item.message.blocks)
            notes.calls += n_calls
            reply, has_calls = (reply, has_calls) if reply else (item.id, n_calls > 0)
    total = view.size if view.usage is None else view.usage.spent
    notes.tokens = min(notes.tokens, total)
    first = not notes.written and total >= params.notes_first
    again = notes.written and total - notes.tokens >= params.notes_growth
    if reply and (first or (again and (notes.calls >= params.notes_calls or not has_calls))):
        notes.written, notes.tokens, notes.covers, notes.calls = True, total, reply, 0
    return notes


def from_notes(params: Any, view: View, threshold: int) -> list[Item] | None:
    """Notes, the messages they do not cover, attachments; None where a full compaction must be made (policies 4.8)."""
    notes: Notes = view.state.memory.get("notes", Notes())
    system, rest = apart(view.items)
    covered = next((n for n, item in enumerate(rest) if item.id == notes.covers), None)
    if not notes.written or covered is None:
        return None
    start = _start(params, view, rest, covered + 1)
    kept = rest[start:]
    if not start or sum(item.size for item in kept) >= threshold:
        return None
    made = view.summarize(rest[:start], attachments(params, rest[:start], kept), calls=0, most=params.notes_tokens)
    after = [*system, *made, *kept]
    return None if sum(item.size for item in after) >= threshold else after


def _start(params: Any, view: View, rest: Sequence[Item], start: int) -> int:
    floor = 1 + max((n for n, item in enumerate(rest) if item.inserted or item.message.summary), default=-1)
    start = max(start, floor)
    tokens = sum(view.tools.size_by(item, PADDED) for item in rest[start:])
    texts = sum(_has_text(item) for item in rest[start:])
    while (tokens < params.keep_tokens or texts < params.keep_messages) and tokens < params.keep_most:
        if start <= floor:
            break
        start -= 1
        tokens += view.tools.size_by(rest[start], PADDED)
        texts += _has_text(rest[start])
    return pair_safe_cut(rest, start)


def _has_text(item: Item) -> bool:
    return any(block.kind is Kind.TEXT for block in item.message.blocks)
