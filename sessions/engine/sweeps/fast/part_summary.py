"""Policies that leave a summary and something from before: goose the last text, Inspect the input, the API turns."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.edits import edit_blocks
from sessions.engine.policies import _inspect, anthropic_on_demand, goose, inspect_summary
from sessions.engine.policies._lists import has_tools
from sessions.engine.policy import Draft
from sessions.engine.sweeps.fast.counts import GROWTH, REPLY, Count
from sessions.engine.sweeps.fast.field import TOOL_ROLE, USER_ROLE
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate, Item
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.walk import Walk

GO_ON = Draft(goose.GO_ON, goose.GO_ON_TOKENS, goose.GO_ON, role="assistant")


def by_goose(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """A share of the limit, exceeded."""
    del model
    if params.usage != "recorded" or not 0 < params.threshold < 1:
        return None
    return Partial(goose.most(params, window) + 1, Count(goose.POLICY.estimator, REPLY), LastText())


def by_inspect(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """A share of the window, exceeded."""
    del model
    if params.usage != "recorded":
        return None
    limit = _inspect.limit(params, window) + 1
    return Partial(limit, Count(inspect_summary.POLICY.estimator, GROWTH), Input())


def on_demand(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """The client's limit, exceeded, between turns."""
    del window, model
    if params.usage != "recorded":
        return None
    count = Count(anthropic_on_demand.ON_DEMAND.estimator, REPLY)
    return Partial(params.compact_at + 1, count, LastTurns(params.keep_turns))


def is_text(item: Item) -> bool:
    """Whether a message holds text, and neither calls a tool nor answers a call; a summary is none."""
    is_plain = not item.message.summary and not has_tools(item)
    return is_plain and any(block.kind is Kind.TEXT for block in item.message.blocks)


@dataclass(frozen=True, slots=True)
class LastText:
    """A summary, a word to go on, the text of the newest message of the user's that is text."""

    def leaver(self, field: Field) -> Leaver | None:
        """None where what is put in may be taken for such a message, or the recording has summaries."""
        products = [field.products.usual, *field.products.near.values()]
        plain = not field.kinds.summaries and not field.has_empty and all(product.alone for product in products)
        return LastTextLeaver(field) if plain else None


class LastTextLeaver(Leaver):
    """See ``policies.goose``; the memory is that message: its key, tokens and size."""

    writes = True
    leaves_no_trace = True

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        users = [n for n, role in enumerate(field.kinds.roles) if role == USER_ROLE]
        self.texts: list[int] = field.once("texts", lambda: [n for n in users if is_text(field.item(n))])
        self.go_on = field.draft_size(GO_ON)

    def first(self) -> int:
        """The list by estimate."""
        return self.field.sized.first

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By size, or by usage."""
        return max(left.tokens, left.size) >= rule.limit

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """Everything goes but that text."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        number = bisect_left(self.texts, stop) - 1
        memory = held.memory
        if number >= 0 and self.texts[number] >= held.cut:
            memory = self._text(self.texts[number])
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens, size = product.tokens + GO_ON.tokens, here.sized.system + product.size + self.go_on
        front: tuple[Any, ...] = (made(product.n + 1),)
        if memory is not None:
            tokens, size, front = tokens + memory[1], size + memory[2], (*front, (memory[0],))
        n = product.n + 1
        return Left(base + tokens, size, stop, base, n, product.summary, 1, front, (), memory)

    def _text(self, position: int) -> tuple[Any, int, int]:
        """The message without what is no text."""
        found: tuple[Any, int, int] | None = self.values.get(position)
        if found is None:
            item = self.field.item(position)
            bare = edit_blocks(self.field.view(), item, lambda block: block if block.kind is Kind.TEXT else None)
            whole = (position, self.field.weigh((position,)), item.size)
            found = whole if bare is item else ((position, bare.tokens), bare.tokens, bare.size)
            self.values[position] = found
        return found

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """At first by the list alone."""
        view = self.view(walk, asked)
        if not asked.step:
            view.size = asked.measure
        return walk.drawn.gate(walk.params, view)


