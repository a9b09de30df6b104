"""Words: tables of them written one after the other, not one a line; a count with its noun."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The words of ``text``, which whitespace parts."""
    return tuple(text.split())


def counted(number: int, noun: str, several: str = "") -> str:
    """A count with its noun: "1 compaction", "1,204 messages"; ``several`` where the plural takes more than an s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
