"""The text under a line of a diff: what was inserted, or what an edit left of a message, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import selectors
from sessions.engine.export import edited_contents
from sessions.engine.jsonio import JsonProblem
from sessions.engine.markers import known_texts, text_of
from sessions.pages.diff.inserted import inserted_text, message_text, texts_of
from sessions.pages.diff.words import Span, word_diff

if TYPE_CHECKING:
    from sessions.engine.diff import Row
    from sessions.engine.policy import Item
    from sessions.engine.replay import Replay
    from sessions.engine.types import Block
    from sessions.models import Session
    from sessions.pages.diff.compared import Compared

BODY_CHARS = 6_000
LONG_CHARS, LONG_LINES = 700, 15
UNKNOWN = "A replay keeps sizes, not texts: what is left of a block is named by its length."
FROM_POLICY = "The new text is known from the policy."
LEAST_SHARED = 0.3
"""Share of the new text that must stand in the old one before words are compared."""


@dataclass(frozen=True, slots=True)
class Body:
    """Text under a line: spans before and after; ``left`` are characters not shown."""

    before: tuple[Span, ...] = ()
    after: tuple[Span, ...] = ()
    left: int = 0
    note: str = ""

    @property
    def long(self) -> bool:
        """Whether it may need to scroll in its box, which keys must then reach."""
        texts = ["".join(span.text for span in spans) for spans in (self.before, self.after)]
        return any(len(text) > LONG_CHARS or text.count("\n") > LONG_LINES for text in texts)


def body(session: Session, two: Compared, row: Row) -> Body | None:
    """None where there is no text to show."""
    if row.item_after is None:
        return None
    if row.op == "inserted" or row.item_before is None:
        return _inserted(session, two.second, row)
    before, known_before = _text(session, two.first, row.item_before)
    after, known_after = _text(session, two.second, row.item_after)
    note = FROM_POLICY if known_before and known_after else UNKNOWN
    spans = _told(before[:BODY_CHARS], after[:BODY_CHARS])
    return Body(*spans, left=max(len(before) - BODY_CHARS, 0), note=note)


def _told(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Word by word; a text that shares next to nothing with the one before it was replaced, and is shown so."""
    spans = word_diff(before, after)
    shared = sum(len(span.text.strip()) for span in spans[1] if span.op == "same")
    if before and after and shared < LEAST_SHARED * len(after):
        return (Span("del", before),), (Span("ins", after),)
    return spans


def _inserted(session: Session, replay: Replay, row: Row) -> Body | None:
    assert row.item_after is not None  # noqa: S101 - an inserted row has its after side
    if not row.item_after.inserted:
        return None  # a message that arrived between two requests: its own page has its text
    text = inserted_text(session, replay, row.item_after)
    if text:
        return Body(after=(Span("same", text[:BODY_CHARS]),), left=max(len(text) - BODY_CHARS, 0))
    if not row.item_after.message.summary:
        return None
    return Body(note=f"A stub of {row.tokens_after:,} tokens stands here; no summary was written.")


def _text(session: Session, replay: Replay, item: Item) -> tuple[str, bool]:
    """The text of a message as it stands, and whether all of it is known."""
    message = item.message
    if message.index < 0:
        return inserted_text(session, replay, item), True
    original = replay.weighed.transcript.messages[message.index]
    if original.blocks == message.blocks:
        return message_text(session, message), True
    texts, known = known_texts(replay), True

    def said(block: Block) -> str:
        nonlocal known
        text = text_of(block, texts)
        known = known and bool(text)
        return text

    try:
        contents = selectors.message_contents(session, message.index)
    except (FileNotFoundError, JsonProblem, OSError, IndexError):
        return message_text(session, message), False
    return "\n".join(texts_of(edited_contents(message.blocks, original.blocks, contents, said))), known
