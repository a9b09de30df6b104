"""Word-level difference of two texts, capped so that no message can hold the page up."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

MOST_WORDS = 3_000
"""Words compared on each side; beyond it texts are compared line by line, beyond twice that cut."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: ``op`` is "same", "del" (only before) or "ins" (only after)."""

    op: str
    text: str


def word_diff(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans of both sides in order; joined again they are the texts, cut where they are very long."""
    old, new = _parts(before), _parts(after)
    left: list[Span] = []
    right: list[Span] = []
    for code in Levenshtein.opcodes(old, new):
        gone, come = "".join(old[code.src_start : code.src_end]), "".join(new[code.dest_start : code.dest_end])
        same = code.tag == "equal"
        if gone:
            left.append(Span("same" if same else "del", gone))
        if come:
            right.append(Span("same" if same else "ins", come))
    return tuple(left), tuple(right)


def _parts(text: str) -> list[str]:
    words = _WORD.findall(text)
    if len(words) <= MOST_WORDS:
        return words
    lines = text.splitlines(keepends=True)
    return lines[:MOST_WORDS]
