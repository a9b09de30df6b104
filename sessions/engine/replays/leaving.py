"""What a recording lost beside its compactions, taken off the list of a replay as far as that still holds it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.policies.policy import Edited, Item
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.replays.context import Context
    from sessions.engine.replays.events import History


class ClearedInPlace(NamedTuple):
    """A clearing that the recording has: display tokens that left the list of a replay before this request."""

    request: int
    tokens: int


class Leaving:
    """The losses of one replay: ``cleared`` has those at recorded clearings, in the order of the requests.

    ``lowered`` are the messages of which something left, by id, as they stand without it; ``warnings`` are told where
    less left than in the recording.  Of the messages ``left_out`` a list holds those that an event took (``taken``).
    """

    def __init__(
        self, weighed: Weighed, left_out: AbstractSet[int], taken: AbstractSet[int], warnings: list[str]
    ) -> None:
        self.left_out, self.taken = left_out, taken
        self.tokens, self.warnings = weighed.tokens, warnings
        self.losses = {loss.step: loss for loss in weighed.recorded.losses}
        self.cleared_at = {clearing.request for clearing in weighed.transcript.clearings}
        self.cleared: list[ClearedInPlace] = []
        self.lowered: dict[str, Item] = {}

    def at(self, k: int, request: int, context: Context, history: History) -> None:
        """What left before ``request``, that of step ``k``, leaves here too."""
        loss, before = self.losses.get(k), context.tokens
        if loss is not None:
            may_stand = {index for index, _ in loss.parts if index not in self.left_out or index in self.taken}
            changes = context.lose(loss, self.tokens, may_stand)
            if changes:
                history.restart(changes)
                self.lowered |= {item.id: item for item in changes.values()}
        if request not in self.cleared_at:
            return
        left = before - context.tokens
        self.cleared.append(ClearedInPlace(request, left))
        if loss is not None and left < loss.tokens:
            words = f"of {loss.tokens:,} tokens that the recording cleared in place, {left:,} still stood here"
            self.warnings.append(f"request {request}: {words}")

    def without(self, outcome: Edited) -> Edited:
        """An edit without what has left: a policy may remember messages as they came."""
        if not self.lowered:
            return outcome
        if isinstance(outcome, dict):
            return {position: self._as_left(item) for position, item in outcome.items()}
        return list(map(self._as_left, outcome))

    def _as_left(self, item: Item) -> Item:
        left = self.lowered.get(item.id)
        if left is None or item.tokens <= left.tokens:
            return item
        return replace(item, tokens=left.tokens) if item.edited or left.edited else left
