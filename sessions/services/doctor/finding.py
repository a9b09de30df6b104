"""One thing that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong (``kind`` for programs, ``text`` for people) and what ``mend`` does about it (``action``).

    Without ``mend`` the action is for whoever reads it.
    """

    kind: str
    text: str
    action: str
    mend: Callable[[], object] | None = None
