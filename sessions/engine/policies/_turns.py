"""Whole turns of a message list: from a typed prompt to the next."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.engine.policies.policy import Item


def turn_starts(items: Sequence[Item]) -> list[int]:
    """Positions at which a turn starts: the first message, then every typed prompt."""
    starts = [n for n, item in enumerate(items) if item.message.typed]
    return starts if starts[:1] == [0] else [0, *starts]


def without_oldest_turns(items: Sequence[Item], size: Callable[[Item], int], most: int) -> list[Item]:
    """The list without its oldest whole turns while it is larger than ``most``; the last turn always stays."""
    total = sum(size(item) for item in items)
    starts = turn_starts(items) if items else []
    cut = 0
    for start, stop in itertools.pairwise(starts):
        if total <= most:
            break
        total -= sum(size(item) for item in items[start:stop])
        cut = stop
    return list(items[cut:])
