"""What Gemini CLI's compression leaves, by prefix sums: a snapshot, a fixed reply, the newest part of the history."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.edits import marker, result_chars
from sessions.engine.policies import gemini_compression
from sessions.engine.policies._gemini import json_length, quarter_tokens
from sessions.engine.policies._roles import ASSISTANT, role_of
from sessions.engine.policy import Draft, Item
from sessions.engine.summaries import drafted_message
from sessions.engine.sweeps.fast.counts import INPUT, Count, next_over
from sessions.engine.sweeps.fast.field import TOOL_ROLE, USER_ROLE
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.sweeps.fast.products import FAR, product_messages
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.types import Message
    from sessions.engine.walk import Walk

ACK = Draft(gemini_compression.ACK, marker(gemini_compression.ACK).n_tokens, gemini_compression.ACK, role=ASSISTANT)
PROMPT = Item("", drafted_message(Draft("", 1), "", 1.0), 1, 1, -1)
"""Any message of the user's."""


def rule(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """A share of the limit, and the split."""
    del model
    if params.usage != "recorded":
        return None
    edit = Split(params.preserve, params.response_budget, params.response_chars)
    return Partial(
        gemini_compression.least(params, window), Count(gemini_compression.POLICY.estimator, INPUT), edit
    )  # fmt: skip


class Known(NamedTuple):
    """Of a session: what the first n messages come to for every n, as JSON in characters and in quarters of a token.

    ``users`` are the positions of the user's messages; ``results`` those of tool responses, with their characters.
    """

    is_plain: bool
    lengths: tuple[int, ...]
    quarters: tuple[int, ...]
    users: tuple[int, ...]
    results: tuple[int, ...]
    chars: tuple[int, ...]


def known_of(field: Field) -> Known:
    """What is looked up of a session's messages once."""
    items = [field.item(position) for position in range(len(field.kinds.indices))]
    called = {b.call_id: n for n, i in enumerate(items) for b in i.message.blocks if b.kind is Kind.TOOL_USE}
    names = {b.call_id: b.name for i in items for b in i.message.blocks if b.kind is Kind.TOOL_USE}
    results = [(n, b) for n, i in enumerate(items) for b in i.message.blocks if b.kind is Kind.TOOL_RESULT]
    responses = [(n, block) for n, block in results if field.kinds.roles[n] == TOOL_ROLE]
    quarters = (sum(quarter_tokens(block, names) for block in item.message.blocks) for item in items)
    return Known(
        all(called.get(block.call_id, -1) < n for n, block in results),
        tuple(accumulate((json_length(item, names) for item in items), initial=0)),
        tuple(accumulate(quarters, initial=0)),
        tuple(n for n, role in enumerate(field.kinds.roles) if role == USER_ROLE),
        tuple(n for n, _ in responses),
        tuple(result_chars(block) for _, block in responses),
    )  # fmt: skip


class Front(NamedTuple):
    """What a compression puts in: characters of each message as JSON, which are the user's, quarters of a token."""

    lengths: tuple[int, ...]
    users: tuple[bool, ...]
    quarters: int


NOTHING = Front((), (), 0)


@dataclass(frozen=True, slots=True)
class Split:
    """The newest ``preserve`` of the history stays; tool responses within ``budget`` tokens or of ``chars`` at most."""

    preserve: float
    budget: int
    chars: int

    def leaver(self, field: Field) -> Leaver | None:
        """None where system messages would go, too, results come a request late, or a request brought no message."""
        if field.track.n_system or field.track.long_pairs or field.has_empty:
            return None
        known: Known = field.known("gemini", lambda: known_of(field), (Known,))
        return SplitLeaver(field, self, known) if known.is_plain else None


class SplitLeaver(Leaver):
    """See ``policies.gemini_compression``; the memory is what the last compression put in."""

    writes = True
    leaves_no_trace = True

    def __init__(self, field: Field, edit: Split, known: Known) -> None:
        super().__init__(field)
        self.edit, self.known = edit, known
        self.calls, replies = frozenset(field.kinds.calls), field.kinds.replies
        places = [bisect_left(replies, stop) - 1 for stop in field.track.stops]
        self.replied = [replies[n] if n >= 0 else -1 for n in places]
        """By step: the newest reply, where the history ends; -1 for none."""
        self.calm = [k for k, at in enumerate(self.replied) if at >= 0 and at not in self.calls]
        """Steps whose newest reply calls no tool."""
        self.before_users = [known.lengths[position] for position in known.users]
        self.large = [n for n, chars in enumerate(known.chars) if chars > edit.chars]
        self.large_at = [known.results[n] for n in self.large]
        self.responses = list(accumulate((chars // 4 for chars in known.chars), initial=0))

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where the history can be split; None where it ends in what was put in."""
        here, end = self.field, self.field.track.n_steps
        while True:
            found = next_over(here.heights, here.peaks, low, rule.limit - offset)
            if found >= end or (self.replied[found] < 0 and not held.front):
                if found >= end:
                    return end
                low = found + 1
                continue
            if self.replied[found] < held.cut:
                return None
            at = self._splits_from(held, found)
            if at == found:
                return found
            low = at

    def _splits_from(self, held: Left, step: int) -> int:
        """The first step from ``step`` whose history can be split."""
        front: Front = held.memory or NOTHING
        if any(front.users[1:]):
            return step
        number = bisect_left(self.known.users, held.cut if held.front else max(1, held.cut))
        place, end = bisect_left(self.calm, step), self.field.track.n_steps
        calm = self.calm[place] if place < len(self.calm) else end
        with_user = bisect_right(self.replied, self.known.users[number]) if number < len(self.known.users) else end
        return max(step, min(calm, with_user))

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The snapshot, the reply, the rest."""
        del rule
        here, track = self.field, self.field.track
        end, stop = self.replied[step] + 1, track.stops[step]
        if end <= held.cut or self._cuts(held.cut, end):
            return None
        cut = self._cut(held, end)
        front = self._put_in(step)
        if cut is None or front is None or track.cut_back[cut] != cut:
            return None
        measure = here.heights[step] + before - track.tops[step]
        if (front.quarters + self.known.quarters[end] - self.known.quarters[cut]) // 4 > measure:
            return None
        product = here.products.at(step)
        tokens, size, n = here.put_in(product, ACK)
        tokens += track.overhead + (here.standing(cut, step) if cut < stop else here.lead)
        size += here.size_of(cut, stop)
        return Left(tokens, size, cut, track.overhead, n, product.summary, 2, (made(n),), (), front)

    def _cuts(self, start: int, end: int) -> bool:
        """Whether a tool response of the history is over the budget and long enough to be cut."""
        place = bisect_left(self.large_at, start)
        if place >= len(self.large) or self.large_at[place] >= end:
            return False
        last = bisect_left(self.known.results, end)
        return self.responses[last] - self.responses[self.large[place]] > self.edit.budget

    def _cut(self, held: Left, end: int) -> int | None:
        """``gemini_compression.split`` as a position; None where it is among what was put in."""
        known, users, start = self.known, self.known.users, held.cut
        front: Front = held.memory or NOTHING
        total, before = sum(front.lengths), 0
        need = ceil((total + known.lengths[end] - known.lengths[start]) * (1 - self.edit.preserve))
        for length, is_user in zip(front.lengths, front.users, strict=True):
            if is_user and before >= need:
                return None
            before += length
        first, last = bisect_left(users, start), bisect_left(users, end)
        place = max(first, bisect_left(self.before_users, need - total + known.lengths[start]))
        if place < last:
            return users[place] or None
        if end - 1 not in self.calls:
            return end
        return users[last - 1] or None if last > first else None

    def _put_in(self, step: int) -> Front | None:
        """What a compression at a step puts in; None where it holds calls or results."""
        key = step if step in self.field.products.near else FAR
        if key not in self.values:
            self.values[key] = self._front(step)
        found: Front | None = self.values[key]
        return found

    def _front(self, step: int) -> Front | None:
        here, product = self.field, self.field.products.at(step)
        request = here.weighed.steps[step].request if step in here.products.near else FAR
        messages: list[Message] = product_messages(here.summaries, request)
        if any(block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) for m in messages for block in m.blocks):
            return None
        if here.put_in(product, ACK)[2] > product.n:
            messages = [*messages, drafted_message(ACK, "", here.weighed.ratio)]
        items = [Item("", message, 0, 0, -1) for message in messages]
        return Front(
            tuple(json_length(item, {}) for item in items),
            tuple(role_of(item) != ASSISTANT for item in items),
            sum(quarter_tokens(block, {}) for message in messages for block in message.blocks),
        )

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With a history that can be split where this one can."""
        view, step, held = self.view(walk, asked), asked.step, asked.held
        replied = self.replied[step]
        if replied >= 0:
            splits = self._splits_from(held, step) == step
            view.items = [PROMPT, PROMPT, self.field.item(replied)] if splits else [self.field.item(replied)]
        return walk.drawn.gate(walk.params, view)
