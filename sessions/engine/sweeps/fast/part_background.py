"""What the Messages API's compaction in the background leaves: a block, and all that came since it was asked for."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.policies import anthropic_on_demand
from sessions.engine.policies.anthropic_on_demand import Awaited
from sessions.engine.sweeps.fast.counts import REPLY, Count, next_over
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.walk import Walk


def background(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """The client's limit, exceeded, and how long a summary takes."""
    del window, model
    if params.usage != "recorded":
        return None
    count = Count(anthropic_on_demand.BACKGROUND.estimator, REPLY)
    return Partial(params.start_at + 1, count, Awaiting(params.arrives_after))


@dataclass(frozen=True, slots=True)
class Awaiting:
    """A summary arrives ``after`` so many requests."""

    after: int

    def leaver(self, field: Field) -> Leaver | None:
        """What it leaves."""
        return AwaitingLeaver(field, self)


class AwaitingLeaver(Leaver):
    """See ``policies.anthropic_on_demand``; the memory is the step of the last compaction."""

    def __init__(self, field: Field, edit: Awaiting) -> None:
        super().__init__(field)
        self.edit = edit
        self.requests = [step.request for step in field.weighed.steps]

    def first(self) -> int:
        """Nothing is counted before the first reply."""
        return 0

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """No other is asked for at the request that was sent with the block."""
        del rule, left
        return False

    def _asks(self, rule: Partial, low: int, offset: int) -> int:
        """The first step from ``low`` that asks for a summary."""
        here = self.field
        return next_over(here.heights, here.peaks, low, rule.limit - offset)

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where the summary arrives."""
        del held
        end = self.field.track.n_steps
        asked = self._asks(rule, low, offset)
        return bisect_left(self.requests, self.requests[asked] + self.edit.after) if asked < end else end

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The block in place of what its request held."""
        here, stops = self.field, self.field.track.stops
        cut = stops[self._asks(rule, (held.memory or 0) + 1, before - here.track.tops[step])]
        if cut <= held.cut:
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens = here.track.overhead + here.standing(cut, step) if cut < stops[step] else base
        front = (made(product.n),)
        return Left(tokens + product.tokens, 0, cut, base, product.n, product.summary, 1, front, (), step)

    def measures(self, rule: Partial, start: int, stop: int, offset: int, held: Left) -> list[int]:
        """What was counted when the summary was asked for, until it is there."""
        del held
        found = [height + offset for height in self.field.heights[start:stop]]
        asked = self._asks(rule, max(1, start), offset)
        if asked >= stop:
            return found
        return [*found[: asked - start], *[found[asked - start]] * (stop - asked)]

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With the summary that is awaited."""
        here, view = self.field, self.view(walk, asked)
        offset, low = asked.context - here.track.tops[asked.step], 1
        if asked.since is not None:
            low = asked.step - asked.since + 1
        step = next_over(here.heights, here.peaks, low, walk.params.start_at + 1 - offset)
        if asked.step:
            view.items = [here.item(here.track.stops[min(step, asked.step)] - 1)]
        if step < asked.step:
            awaited = Awaited(self.requests[step], view.items[-1].id, here.heights[step] + offset)
            view.state.memory["awaited"] = awaited
        return walk.drawn.gate(walk.params, view)
