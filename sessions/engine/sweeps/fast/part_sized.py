"""Policies whose gate goes by the size of the list, not by usage: what a compaction took off shifts all later steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.sweeps.fast.counts import next_over
from sessions.engine.sweeps.fast.left import UNTOUCHED
from sessions.engine.sweeps.fast.part import Leaver

if TYPE_CHECKING:
    from sessions.engine.sweeps.fast.left import Left
    from sessions.engine.sweeps.fast.part import Partial


class SizedLeaver(Leaver):
    """What its edit leaves says the size of its front (``Left.front_size``)."""

    def shift(self, held: Left) -> int:
        """What is counted at a step beyond what the whole session would be."""
        sized = self.field.sized
        return 0 if held is UNTOUCHED else held.front_size - sized.sums[held.cut] - sized.system

    def reached(self, rule: Partial, low: int, held: Left) -> int:
        """The first step from ``low`` that counts as much as the gate asks for; the number of steps for none."""
        here = self.field
        return next_over(here.heights, here.peaks, low, rule.limit - self.shift(held))

    def measures(self, rule: Partial, start: int, stop: int, offset: int, held: Left) -> list[int]:
        """By size."""
        del rule, offset
        shift = self.shift(held)
        return [height + shift for height in self.field.heights[start:stop]]

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By size alone."""
        return left.size + self.field.track.overhead >= rule.limit
