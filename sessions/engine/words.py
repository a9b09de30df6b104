"""Tables of words as they are read: written one after the other, not one a line."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of ``text``, which whitespace parts."""
    return tuple(text.split())
