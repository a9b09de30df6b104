"""Names that somebody may have meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE = 0.68
"""How alike two names are at least, as difflib's ratio."""


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


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower()) or name
