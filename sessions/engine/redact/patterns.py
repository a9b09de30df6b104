"""What a pattern for a kind is: an expression, what must stand in a text for it to be tried, what its piece must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.engine.redact.kinds import Kind

EDGE = r"(?<![A-Za-z0-9])"
"""The start of a word; what a line or a tool's name puts before it with a low line is another."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """``group`` of ``regex`` is a piece of ``kind`` where ``holds`` says so of it (-1: the last group that matched).

    ``hints`` are lower-case pieces of which the text must contain one for the regex to be tried; ``near`` is a quick
    expression that must be found in it first.  ``stands`` is asked of the text and of where the piece stands in it.  In
    any case: ``regex`` is for the text in small letters.
    """

    kind: Kind
    regex: re.Pattern[str]
    hints: tuple[str, ...]
    group: int = 0
    holds: Callable[[str], bool] | None = None
    near: re.Pattern[str] | None = None
    stands: Callable[[str, int, int], bool] | None = None
    any_case: bool = False

    def found(self, text: str, lower: str) -> Iterable[tuple[Kind, int, int]]:
        """Pieces in ``text``, whose small letters are ``lower``."""
        # A loop, not any(): this is asked of every pattern for every text, and most are short.
        for hint in self.hints:
            if hint in lower:
                break
        else:
            return ()
        if self.near is not None and not self.near.search(text):
            return ()
        return self._matches(text, lower if self.any_case else text)

    def _matches(self, text: str, seen: str) -> Iterator[tuple[Kind, int, int]]:
        for match in self.regex.finditer(seen):
            start, end = match.span((match.lastindex or 0) if self.group < 0 else self.group)
            value = text[start:end]
            if value == self.kind.marker or (self.holds is not None and not self.holds(value)):
                continue
            if self.stands is None or self.stands(text, start, end):
                yield self.kind, start, end


_CAPITAL = re.compile(r"\\.|[A-Z]")


def pattern(
    kind: Kind,
    hints: str,
    regex: str,
    *,
    group: int = 0,
    any_case: bool = False,
    holds: Callable[[str], bool] | None = None,
    near: str = "",
    stands: Callable[[str, int, int], bool] | None = None,
) -> Pattern:
    """A pattern; ``hints`` with spaces between them, none where any text may hold it."""
    if any_case:
        # Small letters, but for a class: a backslash and a letter.
        regex = _CAPITAL.sub(lambda found: found[0] if len(found[0]) > 1 else found[0].lower(), regex)
    return Pattern(
        kind, re.compile(regex), tuple(hints.split()) or ("",), group, holds, re.compile(near) if near else None,
        stands, any_case,
    )  # fmt: skip