@dataclass(frozen=True, slots=True)
class Input:
    """All up to the first message of the user's, and a summary."""

    def leaver(self, field: Field) -> Leaver | None:
        """None where the recording has summaries among its messages, or a request brought no message.

        Nor where the input has results of tools, which stay: all others go, and are counted so.
        """
        made = InputLeaver(field)
        stays = TOOL_ROLE in field.kinds.roles[: made.n_input]
        return None if field.kinds.summaries or field.has_empty or stays else made


class InputLeaver(Leaver):
    """See ``policies.inspect_summary``."""

    leaves_no_trace = True

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        roles = field.kinds.roles
        self.n_input = next((n + 1 for n, role in enumerate(roles) if role == USER_ROLE), len(roles))
        self.given = range(self.n_input)
        self.weight, self.size = field.weigh(self.given), field.size_of(0, self.n_input)

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The input and the summary; None where it would have to be summarised again to fit."""
        del before
        here, stop = self.field, self.field.track.stops[step]
        if stop <= max(held.cut, self.n_input):
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        size = here.sized.system + self.size + product.size
        if here.track.overhead + size >= rule.limit:
            return None
        front = (self.given, made(product.n))
        prefix = (
            base + self.weight if here.track.stops[step - 1] >= self.n_input else self.prefix(held, step, front, stop)
        )
        tokens = base + self.weight + product.tokens
        return Left(tokens, size, stop, prefix, product.n, product.summary, 1, front)

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With nothing that came since the last usage, which says it all."""
        view = self.view(walk, asked)
        view.size = 0 if asked.step else view.size
        return walk.drawn.gate(walk.params, view)


@dataclass(frozen=True, slots=True)
class LastTurns:
    """Between turns: a block, the newest ``keep`` turns, the new prompt."""

    keep: int

    def leaver(self, field: Field) -> Leaver | None:
        """None where what is put in may be taken for a prompt or a reply, or results come late."""
        plain = not field.has_empty and not field.track.long_pairs and not field.products.near
        return LastTurnsLeaver(field, self) if plain else None


class LastTurnsLeaver(Leaver):
    """See ``policies.anthropic_on_demand``."""

    leaves_no_trace = True

    def __init__(self, field: Field, edit: LastTurns) -> None:
        super().__init__(field)
        self.edit = edit

    def first(self) -> int:
        """Nothing is counted before the first reply."""
        return 0

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By usage."""
        return left.tokens >= rule.limit

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where a turn begins, with more turns before it than are kept."""
        turns, need, end = self.field.turns, rule.limit - offset, self.field.track.n_steps
        step = turns.next_over(low, need, end)
        while step < end and self._cut(held, step) is None:
            step = turns.next_over(step + 1, need, end)
        return step

    def _cut(self, held: Left, step: int) -> int | None:
        """Where what is kept begins; None where the conversation has no more turns than are kept."""
        kinds, stop = self.field.kinds, self.field.track.stops[step]
        number = bisect_left(kinds.replies, stop) - 1
        end = kinds.replies[number] + 1 if number >= 0 and kinds.replies[number] >= held.cut else held.cut
        last = bisect_left(kinds.answers, stop)
        place = bisect_left(kinds.answers, end)
        while place < last and kinds.answers[place] == end:
            end, place = end + 1, place + 1
        starts = kinds.typed[bisect_left(kinds.typed, held.cut) : bisect_left(kinds.typed, end)]
        has_front = bool(held.front) or not starts or starts[0] > held.cut
        n_turns = len(starts) + (has_front and (end > held.cut or bool(held.front)))
        if n_turns <= self.edit.keep:
            return None
        return starts[-self.edit.keep] if self.edit.keep else end

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The block and what stands behind it."""
        del rule, before
        here, stop, cut = self.field, self.field.track.stops[step], self._cut(held, step)
        if cut is None or cut <= held.cut:
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens = here.track.overhead + here.standing(cut, step) if cut < stop else base
        return Left(tokens + product.tokens, 0, cut, base, product.n, product.summary, 1, (made(product.n),))

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """Whether a turn begins."""
        view = self.view(walk, asked)
        view.newest_typed = asked.step in self.field.last_typed
        return walk.drawn.gate(walk.params, view)
