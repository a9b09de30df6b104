"""Words: tables of them written one after the other, not one a line; a count with its noun."""

from __future__ import annotations

from pathlib import Path


def words(text: str) -> tuple[str, ...]:
    """The words of ``text``, which whitespace parts."""
    return tuple(text.split())


def counted(number: int, noun: str, several: str = "") -> str:
    """A count with its noun: "1 compaction", "1,204 messages"; ``several`` where the plural takes more than an s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def request_words(number: int) -> str:
    """A request by its number from 0, as wherever requests have numbers: "request 1" is the second."""
    return f"request {number:,}" if number else "the first request"


def no_compaction(event: int, n_events: int) -> str:
    """That a replay has no compaction ``event`` (from 0), as people count them, and how many it has."""
    have = f"compactions 1 to {n_events:,}" if n_events else "none"
    return f"There is no compaction {event + 1:,}: the replay has {have}"


def united(number: str, unit: str) -> str:
    """A number with its unit behind it: "84%", "4,000 tokens", "12" where there is no unit."""
    return f"{number}%{unit[1:]}" if unit.startswith("%") else f"{number} {unit}".strip()


def home_as_tilde(path: str) -> str:
    """A path of this computer, its home folder as "~"."""
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path == home or path.startswith(f"{home}/") else path
