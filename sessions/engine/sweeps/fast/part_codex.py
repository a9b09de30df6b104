"""What Codex's compactions leave, by prefix sums: user messages within a budget, the initial context, the summary."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.estimators._codex import reasoning_tokens
from sessions.engine.events import ChangeCounts, changed
from sessions.engine.policies import codex
from sessions.engine.sweeps.fast.counts import USED, Count, next_over
from sessions.engine.sweeps.fast.field import ASSISTANT_ROLE, TOOL_ROLE, Field
from sessions.engine.sweeps.fast.left import MADE, Left
from sessions.engine.sweeps.fast.part import MOST_HELD, Leaver, Partial
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.policy import Item
    from sessions.engine.sweeps.fast.left import Key


def local(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Local compaction."""
    del model
    fresh = params.mode == "token_budget"
    return _rule(params, window, Retained(None if fresh else params.user_message_tokens, is_fresh=fresh))


def remote(params: Any, window: int, model: ModelInfo | None) -> Partial | None:
    """Remote compaction."""
    del model
    if params.version == "v1":
        return _rule(params, window, Retained(None))
    return _rule(params, window, Retained(params.retained_tokens, least=1, has_media=True))


def _rule(params: Any, window: int, edit: Retained) -> Partial | None:
    if params.usage != "recorded":
        return None
    body = params.scope == "body_after_prefix"
    limit = min(codex.limit(window, params.auto_compact_token_limit), window)
    return Partial(limit, Count(codex.LOCAL.estimator, USED), edit, is_body=body) if limit > 0 else None


@dataclass(frozen=True, slots=True)
class Retained:
    """Typed messages kept newest first within ``budget`` tokens (None: all), each of ``least`` tokens or more.

    Text alone unless ``has_media``.  ``is_fresh``: no summary and no message of the history.
    """

    budget: int | None
    least: int = 0
    has_media: bool = False
    is_fresh: bool = False

    def leaver(self, field: Field) -> CodexLeaver | None:
        """None where requests brought nothing, or a prompt came without a reply or a result before it."""
        known: Known = field.known("codex", lambda: known_of(field), (Known,))
        return CodexLeaver(field, self, known) if known.is_plain and not field.has_empty else None


class Known(NamedTuple):
    """Of a session: how many messages of initial context it starts with, and by step what the gate leaves out.

    ``new`` is the size of a prompt not yet in the history, ``boundary`` the newest position that opens a turn; -1 for
    none.  ``reasoning`` are prefix sums of encrypted reasoning by position.  By typed message: ``texts`` tokens of its
    text, ``plain`` display tokens and ``plain_size`` of its text alone; ``media`` are the numbers of those that hold
    more.
    """

    is_plain: bool
    n_initial: int
    new: tuple[int, ...]
    boundary: tuple[int, ...]
    reasoning: tuple[int, ...]
    texts: tuple[int, ...]
    plain: tuple[int, ...]
    plain_size: tuple[int, ...]
    media: tuple[int, ...]


def known_of(field: Field) -> Known:
    """What is looked up of a session's messages once."""
    kinds, stops, n_positions = field.kinds, field.track.stops, len(field.kinds.indices)
    items = [field.item(position) for position in range(n_positions)]
    said = [role not in {ASSISTANT_ROLE, TOOL_ROLE} for role in kinds.roles]
    newest_typed = set(kinds.typed)
    new, boundary, is_plain, opened, passed = [], [], True, -1, 0
    for step, stop in enumerate(stops):
        first = stop
        if stop - 1 in newest_typed:
            while first and said[first - 1]:
                first -= 1
            is_plain = is_plain and (not step or first > stops[step - 1])
        for position in range(passed, first):
            if codex.opens_turn(items[position]):
                opened = position
        passed = max(passed, first)
        new.append(field.size_of(first, stop) + (field.sized.system if first < stop and not first else 0))
        boundary.append(opened)
    n_initial = next((n for n, i in enumerate(items) if i.message.typed or not codex.is_wrapper(i)), n_positions)
    typed = [items[position] for position in kinds.typed]
    plain = [codex.text_only(field.view(), item) for item in typed]
    whole = all(block.kind not in (Kind.TOOL_USE, Kind.TOOL_RESULT) for item in typed for block in item.message.blocks)
    reasoning = accumulate((sum(map(reasoning_tokens, item.message.blocks)) for item in items), initial=0)
    return Known(
        is_plain and whole, n_initial, tuple(new), tuple(boundary), tuple(reasoning),
        tuple(codex.text_tokens(item) for item in plain), tuple(item.tokens for item in plain),
        tuple(item.size for item in plain), tuple(n for n, item in enumerate(typed) if plain[n] is not item),
    )  # fmt: skip


