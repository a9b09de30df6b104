"""Tables of compactions that are shown in windows: a session may have thousands."""

from __future__ import annotations

from typing import NamedTuple

WINDOW = 150
"""Rows of a table that is asked for by itself."""


class WindowLink(NamedTuple):
    """Other rows of the same table, and where they are."""

    words: str
    href: str


def first_link(href: str, n_shown: int, total: int) -> tuple[WindowLink, ...]:
    """From a table's first rows, ``n_shown`` of ``total``, to its first window; none where nothing is left."""
    n_more = min(total, WINDOW) - n_shown
    if n_more <= 0:
        return ()
    return (WindowLink(f"Show {n_more:,} {'other compaction' if n_more == 1 else 'other compactions'}", href),)


def window_links(href: str, start: int, total: int) -> tuple[WindowLink, ...]:
    """From the window that begins at row ``start`` to those before and behind it, as far as there are any."""
    starts = (at for at in (start - WINDOW, start + WINDOW) if -WINDOW < at < total)
    places = [max(0, at) for at in starts]
    ends = [(at, min(at + WINDOW, total)) for at in places]
    return tuple(WindowLink(f"Compactions {at + 1:,} to {end:,}", f"{href}?start={at}") for at, end in ends)
