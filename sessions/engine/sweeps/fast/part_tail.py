"""Policies that leave a summary and the newest messages: presets of the parametric policy, the compression skill's."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.policies import compression, copilot_chat
from sessions.engine.policies._parametric import CUTS
from sessions.engine.sweeps.fast.counts import CONTEXT, USED, Count
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.walk import BREAKER

if TYPE_CHECKING:
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.walk import Walk

ANY = "tiktoken_o200k"
MESSAGES, TOKENS, REPLY = "messages", "tokens", "last reply"


def parametric(params: Any, window: int, overhead: int) -> Partial | None:
    """Thresholds on one count, everything but the newest summarised or dropped (``table.parametric`` for one limit)."""
    others = (params.kilobytes, params.messages, params.turns, params.idle_minutes, params.reclaim,
              params.remaining_calls, params.target)  # fmt: skip
    whole = params.edit in CUTS and not params.keep_first and params.merge == "off" and params.summary_cap is None
    plain = params.moment == "mid-turn" and not params.min_messages and params.breaker == BREAKER
    by_usage = params.counted == "usage"
    if not (whole and plain) or any(v is not None for v in others) or params.keep_unit not in {MESSAGES, TOKENS}:
        return None
    if params.counted == "estimate" or (by_usage and params.usage != "recorded"):
        return None
    effective = params.capacity == "effective"
    full = max(1, window - overhead) if effective else window
    limits = [] if params.share is None else [int(full * params.share) // 100]
    limits += [] if params.tokens is None else [params.tokens]
    limits += [] if params.reserve is None else [window - params.reserve]
    if not limits or (effective and (by_usage or limits[1:] or params.share is None)):
        return None
    limit = (max(limits) if params.combine == "all" else min(limits)) + (params.operator == ">")
    edit = Tail(params.keep_unit, params.keep_last, writes=params.edit != "truncate", counts_inserted=False)
    return Partial(limit, Count(ANY, USED if by_usage else CONTEXT), edit, is_body=effective)


def copilot(params: Any, window: int, overhead: int) -> Partial | None:
    """Copilot Chat's budget; the newest tool round stays."""
    limit = copilot_chat.budget(params, window, overhead) + 1
    return Partial(limit, Count(ANY, CONTEXT), Tail(REPLY, 0, counts_inserted=False), is_body=True)


def skill(params: Any, window: int, overhead: int) -> Partial | None:
    """The compression skill's share of the window, and its newest messages."""
    del overhead
    if params.usage != "recorded" or params.capacity != "static":
        return None
    edit = Tail(MESSAGES, params.keep_last, least=params.min_messages)
    return Partial(window * params.trigger // 100, Count(compression.OPAQUE.estimator, USED), edit)


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest ``keep`` messages or tokens stay, or all from the last reply on; else a summary, where it ``writes``.

    ``least`` messages must have come since the last compaction; ``counts_inserted``: a summary is a message to keep.
    """

    unit: str
    keep: int
    least: int = 0
    writes: bool = True
    counts_inserted: bool = True

    def leaver(self, field: Field) -> Leaver | None:
        """None where results come a request late, a request brought no message, or there is no summary to be told."""
        return None if field.track.long_pairs or field.has_empty else TailLeaver(field, self)


class TailLeaver(Leaver):
    """The memory is how many messages there were at the last compaction, and how many compactions so far."""

    leaves_no_trace = True

    def __init__(self, field: Field, edit: Tail) -> None:
        super().__init__(field)
        self.edit, self.by_context = edit, field.count.kind == CONTEXT

    def first(self) -> int:
        """The context, or the list by estimate: of the skill's with the overhead."""
        here = self.field
        if self.by_context:
            return here.track.overhead + here.track.tops[0]
        return here.first if self.edit.counts_inserted else here.sized.first

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By usage; the skill's waits for messages."""
        if self.edit.least:
            return False
        size = 0 if self.by_context else left.size + (self.field.track.overhead if self.edit.counts_inserted else 0)
        return left.tokens >= self.least(rule) or size >= rule.limit

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where enough messages came, too."""
        if self.edit.least:
            least = self.edit.least + (held.memory[0] if held.memory else -self.field.track.n_system)
            low = max(low, bisect_left(self.field.track.stops, least))
        return super().next(rule, low, offset, held) if low < self.field.track.n_steps else self.field.track.n_steps

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """A summary or nothing, and the newest."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        cut = here.track.cut_back[max(held.cut, self._cut(stop))]
        if cut <= held.cut:
            return None
        base = here.track.overhead + here.lead
        tokens = here.track.overhead + here.standing(cut, step) if cut < stop else base
        size, memory = here.sized.system + here.size_of(cut, stop), (stop, held.memory[1] + 1 if held.memory else 1)
        if not self.edit.writes:
            return Left(tokens, size, cut, base, 0, 0, 0, (), (), memory)
        product = here.products.at(step)
        return Left(
            tokens + product.tokens, size + product.size, cut, base, product.n, product.summary, 1, (made(product.n),),
            (), memory,
        )  # fmt: skip

    def _cut(self, stop: int) -> int:
        """Where what is kept begins, whatever stood before."""
        if self.edit.unit == MESSAGES:
            return stop - self.edit.keep
        if self.edit.unit == TOKENS:
            return bisect_left(self.field.track.tokens, self.field.track.tokens[stop] - self.edit.keep)
        number = bisect_left(self.field.kinds.replies, stop) - 1
        return self.field.kinds.replies[number] if number >= 0 else 0

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With the messages since the last compaction."""
        view, (stop, n) = self.view(walk, asked), asked.held.memory or (-self.field.track.n_system, 0)
        view.state.messages_since_event, view.state.n_events = self.field.track.stops[asked.step] - stop, n
        if self.by_context or (not asked.step and not self.edit.counts_inserted):
            view.size = asked.measure
        return walk.drawn.gate(walk.params, view)
