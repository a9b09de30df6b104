"""What opencode's compactions leave, by prefix sums."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.edits import drop_media
from sessions.engine.policies import opencode_compaction as v1
from sessions.engine.policies import opencode_compaction_v2 as v2
from sessions.engine.policy import Draft
from sessions.engine.sweeps.fast.counts import REPLY, USED, Count
from sessions.engine.sweeps.fast.left import Left
from sessions.engine.sweeps.fast.part import Leaver, Partial
from sessions.engine.sweeps.fast.part_handoff import made

if TYPE_CHECKING:
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Gate
    from sessions.engine.sweeps.fast.field import Field
    from sessions.engine.sweeps.fast.left import Key
    from sessions.engine.sweeps.fast.part import Asked
    from sessions.engine.walk import Walk

GO_ON = Draft(v1.GO_ON, v1.GO_ON_TOKENS, v1.GO_ON)


def first_version(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Version 1."""
    if params.usage != "recorded" or model is None:
        return None
    limit = v1.usable(params, window, model)
    edit = Turns(params.tail_turns, v1.recent_budget(params, limit))
    return Partial(limit, Count(v1.POLICY.estimator, REPLY), edit, most=window)


def second_version(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Version 2."""
    if params.usage != "recorded" or model is None:
        return None
    edit = Record(params.keep_tokens, params.tool_output_chars)
    return Partial(v2.limit(params, window, model), Count(v2.POLICY.estimator, USED), edit, pause=1)


class Sums(NamedTuple):
    """Sizes and display tokens of the first n messages for every n, as an edit would have them."""

    sizes: tuple[int, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One record: a summary, and the newest ``keep_tokens`` as text, tool outputs cut to ``chars``."""

    keep_tokens: int
    chars: int

    def leaver(self, field: Field) -> Leaver | None:
        """None where the recording has summaries among its messages."""
        return None if field.kinds.summaries else RecordLeaver(field, self)


class RecordLeaver(Leaver):
    """See ``policies.opencode_compaction_v2``."""

    leaves_no_trace = True

    def __init__(self, field: Field, edit: Record) -> None:
        super().__init__(field)
        self.edit = edit
        self.sums: Sums = field.known(f"as text {edit.chars}", self._as_text, (Sums,))

    def _as_text(self) -> Sums:
        here = self.field
        params, view = v2.Params(tool_output_chars=self.edit.chars), here.view()
        items = [v2.as_text(params, view, here.item(n)) for n in range(len(here.kinds.indices))]
        return Sums(
            tuple(accumulate((item.size for item in items), initial=0)),
            tuple(accumulate((item.tokens for item in items), initial=0)),
        )

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """It does not run twice in a row."""
        del rule, left
        return False

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The summary, and the tail as one message."""
        del rule, before
        here, stop = self.field, self.field.track.stops[step]
        start = self._start(held, stop)
        recent = self.sums.tokens[stop] - self.sums.tokens[start]
        product, base = here.products.at(step), here.track.overhead + here.lead
        draft = Draft("", recent) if start < stop else None
        tokens, size, n = here.put_in(product, draft)
        front = (made(n),)
        return Left(base + tokens, here.sized.system + size, stop, base, n, product.summary, 1, front)

    def _start(self, held: Left, stop: int) -> int:
        """Where the tail begins: ``v2.start_of_tail``."""
        first, sizes, typed = held.cut, self.sums.sizes, self.field.kinds.typed
        start = min(stop - 1, max(first, bisect_left(sizes, sizes[stop] - self.edit.keep_tokens)))
        number = bisect_left(typed, start + 1) - 1
        if number >= 0 and typed[number] > first:
            return typed[number]
        latest = bisect_left(typed, stop) - 1
        if latest >= 0 and typed[latest] > first:
            return typed[latest]
        return first if held.front else stop

    def ask(self, walk: Walk, asked: Asked) -> Gate:
        """Not twice in a row."""
        view = self.view(walk, asked)
        view.state.n_events, view.state.requests_since_event = asked.since is not None, asked.since or 0
        return walk.drawn.gate(walk.params, view)


@dataclass(frozen=True, slots=True)
class Turns:
    """A summary, the newest ``turns`` within ``budget``, and a prompt to go on.

    Where the request is over the window (``Partial.most``): the summary and the last prompt without its media.
    """

    turns: int
    budget: int

    def leaver(self, field: Field) -> Leaver | None:
        """None where results come a request late, or prompts hold calls or results."""
        return TurnsLeaver(field, self) if field.typed_alone and not field.track.long_pairs else None


class TurnsLeaver(Leaver):
    """See ``policies.opencode_compaction``; the memory is the prompt that an overflow kept, its tokens and size."""

    writes = True
    leaves_no_trace = True

    def __init__(self, field: Field, edit: Turns) -> None:
        super().__init__(field)
        self.edit = edit
        self.answers = frozenset(field.kinds.answers)
        self.go_on = field.draft_size(GO_ON)

    def first(self) -> int:
        """Nothing is counted before the first reply."""
        return 0

    def may_stay_on(self, rule: Partial, left: Left) -> bool:
        """By usage, or where the request would be refused again."""
        return left.tokens >= rule.limit or (rule.most is not None and left.tokens > rule.most)

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """The tail and a prompt to go on, or the last prompt again."""
        here, stop, typed = self.field, self.field.track.stops[step], self.field.kinds.typed
        newest = bisect_left(typed, stop) - 1
        last = typed[newest] if newest >= 0 and typed[newest] >= held.cut else -1
        product, base = here.products.at(step), here.track.overhead + here.lead
        size = here.sized.system + product.size
        refused = rule.most is not None and before > rule.most
        if refused and (last > held.cut or (last >= 0 and held.front) or held.memory):
            prompt = self._prompt(last) if last >= 0 else held.memory
            front: tuple[tuple[Key, ...], ...] = (made(product.n), (prompt[0],))
            tokens = base + product.tokens + prompt[1]
            return Left(tokens, size + prompt[2], stop, base, product.n, product.summary, 1, front, (), prompt)
        found = self._tail(held, stop)
        if found is None:
            return None
        cut, keeps_prompt = found
        tokens = here.track.overhead + here.standing(cut, step) if cut < stop else base
        tokens, size = tokens + product.tokens + GO_ON.tokens, size + self.go_on + here.size_of(cut, stop)
        front = (made(product.n), (held.memory[0],) if keeps_prompt else ())
        memory = held.memory if keeps_prompt else None
        if keeps_prompt:
            tokens, size = tokens + held.memory[1], size + held.memory[2]
        return Left(tokens, size, cut, base, product.n + 1, product.summary, 1, front, (stop,), memory)

    def _prompt(self, position: int) -> tuple[Any, int, int]:
        """The last prompt without its media: its key, tokens and size."""
        found = self.values.get(position)
        if found is None:
            item = self.field.item(position)
            bare = drop_media(self.field.view(), item, v1.MEDIA)
            whole = (position, self.field.weigh((position,)), item.size)
            found = whole if bare is item else ((position, bare.tokens), bare.tokens, bare.size)
            self.values[position] = found
        return found

    def _tail(self, held: Left, stop: int) -> tuple[int, bool] | None:
        """Where the tail begins, and whether the prompt of the front is in it; None where an earlier "go on" may be."""
        here, typed = self.field, self.field.kinds.typed
        mark = held.marks[-1] if held.marks else -1
        total, end, keep = 0, stop, -1
        newest = bisect_left(typed, stop)
        for number in range(newest - 1, max(-1, newest - 1 - self.edit.turns), -1):
            start = typed[number]
            if start < held.cut:
                break
            size = here.size_of(start, end) + (self.go_on if start < mark <= end and mark < stop else 0)
            if total + size > self.edit.budget:
                split = self._split(start, end, self.edit.budget - total, mark)
                if split is None:
                    return None
                keep = split if split >= 0 else keep
                return self._cut(held, keep, stop, mark)
            total, keep, end = total + size, start, start
        else:
            return self._cut(held, keep, stop, mark)
        return self._older(held, stop, (total, end, keep), newest)

    def _older(self, held: Left, stop: int, found: tuple[int, int, int], newest: int) -> tuple[int, bool] | None:
        """The same where there may be a prompt in the front; ``found`` so far: tokens, their start, what is kept."""
        here, typed, (total, end, keep) = self.field, self.field.kinds.typed, found
        mark = held.marks[-1] if held.marks else -1
        n_turns = newest - bisect_left(typed, held.cut)
        if held.memory is None or n_turns >= self.edit.turns:
            return self._cut(held, keep, stop, mark)
        if mark >= 0:
            return None
        if total + held.memory[2] + here.size_of(held.cut, end) <= self.edit.budget:
            return held.cut, True
        split = self._split(held.cut - 1, end, self.edit.budget - total, mark)
        if split is None:
            return None
        return self._cut(held, split if split >= 0 else keep, stop, mark)

    def _split(self, start: int, end: int, budget: int, mark: int) -> int | None:
        """The earliest position after ``start`` from which the rest of the turn fits, -1 where there is none."""
        if budget <= 0:
            return -1
        sizes = self.field.sized.sums
        found = max(start + 1, bisect_left(sizes, sizes[end] - budget))
        if found <= mark < end and start < mark:
            return None
        while found < end and found in self.answers:
            found += 1
        return found if found < end else -1

    def _cut(self, held: Left, keep: int, stop: int, mark: int) -> tuple[int, bool] | None:
        """The cut, moved over the results of calls before it."""
        if keep < 0:
            return stop, False
        if keep < mark:
            return None
        cut = self.field.track.cut_forward[keep]
        at_start = cut == held.cut and not held.front
        return (stop if at_start or cut >= stop else cut), False
