"""Tables of compactions that are shown in windows: a session may have thousands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")
WINDOW = 150
"""Rows of a table that is asked for by itself."""


class WindowLink(NamedTuple):
    """Other rows of the same table, and where they are."""

    words: str
    href: str


def shown_part(
    href: str, rows: Sequence[T], n_first: int, start: int | None
) -> tuple[Sequence[T], tuple[WindowLink, ...]]:
    """The rows of the window from ``start`` on, else the first few, and the way to others, as far as there are any."""
    total = len(rows)
    if start is None:
        n_more = min(total, WINDOW) - n_first
        words = f"Show {n_more:,} {'other compaction' if n_more == 1 else 'other compactions'}"
        return rows[:n_first], (WindowLink(words, href),) if n_more > 0 else ()
    places = [max(0, at) for at in (start - WINDOW, start + WINDOW) if -WINDOW < at < total]
    ends = [(at, min(at + WINDOW, total)) for at in places]
    links = (WindowLink(f"Compactions {at + 1:,} to {end:,}", f"{href}?start={at}") for at, end in ends)
    return rows[start : start + WINDOW], tuple(links)
