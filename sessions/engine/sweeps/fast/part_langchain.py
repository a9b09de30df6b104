"""What LangChain's summarization leaves, by prefix sums: a summary and the newest messages, by number or by size."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.edits import marker
from sessions.engine.policies import langchain_summarization as langchain
from sessions.engine.policies._langchain import MOST_SCALED, share
from sessions.engine.policy import Draft, Item, LastUsage
from sessions.engine.summaries import drafted_message
from sessions.engine.sweeps.fast.counts import REPLY, SIZE, USED, Count, next_over
from sessions.engine.sweeps.fast.field import TOOL_ROLE, USER_ROLE
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Partial
from sessions.engine.sweeps.fast.part_handoff import made
from sessions.engine.sweeps.fast.part_sized import SizedLeaver

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.part import Asked, Leaver
    from sessions.engine.walk import Walk

NOTE = Draft(
    langchain.FRAME + langchain.UNSEEN, marker(langchain.FRAME + langchain.UNSEEN).n_tokens,
    langchain.FRAME + langchain.UNSEEN, summary=True,
)  # fmt: skip
"""What stands in place of a summary where the summary call would be shown nothing."""

SAID = drafted_message(Draft("", 1), "", 1.0)
"""A message of the user's."""


def rule(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Triggers in tokens alone."""
    del model
    limits = [] if params.trigger_tokens is None else [params.trigger_tokens]
    if params.trigger_fraction is not None:
        limits.append(share(window, params.trigger_fraction))
    if params.usage != "recorded" or params.trigger_messages is not None or not limits:
        return None
    limit = max(limits) if params.combine == "all" else min(limits)
    budget = share(window, params.keep_fraction) if params.keep_fraction is not None else params.keep_tokens
    edit = Recent(None if budget is not None else params.keep_messages, budget, params.summary_input)
    return Partial(limit, Count(langchain.POLICY.estimator, SIZE), edit)


@dataclass(frozen=True, slots=True)
class Recent:
    """The newest ``n`` messages stay, or those within ``budget``; the summary call sees ``shown`` tokens, None: all."""

    n: int | None
    budget: int | None
    shown: int | None

    def leaver(self, field: Field) -> Leaver | None:
        """None where a result comes a request after its call or another, or a summary stands among the messages."""
        track, roles = field.track, field.kinds.roles
        apart = all(roles[stop] != TOOL_ROLE for stop in track.stops[:-1] if 0 < stop < len(roles))
        plain = apart and not track.long_pairs and not field.kinds.summaries and not field.has_empty
        return RecentLeaver(field, self) if plain and field.plain_products else None


class Steps(NamedTuple):
    """By step: the size of the list, that up to the last reply, what the last reply reports; the latter's maximum."""

    sizes: list[int]
    known: list[int]
    replied: list[int]
    replied_peaks: list[int]


class Places(NamedTuple):
    """Positions of the user's messages; by position where a cut on a result moves: back to a call (-1), or forward."""

    users: list[int]
    back: list[int]
    forward: list[int]


def steps_of(field: Field) -> Steps:
    """What is counted of a session's steps."""
    sizes = [height - field.track.overhead for height in field.heights]
    replied, used = field.heights_of(REPLY), field.heights_of(USED)
    known = [size + reply - all_used for size, reply, all_used in zip(sizes, replied, used, strict=True)]
    return Steps(sizes, known, list(replied), list(accumulate(replied, max)))


def places_of(field: Field) -> Places:
    """Where the user speaks, and where cuts move (``_langchain.safe_cut``)."""
    roles, n = field.kinds.roles, len(field.kinds.roles)
    back, forward, nearest = [-1] * n, list(range(n)), -1
    called = {call: at for at in field.kinds.calls for call in field.item(at).message.call_ids()}
    for position in reversed(range(n)):
        if roles[position] == TOOL_ROLE:
            follows = position + 1 < n and roles[position + 1] == TOOL_ROLE
            places = [called.get(call, n) for call in field.item(position).message.result_ids()]
            nearest = (
                max([at for at in places if at < position], default=-1)
                if not follows
                else max([nearest, *(at for at in places if at < position)])
            )
            back[position] = nearest
            forward[position] = forward[position + 1] if follows else position + 1
    return Places([at for at, role in enumerate(roles) if role == USER_ROLE], back, forward)


class Front(NamedTuple):
    """What stands in front: its size without the system messages; whether it is one summary."""

    size: int
    is_summary: bool


class RecentLeaver(SizedLeaver):
    """See ``policies.langchain_summarization``; the memory is what stands in front."""

    writes = True
    leaves_no_trace = True

    def __init__(self, field: Field, edit: Recent) -> None:
        super().__init__(field)
        self.edit = edit
        self.steps: Steps = field.once("langchain steps", lambda: steps_of(field))
        self.places: Places = field.once("langchain places", lambda: places_of(field))

    def first(self) -> int:
        """The list by itself."""
        return self.field.sized.first

    def starts_over(self, rule: Partial) -> bool:
        """Nothing is reported yet."""
        return self.first() >= rule.limit

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By the scaled size at most, or by usage."""
        return max(ceil(left.size * MOST_SCALED), left.tokens) >= rule.limit

    def count(self, step: int, offset: int, shift: int) -> int:
        """``_langchain.counted`` at a step."""
        size, known = self.steps.sizes[step] + shift, self.steps.known[step] + shift
        if known <= 0:
            return size
        return ceil(size * min(MOST_SCALED, max(1.0, (self.steps.replied[step] + offset) / known)))

    def measures(self, rule: Partial, start: int, stop: int, offset: int, held: Left) -> list[int]:
        """The count, or what the last reply reports, if that is more."""
        del rule
        shift, replied = self.shift(held), self.steps.replied
        return [max(self.count(k, offset, shift), replied[k] + offset) for k in range(start, stop)]

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int | None:
        """Where the scaled count or the usage reaches the limit and something stands before the cut."""
        steps, end, limit, shift = self.steps, self.field.track.n_steps, rule.limit, self.shift(held)
        counts = next_over(steps.sizes, steps.sizes, low, int(limit / MOST_SCALED) - 2 - shift)
        replies = next_over(steps.replied, steps.replied_peaks, low, limit - offset)
        while (step := min(self._near(counts, min(replies, end), limit, offset, shift), replies)) < end:
            count = self.count(step, offset, shift)
            if count >= limit or step == replies:
                cut = self._cut(held, step, count)
                if cut is None or cut >= 0:
                    return None if cut is None else step
            counts = max(counts, step + 1)
            if step == replies:
                replies = next_over(steps.replied, steps.replied_peaks, step + 1, limit - offset)
        return end

    def _near(self, low: int, end: int, limit: int, offset: int, shift: int) -> int:
        """The first step from ``low`` whose scaled count may reach the limit: whole numbers, two tokens below it."""
        sizes, known, replied, _ = self.steps
        for step in range(low, end):
            size = sizes[step] + shift
            if size >= limit - 1 or size * (replied[step] + offset) >= (limit - 2) * (known[step] + shift):
                return step
        return max(low, end)

    def _cut(self, held: Left, step: int, count: int) -> int | None:
        """The position before which all goes, -1 for none; None where it is among several messages put in."""
        start, stop = held.cut, self.field.track.stops[step]
        n_front = held.inserted if held.front else 0
        if self.edit.budget is None:
            n = self.edit.n or 0
            if n_front + stop - start <= n:
                return -1
            return self._safe(held, stop - n, stop) if stop - n >= start else None
        if count <= self.edit.budget or n_front + stop - start < 2:
            return -1
        sums = self.field.sized.sums
        cut = min(stop - 1, bisect_left(sums, sums[stop] - self.edit.budget))
        if cut > start:
            return self._safe(held, cut, stop)
        front: Front | None = held.memory
        if front is not None and front.size + sums[stop] - sums[start] > self.edit.budget:
            return self._safe(held, start, stop) if n_front == 1 else None
        return -1 if front is not None or self.field.kinds.roles[0] != TOOL_ROLE else None

    def _safe(self, held: Left, cut: int, stop: int) -> int:
        """``_langchain.safe_cut``."""
        if cut < stop and self.field.kinds.roles[cut] == TOOL_ROLE:
            back = self.places.back[cut]
            cut = back if back >= held.cut else self.places.forward[cut]
        return cut if cut or held.front else -1

    def _seen(self, held: Left, cut: int) -> bool | None:
        """Whether the summary call is shown a user's message; None where several messages stand in front."""
        shown, users, sums, start = self.edit.shown, self.places.users, self.field.sized.sums, held.cut
        if shown is None:
            return True
        number = bisect_left(users, cut) - 1
        if number >= 0 and users[number] >= start:
            return ceil((sums[cut] - sums[users[number]]) * MOST_SCALED) <= shown
        size, front = sums[cut] - sums[start], held.memory
        if front is None or ceil(size * MOST_SCALED) > shown:
            return False
        if held.inserted != 1:
            return None
        if ceil((size + front.size) * MOST_SCALED) <= shown:
            return True
        within = ceil((size + front.size - langchain.FRAME_TOKENS) * MOST_SCALED) <= shown
        return bool(front.is_summary and within)

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """A summary or the note, then what is kept."""
        del rule
        here, stop = self.field, self.field.track.stops[step]
        cut = self._cut(held, step, self.count(step, before - here.track.tops[step], self.shift(held)))
        seen = None if cut is None or cut < 0 else self._seen(held, cut)
        if cut is None or seen is None:
            return None
        product, base = here.products.at(step), here.track.overhead + here.lead
        tokens, size, n, front = product.tokens, product.size, product.n, Front(product.size, product.alone)
        if not seen:
            tokens, size, n = NOTE.tokens, here.draft_size(NOTE), 1
            front = Front(size, is_summary=True)
        size += here.sized.system
        tokens += here.track.overhead + here.standing(cut, step) if cut < stop else base
        return Left(
            tokens, size + here.size_of(cut, stop), cut, base, n, product.summary if seen else 0, int(seen), (made(n),),
            (), front, size,
        )  # fmt: skip

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """With the list as it stands."""
        view, step, held = self.view(walk, asked), asked.step, asked.held
        here, offset = self.field, asked.context - self.field.track.tops[asked.step]
        view.size = self.steps.sizes[step] + self.shift(held)
        if step:
            tail = self.steps.sizes[step] - self.steps.known[step]
            view.usage = LastUsage(self.steps.replied[step] + offset, 0, 0, tail)
        front: Front | None = held.memory
        sizes = [front.size, *[0] * (held.inserted - 1)] if front is not None else []
        view.items = [Item("", SAID, 0, size, -1) for size in sizes]
        view.items += [here.item(position) for position in range(held.cut, here.track.stops[step])]
        return walk.drawn.gate(walk.params, view)
