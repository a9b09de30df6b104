"""What Cline's agentic compaction leaves, by prefix sums: a summary and the newest messages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.policies import _cline, cline_agentic
from sessions.engine.policy import Draft, Item
from sessions.engine.remaking import remade_message
from sessions.engine.summaries import drafted_message
from sessions.engine.sweeps.fast.counts import SIZE, Count
from sessions.engine.sweeps.fast.field import ASSISTANT_ROLE
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.sweeps.fast.part_sized import SizedLeaver
from sessions.engine.sweeps.fast.products import products_of

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked, Leaver
    from sessions.engine.walk import Walk

LARGE = 10**12
"""More than any list is kept to."""


def agentic(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """The trigger, and what is kept: less, where a smaller model holds many results."""
    if model is None:
        return None
    most = _cline.max_input(params.max_input_tokens, window)
    limit = _cline.trigger(most, params.trigger)
    few = min(params.preserve_recent_tokens, limit * params.target // 100)
    many = min(params.preserve_recent_tokens, most // 2) if model.known and model.window < most else few
    return Partial(limit, Count(cline_agentic.POLICY.estimator, SIZE), Newest(few, many, params.summary_tokens))


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest ``few`` tokens stay, ``many`` where the list holds many results; a summary of ``most`` tokens."""

    few: int
    many: int
    most: int

    def leaver(self, field: Field) -> Leaver | None:
        """None where results come a request late, or the recording has summaries among its messages."""
        plain = not field.track.long_pairs and not field.kinds.summaries and not field.has_empty
        return NewestLeaver(field, self) if plain and field.plain_products else None


class NewestLeaver(SizedLeaver):
    """See ``policies.cline_agentic``; the memory is whether the front holds more than summaries."""

    leaves_no_trace = True

    def __init__(self, field: Field, edit: Newest) -> None:
        super().__init__(field)
        self.edit = edit
        typed = frozenset(field.kinds.typed)
        roles = field.kinds.roles
        self.anchors = [n for n, role in enumerate(roles) if role == ASSISTANT_ROLE or n in typed]
        self.products = products_of(field.summaries, edit.most)

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where something stands before the cut, too."""
        del offset
        end = self.field.track.n_steps
        while (found := self.reached(rule, low, held)) < end:
            cut = self._cut(held, found)
            if cut is None or cut > held.cut:
                return None if cut is None else found
            low = max(found + 1, self._next_prompt(held))
        return end

    def _next_prompt(self, held: Left) -> int:
        """The step that brings the first prompt which can be cut at."""
        typed, first = self.field.kinds.typed, held.cut + 1
        number = bisect_left(typed, first)
        return self.field.step_at[typed[number]] if number < len(typed) else self.field.track.n_steps

    def _cut(self, held: Left, step: int) -> int | None:
        """``cline_agentic.cut_at`` as a position, that of the list's start for none; None where it is not known."""
        here, start, stop = self.field, held.cut, self.field.track.stops[step]
        number = bisect_left(here.kinds.typed, stop) - 1
        newest = here.kinds.typed[number] if number >= 0 else -1
        if newest < start or (not newest and not held.front):
            return start
        cut = min(self._candidate(start, stop), newest)
        place = bisect_right(self.anchors, cut) - 1
        if place < 0 or self.anchors[place] < start:
            return start
        cut = here.track.cut_back[self.anchors[place]]
        return None if cut <= start and held.memory else max(start, cut)

    def _candidate(self, start: int, stop: int) -> int:
        """Where the newest messages start that weigh what is kept."""
        sums, results = self.field.sized.sums, self.field.with_results
        is_many = bisect_left(results, stop) - bisect_left(results, start) >= _cline.MANY_PAIRS
        keep = self.edit.many if is_many else self.edit.few
        return min(stop - 1, bisect_right(sums, sums[stop] - keep) - 1)

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The summary, then everything from the cut on."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        cut = self._cut(held, step)
        if cut is None or cut <= held.cut:
            return None
        product, base = self.products.at(step), here.track.overhead + here.lead
        front_size = here.sized.system + product.size
        return Left(
            here.track.overhead + here.standing(cut, step) + product.tokens, front_size + here.size_of(cut, stop), cut,
            base, product.n, product.summary, 1, (made(product.n),), (), not product.alone, front_size,
        )  # fmt: skip

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With a list that can be cut where this one can."""
        view = self.view(walk, asked)
        cut = self._cut(asked.held, asked.step)
        if cut is None or cut > asked.held.cut:
            view.items = [_prompt(1), _prompt(LARGE)]
        return walk.drawn.gate(walk.params, view)


def _prompt(size: int) -> Item:
    message = drafted_message(Draft("", 1), "", 1.0)
    return Item("", remade_message(message, typed=True), 1, size, -1)
