"""One thing that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong (``kind`` for programs, ``text`` for people) and what ``mend`` does about it (``action``).

    Without ``mend`` the action is for whoever reads it.
    """

    kind: str
    text: str
    action: str
    mend: Callable[[], object] | None = None
