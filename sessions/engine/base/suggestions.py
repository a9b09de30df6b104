"""Names that somebody may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.68
"""How alike two names are at least, as difflib's ratio."""

MOST_MEANT, MOST_LISTED = 3, 12
"""How many near names are told, and of how many names the list itself."""


def meant(name: str, known: Iterable[str]) -> str:
    """The known name nearest to ``name``, "" where none is near; case and punctuation count for nothing."""
    plain = {_plain(one): one for one in reversed(list(known))}
    found = get_close_matches(_plain(name), plain, n=1, cutoff=CLOSE)
    return plain[found[0]] if found else ""


def unknown(noun: str, name: str, known: Iterable[str], where: str = "") -> str:
    """What is unknown, the name that may have been meant, then where the list is or the list itself."""
    names = list(known)
    near = meant(name, names)
    parts = [
        f"Unknown {noun} {name!r}.",
        f"Did you mean {near!r}?" if near else "",
        where or f"Known: {', '.join(names)}",
    ]
    return " ".join(part for part in parts if part)


def no_such(noun: str, name: str, known: Iterable[str]) -> str:
    """What is not there, and what may have been meant; of a short list all of it.  One line, whatever was asked for."""
    names = [one for one in known if one]
    plain = {_plain(one): one for one in reversed(names)}
    near = [plain[one] for one in get_close_matches(_plain(name[:60]), plain, n=MOST_MEANT, cutoff=CLOSE)]
    said = f"There is no {noun} {name[:60]!r}."
    if near:
        return f"{said} Did you mean {' or '.join(map(repr, near))}?"
    return f"{said} Known: {', '.join(names)}." if len(names) <= MOST_LISTED else said


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower()) or name
