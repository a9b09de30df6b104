"""A mechanical summary made of what the messages say about themselves: deterministic, no model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sessions.engine.policy import Draft
from sessions.engine.summaries import Brief, Summarizer, Written
from sessions.engine.tokenizer import count
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item
    from sessions.engine.types import Block, Message

LINE_CHARS = 160
REQUESTS, FILES, PENDING, TIMELINE = 3, 8, 3, 40
PENDING_WORDS = ("todo", "next", "pending", "follow up", "remaining")


def write(brief: Brief) -> Written:
    """Counts, tools, last requests, files, pending work, current work and a timeline of the dropped messages."""
    text = "\n".join(_sections(brief.dropped))
    tokens = round(count(text).n_tokens * brief.weighed.ratio)
    return Written((Draft(text[:LINE_CHARS], tokens, text, summary=True),), source="extractive, no model")


def _sections(dropped: Sequence[Item]) -> list[str]:
    messages = [item.message for item in dropped]
    calls = [b for m in messages for b in m.blocks if b.kind is Kind.TOOL_USE]
    lines = [f"Summary of {len(messages)} earlier messages (mechanical, no model)."]
    lines.append("Messages: " + ", ".join(f"{n} {role}" for role, n in _counts(m.role.value for m in messages)))
    if calls:
        lines.append("Tools: " + ", ".join(sorted({b.name for b in calls if b.name})))
    lines += _listed("Last requests", [m.preview for m in messages if m.typed][-REQUESTS:])
    lines += _listed("Files", _files(calls)[:FILES])
    lines += _listed("Pending", [m.preview for m in messages if _pending(m)][-PENDING:])
    said = [m.preview for m in messages if m.role is Role.ASSISTANT and m.preview]
    lines += _listed("Current work", said[-1:])
    lines += _listed("Timeline", [f"{m.role.value}: {m.preview}" for m in messages[-TIMELINE:] if m.preview])
    return lines


def _counts(values: object) -> list[tuple[str, int]]:
    return sorted(Counter(values).items())  # type: ignore[call-overload]


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    """A heading and one shortened line per entry; nothing for no entries."""
    shortened = [" ".join(entry.split())[:LINE_CHARS] for entry in entries if entry.strip()]
    return [f"{title}:", *(f"- {entry}" for entry in shortened)] if shortened else []


def _files(calls: Sequence[Block]) -> list[str]:
    """Targets that look like files, sorted, each once."""
    return sorted({b.target for b in calls if "/" in b.target and " " not in b.target})


def _pending(message: Message) -> bool:
    words = message.preview.lower()
    return any(word in words for word in PENDING_WORDS)


SUMMARIZER = Summarizer(
    name="extractive",
    label="Extractive, no model",
    source="after claw-code's mechanical summary: counts, tools, requests, files, timeline",
    write=write,
)
