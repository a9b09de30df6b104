"""Policies that leave a summary and the newest prompt at most: Roo Code, the Anthropic SDK, buzz-agent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sessions.engine.policies import anthropic_api, buzz_handoff, roo_code
from sessions.engine.registry import get
from sessions.engine.sizes import message_sizes
from sessions.engine.sweeps.fast.counts import GROWTH, INPUT, REPLY, USED, Count, next_over
from sessions.engine.sweeps.fast.left import MADE, Left
from sessions.engine.sweeps.fast.part import Leaver, Partial

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.walk import Walk


def roo(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Roo Code, as long as it condenses."""
    del model
    if params.usage != "recorded" or params.auto_condense != "on":
        return None
    most, percent = roo_code.allowed(params, window), -(-window * params.condense_percent // 100)
    return Partial(min(percent, most + 1), Count(roo_code.POLICY.estimator, USED), Condensed())


def sdk(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """The Anthropic SDK's tool runner."""
    del window, model
    if params.usage != "recorded":
        return None
    return Partial(params.context_token_threshold, Count(anthropic_api.SDK.estimator, REPLY), Answered())


def buzz(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """buzz-agent, as long as its history stays within the cap."""
    del model
    if params.usage != "recorded":
        return None
    name = params.measure if params.measure != "pressure_bytes" else f"pressure_bytes:{params.image_charge}"
    grows = params.growth == "on"
    most = params.max_handoffs if grows or not params.max_handoffs else None
    edit = HandedOff(params.max_history_bytes, buzz_handoff.history_cap(params), most, grows)
    return Partial(buzz_handoff.threshold(params, window), Count(name, GROWTH if grows else INPUT), edit)


@dataclass(frozen=True, slots=True)
class Condensed:
    """A summary of everything, where more than one message came since the last."""

    def leaver(self, field: Field) -> Leaver | None:
        """None where the recording has summaries among its messages."""
        return None if field.kinds.summaries else CondensedLeaver(field)


class CondensedLeaver(Leaver):
    """See ``policies.roo_code``."""

    leaves_no_trace = True

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """Everything goes."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        if stop - held.cut < 2:
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        size = here.sized.system + product.size
        return Left(base + product.tokens, size, stop, base, product.n, product.summary, 1, (made(product.n),))


@dataclass(frozen=True, slots=True)
class Answered:
    """A summary of everything up to the last reply and its results."""

    def leaver(self, field: Field) -> Leaver | None:
        """What it leaves."""
        return AnsweredLeaver(field)


class AnsweredLeaver(Leaver):
    """See ``policies.anthropic_api.sdk_edit``."""

    leaves_no_trace = True

    def first(self) -> int:
        """Nothing is counted before the first reply."""
        return 0

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """Nor after a compaction, but by usage."""
        return left.tokens >= rule.limit

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """What was typed after the last reply stays, where no result came after it."""
        del rule, before
        here, stop, kinds = self.field, self.field.track.stops[step], self.field.kinds
        last = bisect_left(kinds.replies, stop) - 1
        if last < 0 or kinds.replies[last] < held.cut:
            return None
        first, end = bisect_left(kinds.answers, kinds.replies[last]), bisect_left(kinds.answers, stop)
        cut = kinds.replies[last] + 1 + end - first
        if end > first and kinds.answers[end - 1] != cut - 1:
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens = here.track.overhead + here.standing(cut, step) if cut < stop else base
        size = here.sized.system + product.size + here.size_of(cut, stop)
        front = (made(product.n),)
        return Left(tokens + product.tokens, size, cut, base, product.n, product.summary, 1, front)


@dataclass(frozen=True, slots=True)
class HandedOff:
    """A handoff and the newest prompt; ``most`` handoffs, in a history of ``most_bytes``.

    Without usage the gate goes by ``cap`` bytes.  ``grows``: it is asked at every request, and not between turns.
    """

    most_bytes: int
    cap: int
    most: int | None
    grows: bool

    def leaver(self, field: Field) -> Leaver | None:
        """None where prompts hold calls or results, or between turns where a request brought no message."""
        plain = field.typed_alone and (self.grows or not field.has_empty)
        return HandedOffLeaver(field, self) if plain else None


class HandedOffLeaver(Leaver):
    """See ``policies.buzz_handoff``; the memory is how many handoffs there were, the live prompt and its wire bytes."""

    def __init__(self, field: Field, edit: HandedOff) -> None:
        super().__init__(field)
        self.edit = edit

    @cached_property
    def wire(self) -> tuple[int, ...]:
        """Wire bytes of the first n positions for every n; then those of the system messages."""
        sizes = message_sizes(self.field.weighed, get("estimators", buzz_handoff.WIRE))
        own = accumulate((sizes[index] for index in self.field.kinds.indices), initial=0)
        weighed = self.field.weighed
        system = [m for m in weighed.transcript.messages if m.role == "system" and m.index not in weighed.left_out]
        return (*own, sum(sizes[m.index] for m in system))

    @cached_property
    def wires(self) -> tuple[int, ...]:
        """Wire bytes of the list at every step before any compaction; then those of the system messages."""

        def make() -> tuple[int, ...]:
            wire = self.wire
            return (*(wire[stop] for stop in self.field.track.stops), wire[-1])

        return self.field.kept("wire by step", make)

    @cached_property
    def wire_products(self) -> Any:
        """What handoffs weigh on the wire."""
        return self.field.products_by(buzz_handoff.WIRE)

    def first(self) -> int:
        """The history by itself."""
        return self.field.sized.first

    def starts_over(self, rule: Partial) -> bool:
        """Without usage it is the cap or the threshold that is exceeded."""
        return self.first() > min(rule.limit, self.edit.cap)

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By size or by usage."""
        return left.tokens >= rule.limit or left.size > min(rule.limit, self.edit.cap)

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """None where the history is over its cap before."""
        here, need, end = self.field, rule.limit - offset, self.field.track.n_steps
        n, _, beyond = held.memory or (0, -1, 0)
        if self.edit.most is not None and n >= self.edit.most:
            found = end
        elif self.edit.grows:
            found = next_over(here.heights, here.peaks, low, need)
        else:
            found = here.turns.next_over(low, need, end)
        system = self.wires[-1]
        if self.wires[0] + system > self.edit.most_bytes:
            return None
        over = bisect_right(self.wires, self.edit.most_bytes - system - beyond, low, end)
        return None if over < found else found

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The newest prompt stands again after the handoff."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        n, live, _ = held.memory or (0, -1, 0)
        newest = bisect_left(here.kinds.typed, stop) - 1
        if newest >= 0 and here.kinds.typed[newest] >= held.cut:
            live = here.kinds.typed[newest]
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens, size = base + product.tokens, here.sized.system + product.size
        wire = self.wire_products.at(step).size - self.wires[step]
        front = (made(product.n), (live,) if live >= 0 else ())
        if live >= 0:
            tokens, size = tokens + here.weigh((live,)), size + here.size_of(live, live + 1)
            wire += self.wire[live + 1] - self.wire[live]
        return Left(tokens, size, stop, base, product.n, product.summary, 1, front, (), (n + 1, live, wire))

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With the handoffs so far, and whether a turn ended."""
        view = self.view(walk, asked)
        view.size = 0 if asked.step else asked.measure
        view.state.memory["handoffs"] = asked.held.memory[0] if asked.held.memory else 0
        view.newest_typed = asked.step in self.field.last_typed
        return walk.drawn.gate(walk.params, view)


def made(n: int) -> tuple[str, ...]:
    """So many messages put in."""
    return (MADE,) * n
