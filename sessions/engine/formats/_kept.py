"""What recorded compactions keep: each names its messages, so that a file could name all of them again and again."""

from __future__ import annotations

from itertools import filterfalse
from typing import TYPE_CHECKING

from sessions.engine.errors import UnreadableInput
from sessions.engine.limits import MAX_KEPT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class Kept:
    """Lists of what the compactions of one session keep, as long as all of them can be held."""

    def __init__(self) -> None:
        self._n = 0

    def of(self, messages: Iterable[int], gone: Collection[int] = frozenset()) -> tuple[int, ...]:
        """The messages that are not gone.  Raises UnreadableInput where a session keeps more than ``MAX_KEPT``."""
        found = tuple(filterfalse(gone.__contains__, messages))
        self._n += len(found)
        if self._n > MAX_KEPT:
            reason = f"its compactions keep more than {MAX_KEPT:,} messages together"
            raise UnreadableInput(reason, next_step="Upload a part of the session")
        return found
