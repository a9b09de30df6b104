"""The message list as a replay has changed it, with its display tokens and its size in the gate's unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policy import Item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sessions.engine.calibrate import Weighed


@dataclass(slots=True)
class Context:
    """The list about to be sent, and running totals so that a request costs only what it adds.

    ``tokens`` is display tokens without overhead, ``size`` the list in the gate's unit.  ``weights`` are the steps'
    measured weights (replay-semantics 3), ``members[k]`` how many messages step k brought.
    """

    weights: list[int]
    members: list[int]
    items: list[Item]
    tokens: int = 0
    size: int = 0

    def add_step(self, k: int, items: Sequence[Item]) -> None:
        """Append the messages of step ``k``; they weigh the step's measured weight."""
        self.members[k] = len(items)
        self.items += items
        self.tokens += self.weights[k]
        self.size += sum([item.size for item in items])

    def replace(self, items: list[Item], tokens: int) -> None:
        """Take ``items``, which weigh ``tokens`` (``weigh``), as the list from here on."""
        self.items, self.tokens = items, tokens
        self.size = sum([item.size for item in items])

    def weigh(self, items: Sequence[Item]) -> int:
        """Display tokens of a list: a step's measured weight while all its messages stand unedited, else what is left.

        Steps without messages (a retry of the same context) keep their weight with the step before them.
        """
        whole: dict[int, int] = {}
        left: dict[int, int] = {}
        total = 0
        for item in items:
            if item.inserted:
                total += item.tokens
                continue
            step = item.step
            left[step] = left.get(step, 0) + item.tokens
            if not item.edited:
                whole[step] = whole.get(step, 0) + 1
        for step, tokens in left.items():
            total += self.weights[step] if whole.get(step) == self.members[step] else tokens
        return total


def message_items(weighed: Weighed, estimator: Any) -> list[Item]:
    """Items of all messages of the branch, sized by the estimator; made once and shared by all replays."""
    cached = weighed.item_cache.get(estimator.name)
    if cached is None:
        step_at = [-1] * len(weighed.transcript.messages)
        for k, step in enumerate(weighed.steps):
            step_at[step.start : step.stop] = [k] * (step.stop - step.start)
        sizes = weighed.sizes(estimator)
        cached = [
            Item(m.id, m, weighed.tokens[m.index], sizes[m.index], step_at[m.index])
            for m in weighed.transcript.messages
        ]
        weighed.item_cache[estimator.name] = cached
    return cached


def common_prefix(before: Sequence[Item], after: Sequence[Item]) -> int:
    """How many messages at the start of both lists are the same and unedited."""
    for position, (old, new) in enumerate(zip(before, after, strict=False)):
        if old.id != new.id or old.edited != new.edited or old.tokens != new.tokens:
            return position
    return min(len(before), len(after))
