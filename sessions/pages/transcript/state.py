"""The transcript's address: the message it opens on, the words searched for, whether calls and results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from sessions.pages.ui.addresses import whole, with_query

LONGEST = 200
"""Characters of a search."""


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """``m`` is the message to begin near, ``start`` the first one shown where that is asked for; ``q`` is searched."""

    m: int | None = None
    start: int | None = None
    q: str = ""
    words: bool = False


def parse(query: Mapping[str, str]) -> TranscriptState:
    """What makes no sense is left out, never an error."""
    return TranscriptState(
        whole(query.get("m")), whole(query.get("start")), query.get("q", "").strip()[:LONGEST],
        query.get("show") == "words",
    )  # fmt: skip


def address(path: str, state: TranscriptState, carried: list[tuple[str, str]], **changes: object) -> str:
    """The page with ``changes``; ``carried`` is what the other tabs need."""
    values: dict[str, object] = {"m": state.m, "start": state.start, "q": state.q} | changes
    shown = changes.get("words", state.words)
    pairs = [(name, str(value)) for name, value in values.items() if name != "words" and value not in (None, "")]
    pairs += [("show", "words")] if shown else []
    return with_query(path, urlencode(pairs + [pair for pair in carried if pair[0] != "m"], safe=":,"))
