"""The text under a line of a diff: what was inserted, or what an edit left of a message, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from sessions.engine.replays.diff import Row
from sessions.engine.replays.replay import Replay
from sessions.models import Session
from sessions.pages.diff.compared import ListPair
from sessions.runs.texts import inserted_text, sent_text

BODY_CHARS = 6_000
LONG_CHARS, LONG_LINES = 700, 15
UNKNOWN = "A replay keeps sizes, not texts: what is left of a block is named by its length."
FROM_POLICY = "The new text is known from the policy."
LEAST_SHARED = 0.3
"""Share of the new text that must stand in the old one before words are compared."""

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A stretch of text: ``op`` is "same", "del" (only before) or "ins" (only after)."""

    op: str
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """Text under a line: spans before and after; ``left`` are characters not shown."""

    before: tuple[TextSpan, ...] = ()
    after: tuple[TextSpan, ...] = ()
    left: int = 0
    note: str = ""

    @property
    def long(self) -> bool:
        """Whether it may need to scroll in its box, which keys must then reach."""
        texts = ["".join(span.text for span in spans) for spans in (self.before, self.after)]
        return any(len(text) > LONG_CHARS or text.count("\n") > LONG_LINES for text in texts)


def body(session: Session, two: ListPair, row: Row) -> Body | None:
    """None where there is no text to show."""
    if row.item_after is None:
        return None
    if row.op == "inserted" or row.item_before is None:
        return _inserted(session, two.second, row)
    before, known_before = sent_text(session, two.first, row.item_before)
    after, known_after = sent_text(session, two.second, row.item_after)
    note = FROM_POLICY if known_before and known_after else UNKNOWN
    spans = _told(before[:BODY_CHARS], after[:BODY_CHARS])
    return Body(*spans, left=max(len(before) - BODY_CHARS, 0), note=note)


def _told(before: str, after: str) -> tuple[tuple[TextSpan, ...], tuple[TextSpan, ...]]:
    """Word by word; a text that shares next to nothing with the one before it was replaced, and is shown so."""
    spans = word_diff(before, after)
    shared = sum(len(span.text.strip()) for span in spans[1] if span.op == "same")
    if before and after and shared < LEAST_SHARED * len(after):
        return (TextSpan("del", before),), (TextSpan("ins", after),)
    return spans


def _inserted(session: Session, replay: Replay, row: Row) -> Body | None:
    assert row.item_after is not None  # noqa: S101 - an inserted row has its after side
    if not row.item_after.inserted:
        return None  # a message that arrived between two requests: its own page has its text
    text = inserted_text(session, replay, row.item_after)
    if text:
        return Body(after=(TextSpan("same", text[:BODY_CHARS]),), left=max(len(text) - BODY_CHARS, 0))
    if not row.item_after.message.summary:
        return None
    return Body(note=f"Placeholder: {row.tokens_after:,} tokens, no text.")


def word_diff(before: str, after: str) -> tuple[tuple[TextSpan, ...], tuple[TextSpan, ...]]:
    """The spans of both sides in order; joined again they are the texts."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    left: list[TextSpan] = []
    right: list[TextSpan] = []
    for code in Levenshtein.opcodes(old, new):
        gone, come = "".join(old[code.src_start : code.src_end]), "".join(new[code.dest_start : code.dest_end])
        same = code.tag == "equal"
        if gone:
            left.append(TextSpan("same" if same else "del", gone))
        if come:
            right.append(TextSpan("same" if same else "ins", come))
    return tuple(left), tuple(right)