class Memory(NamedTuple):
    """What a compaction left: the numbers ``low`` to ``high`` of typed messages, before them one cut in the middle.

    ``has_initial``: the initial context is found again; otherwise it is history.  ``n_users`` stand in the front.
    """

    low: int
    high: int
    cut_item: Item | None
    has_initial: bool


class CodexLeaver(Leaver):
    """Retained user messages, the initial context in its place, the summary."""

    leaves_no_trace = True

    def __init__(self, field: Field, edit: Retained, known: Known) -> None:
        super().__init__(field)
        self.edit, self.known = edit, known
        self.typed, self.items = field.kinds.typed, dict[Any, Any]()
        track = field.track
        heights = [height - new for height, new in zip(field.heights, known.new, strict=True)]
        self.heights = [min(heights[1:], default=0), *heights[1:]]
        self.peaks = list(accumulate(self.heights, max))
        stored = [
            height + (known.reasoning[at] if at >= 0 else 0)
            for height, at in zip(self.heights, known.boundary, strict=True)
        ]
        self.stored, self.stored_peaks = stored, list(accumulate(stored, max))
        self.has_reasoning = bool(known.reasoning[-1])
        texts = [max(edit.least, n) for n in known.texts]
        self.texts = list(accumulate(texts, initial=0))
        self.media = frozenset() if edit.has_media or edit.budget is None else frozenset(known.media)
        own = [track.tokens[p + 1] - track.tokens[p] for p in self.typed]
        sizes = [field.size_of(p, p + 1) for p in self.typed]
        for n in self.media:
            own[n], sizes[n] = known.plain[n], known.plain_size[n]
        self.own, self.sizes = list(accumulate(own, initial=0)), list(accumulate(sizes, initial=0))
        self.solid = self._solid()

    def _solid(self) -> list[tuple[int, frozenset[int]]]:
        """Steps of which every message may be kept, with their positions."""
        here, found = self.field, list[tuple[int, frozenset[int]]]()
        may = {*self.typed, *range(self.known.n_initial)}
        for step in sorted({here.step_at[p] for p in may}):
            stop = here.track.stops[step]
            places = frozenset(range(stop - here.n_members[step], stop))
            if places <= may:
                found.append((step, places))
        return found

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each typed message by its position."""
        return {position: number for number, position in enumerate(self.typed)}

    def _split(self, held: Left) -> int:
        """The first step whose newest boundary is not in the front."""
        return bisect_left(self.known.boundary, held.cut)

    def next(self, rule: Partial, low: int, offset: int, held: Left) -> int:
        """Encrypted reasoning counts where a later message has opened a turn."""
        need = self.least(rule) - offset
        if not self.has_reasoning:
            return next_over(self.heights, self.peaks, low, need)
        split = max(low, self._split(held))
        found = next_over(self.heights, self.peaks, low, need, split)
        if found < split:
            return found
        return next_over(self.stored, self.stored_peaks, split, need + self.known.reasoning[held.cut])

    def measures(self, rule: Partial, start: int, stop: int, offset: int, held: Left) -> list[int]:
        """The same split."""
        del rule
        split = max(start, min(stop, self._split(held)))
        behind = offset - self.known.reasoning[held.cut]
        return [h + offset for h in self.heights[start:split]] + [h + behind for h in self.stored[split:stop]]

    def first(self) -> int:
        """The first request has no usage."""
        return self.field.first - self.known.new[0]

    def leave(self, rule: Partial, held: Left, step: int, before: int) -> Left | None:
        """See ``policies.codex``."""
        del rule, before
        here, track = self.field, self.field.track
        stop, replies = track.stops[step], here.kinds.replies
        last = bisect_left(replies, stop) - 1
        replied = replies[last] if last >= 0 else -1
        if held.memory is not None and (replied < held.cut or (self.edit.is_fresh and not self._opens_well(held.cut))):
            return None
        memory: Memory = held.memory or Memory(0, 0, None, has_initial=True)
        cut = self._live(replied, stop)
        initial = self.known.n_initial if memory.has_initial else 0
        if held.memory is None and cut <= initial:
            return None
        high = bisect_left(self.typed, cut)
        low, item = self._kept(memory, high) if not self.edit.is_fresh else (high, None)
        product = here.products.at(step)
        made = (0, 0, 0) if self.edit.is_fresh else (product.tokens, product.size, product.n)
        is_live = cut < stop
        front, tokens, size, n_users = self._front(low, high, item, initial, made[2], is_live=is_live)
        tokens += made[0] + (here.standing(cut, step) if is_live else here.lead)
        size += made[1] + here.size_of(cut, stop)
        again = not initial or n_users > (0 if is_live else 1)
        kept = Memory(low, high, item, has_initial=not (again or (is_live and made[2])))
        return Left(
            track.overhead + tokens, size, cut, self.shared(held, step, front, cut), made[2],
            0 if self.edit.is_fresh else product.summary, int(not self.edit.is_fresh), front, (), kept,
        )  # fmt: skip

    def _opens_well(self, position: int) -> bool:
        """Whether the message here is no wrapper, which would be taken for initial context."""
        return position in self.numbers or self.field.kinds.roles[position] in {ASSISTANT_ROLE, TOOL_ROLE}

    def _live(self, replied: int, stop: int) -> int:
        """Where a prompt typed since the last reply begins; ``stop`` where there is none."""
        if replied < 0 or replied + 1 >= stop or stop - 1 not in self.numbers:
            return stop
        answers = self.field.kinds.answers
        return stop if bisect_left(answers, stop) > bisect_left(answers, replied + 1) else replied + 1

    def _kept(self, memory: Memory, high: int) -> tuple[int, Item | None]:
        """The first typed message kept whole, and the one before it that is cut in the middle."""
        least, budget, texts = memory.low, self.edit.budget, self.texts
        if budget is None:
            return least, memory.cut_item
        target = texts[high] - budget
        low = max(least, bisect_left(texts, target))
        left = budget - (texts[high] - texts[low])
        if left <= 0:
            return min(high, max(low, bisect_right(texts, target) - 1)), None
        if low > least:
            return low, self._truncated(low - 1, left)
        item = memory.cut_item
        if item is None or max(self.edit.least, codex.text_tokens(item)) <= left:
            return low, item
        return low, codex.truncated(self.field.view(), item, left)

    def _truncated(self, number: int, left: int) -> Item:
        found = self.items.get((number, left))
        if found is None:
            item = self.field.item(self.typed[number])
            view = self.field.view()
            plain = item if self.edit.has_media else codex.text_only(view, item)
            found = self.items[number, left] = codex.truncated(view, plain, left)
        return found

    def _held(self, low: int, high: int, initial: int) -> int:
        """Display tokens of the typed messages and the initial context that are kept."""
        here = self.field
        total = self.own[high] - self.own[low] + here.tokens_of(0, initial)
        for step, places in self.solid:
            numbers = [self.numbers[p] for p in places if p in self.numbers]
            whole = all(low <= n < high and n not in self.media for n in numbers)
            if whole and (initial or len(numbers) == len(places)):
                total += here.weight_of(step) - sum(here.tokens_of(p, p + 1) for p in places)
        return total

    def _front(
        self, low: int, high: int, item: Item | None, initial: int, n_made: int, *, is_live: bool
    ) -> tuple[tuple[Iterable[Key], ...], int, int, int]:
        """What stands before the newest prompt, with its tokens and size but what is inserted, and its prompts."""
        key = (low, high, id(item), initial, n_made, is_live)
        found = self.values.get(key)
        if found is None:
            if len(self.values) >= MOST_HELD:
                self.values.clear()
            users, made, context = self._users(low, high, item), (MADE,) * n_made, range(initial)
            front = (users, made, context) if is_live else (users[:-1], context, users[-1:], made)
            here = self.field
            tokens, size = self._held(low, high, initial), here.sized.system + here.size_of(0, initial)
            size += self.sizes[high] - self.sizes[low]
            if item is not None:
                tokens, size = tokens + item.tokens, size + item.size
            found = self.values[key] = (front, tokens, size, len(users), item)
        return found[:4]

    def counts(self, held: Left, step: int, left: Left) -> ChangeCounts:
        """A message cut anew is edited, also where it weighs what it did."""
        found = super().counts(held, step, left)
        old: Item | None = held.memory.cut_item if held.memory else None
        new: Item | None = left.memory.cut_item
        if old is None or new is None or old.id != new.id or old.tokens != new.tokens or not changed(old, new):
            return found
        key = (bisect_left(self.field.kinds.indices, old.message.index), old.tokens)
        place = self.field.track.n_system + list(chain.from_iterable(held.front)).index(key)
        first = place if found.first is None else min(found.first, place)
        return ChangeCounts(found.kept - 1, found.edited + 1, found.dropped, found.inserted, first)

    def _users(self, low: int, high: int, item: Item | None) -> tuple[Key, ...]:
        own, typed = self.own, self.typed
        cut = () if item is None else ((bisect_left(self.field.kinds.indices, item.message.index), item.tokens),)
        if not self.media:
            return (*cut, *typed[low:high])
        return (*cut, *((typed[n], own[n + 1] - own[n]) if n in self.media else typed[n] for n in range(low, high)))
