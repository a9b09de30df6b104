"""A session as an edit sees it that leaves a part of the list: sizes, tokens and kinds of its messages by position."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine import registry
from sessions.engine.context import entering_steps, holds_result, message_items
from sessions.engine.policy import State, View
from sessions.engine.sizes import message_size, message_sizes
from sessions.engine.summaries import Summaries, drafted_message
from sessions.engine.sweeps.fast.counts import heights_by, some_steps
from sessions.engine.sweeps.fast.products import FAR, kept_products, product_messages
from sessions.engine.sweeps.fast.track import messages_of
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.policy import Draft, Item
    from sessions.engine.sweeps.fast.counts import Count, SomeSteps
    from sessions.engine.sweeps.fast.jump import Kept
    from sessions.engine.sweeps.fast.products import Product, Products
    from sessions.engine.sweeps.fast.track import Track

MOST_DRAFTS = 20_000
"""How many sizes of drafts are held."""
USER_ROLE, ASSISTANT_ROLE, TOOL_ROLE = 0, 1, 2
ROLES = {Role.USER: USER_ROLE, Role.ASSISTANT: ASSISTANT_ROLE}


class Kinds(NamedTuple):
    """By position: the message's index, its role (``ROLES``); positions of prompts, of answers and of replies.

    ``calls`` are the positions of messages with calls, ``summaries`` of summaries.
    """

    indices: tuple[int, ...]
    roles: tuple[int, ...]
    typed: tuple[int, ...]
    answers: tuple[int, ...]
    replies: tuple[int, ...]
    calls: tuple[int, ...]
    summaries: tuple[int, ...]


class Sized(NamedTuple):
    """By one estimator: the sizes of the first n positions for every n, of the system messages, of the first step.

    ``heights`` is what a gate counts at every step less the offset (``counts``).
    """

    sums: tuple[int, ...]
    system: int
    first: int
    heights: tuple[int, ...]


@dataclass
class Field:
    """A session under one count and one summarizer, made once for all settings."""

    weighed: Weighed
    track: Track
    count: Count
    products: Products
    summaries: Summaries
    kept: Kept
    drafts: dict[Draft, int] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> Kinds:
        """Kinds of the messages."""
        return self.kept("kinds by position", lambda: _kinds(self.weighed), (Kinds,))

    @cached_property
    def sized(self) -> Sized:
        """Sizes of the messages in the gate's unit, and what it counts."""
        name = f"sized {self.summaries.estimator.key} {self.count.kind}"
        return self.kept(name, lambda: _sized(self), (Sized,))

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """A value of the session that every edit shares."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def heights_of(self, kind: str) -> list[int]:
        """What another gate with this estimator counts at every step less the offset."""
        entering = entering_steps(self.weighed, self.summaries.estimator, self.weighed.left_out)
        found: list[int] = self.once(kind, lambda: heights_by(self.weighed, self.track, kind, entering))
        return found

    @property
    def heights(self) -> tuple[int, ...]:
        """What the gate counts at every step less the offset."""
        return self.sized.heights

    @cached_property
    def peaks(self) -> list[int]:
        """The running maximum of ``heights``."""
        return list(accumulate(self.heights, max))

    @cached_property
    def tops_peaks(self) -> list[int]:
        """The running maximum of the track's ``tops``."""
        return list(accumulate(self.track.tops, max))

    @cached_property
    def first(self) -> int:
        """What is counted before any usage: the list by estimate, and the overhead."""
        return self.sized.first + self.track.overhead

    @cached_property
    def n_members(self) -> list[int]:
        """How many messages that are no system messages came with each step."""
        return [stop - start for start, stop in pairwise([0, *self.track.stops])]

    @cached_property
    def step_at(self) -> list[int]:
        """The step that each position came with."""
        return [k for k, n in enumerate(self.n_members) for _ in range(n)]

    @cached_property
    def has_empty(self) -> bool:
        """Whether a request brought no message."""
        return 0 in self.n_members[1:]

    @cached_property
    def lead(self) -> int:
        """Display tokens of the system messages alone."""
        return self.track.lead

    @cached_property
    def typed_alone(self) -> bool:
        """Whether no prompt calls a tool or answers a call."""
        roles, calls = self.kinds.roles, frozenset(self.kinds.calls)
        return all(roles[position] == USER_ROLE and position not in calls for position in self.kinds.typed)

    @cached_property
    def with_results(self) -> list[int]:
        """Positions of messages that hold tool results."""
        return [position for position in range(len(self.kinds.indices)) if holds_result(self.item(position))]

    @cached_property
    def last_typed(self) -> frozenset[int]:
        """Steps whose newest message is a prompt."""
        typed = frozenset(self.kinds.typed)
        return frozenset(k for k, stop in enumerate(self.track.stops) if stop - 1 in typed)

    @cached_property
    def turns(self) -> SomeSteps:
        """Steps that begin a turn, the first one left out."""
        return some_steps(sorted(self.last_typed - {0}), self.heights)

    def draft_size(self, draft: Draft) -> int:
        """Size of a message that a policy writes, in the gate's unit."""
        if draft not in self.drafts:
            if len(self.drafts) >= MOST_DRAFTS:
                self.drafts.clear()
            message = drafted_message(draft, "", self.weighed.ratio)
            self.drafts[draft] = message_size(message, self.summaries.estimator, self.weighed.model)
        return self.drafts[draft]

    def products_by(self, estimator: str) -> Products:
        """The products of the session with sizes by another estimator."""
        own = self.summaries
        spec = own.summarizer.name if own.argument is None else f"{own.summarizer.name}:{own.argument}"
        return kept_products(Summaries(self.weighed, spec, registry.get("estimators", estimator)), self.kept)

    @cached_property
    def plain_products(self) -> bool:
        """Whether all that is put in are messages of the user's that nobody typed, without calls and results."""
        near = [self.weighed.steps[step].request for step in self.products.near]
        made = [message for request in (*near, FAR) for message in product_messages(self.summaries, request)]
        tools = frozenset((Kind.TOOL_USE, Kind.TOOL_RESULT))
        return all(
            m.role is Role.USER and not m.typed and tools.isdisjoint(block.kind for block in m.blocks) for m in made
        )

    def put_in(self, product: Product, draft: Draft | None) -> tuple[int, int, int]:
        """Display tokens, size and number of what stands for dropped messages: a product and what a policy attaches."""
        if draft is None:
            return product.tokens, product.size, product.n
        room = product.room
        if room is not None:
            draft = draft._replace(tokens=min(draft.tokens, room))
            if not draft.tokens:
                return product.tokens, product.size, product.n
        return product.tokens + draft.tokens, product.size + self.draft_size(draft), product.n + 1

    def tokens_of(self, start: int, stop: int) -> int:
        """What the messages at these positions weigh by themselves."""
        return self.track.tokens[stop] - self.track.tokens[start]

    def size_of(self, start: int, stop: int) -> int:
        """Their size in the gate's unit."""
        return self.sized.sums[stop] - self.sized.sums[start]

    def standing(self, cut: int, step: int) -> int:
        """Display tokens, system messages included, of the list from position ``cut`` on at a step."""
        return self.track.standing[cut] + self.track.whole[step + 1]

    def weigh(self, held: Iterable[Any]) -> int:
        """Display tokens of messages beside the system's: a step that stands whole weighs its measured growth."""
        tokens, step_at, found = self.track.tokens, self.step_at, dict[int, list[int]]()
        total = 0
        for key in held:
            if isinstance(key, tuple):
                total += key[1]
            elif isinstance(key, int):
                found.setdefault(step_at[key], []).append(tokens[key + 1] - tokens[key])
        for step, each in found.items():
            total += self.weight_of(step) if len(each) == self.n_members[step] else sum(each)
        return total

    def weight_of(self, step: int) -> int:
        """The measured growth of a step beside the system messages."""
        weight = self.track.heights[step + 1] - self.track.heights[step]
        return weight if step else weight - self.lead

    def item(self, position: int) -> Item:
        """A message as it stands in a list."""
        return message_items(self.weighed, self.summaries.estimator)[self.kinds.indices[position]]

    def view(self) -> View:
        """A view for edits that ask for tools alone."""
        weighed = self.weighed
        return View([], 0, 0, None, weighed.window, weighed.overhead, 0, weighed.model, State(), self.summaries)

    def known(self, name: str, make: Callable[[], Any], classes: Any = ()) -> Any:
        """A value by position, kept as ``kept`` keeps it, by the gate's estimator."""
        return self.kept(f"{name} {self.summaries.estimator.key}", make, classes)


def _kinds(weighed: Weighed) -> Kinds:
    messages = messages_of(weighed)
    made = [frozenset(block.kind for block in message.blocks) for message in messages]
    results = frozenset((Kind.TOOL_RESULT,))
    roles = tuple(
        TOOL_ROLE if m.role is Role.USER and Kind.TOOL_RESULT in kinds else ROLES[m.role]
        for m, kinds in zip(messages, made, strict=True)
    )
    return Kinds(
        tuple(m.index for m in messages),
        roles,
        tuple(n for n, m in enumerate(messages) if m.typed),
        tuple(n for n, kinds in enumerate(made) if kinds == results),
        tuple(n for n, role in enumerate(roles) if role == ASSISTANT_ROLE),
        tuple(n for n, kinds in enumerate(made) if Kind.TOOL_USE in kinds),
        tuple(n for n, m in enumerate(messages) if m.summary),
    )


def _sized(here: Field) -> Sized:
    weighed, estimator = here.weighed, here.summaries.estimator
    sizes = message_sizes(weighed, estimator)
    system = [m for m in weighed.transcript.messages if m.role is Role.SYSTEM and m.index not in weighed.left_out]
    entering = entering_steps(weighed, estimator, weighed.left_out)
    return Sized(
        tuple(accumulate((sizes[index] for index in here.kinds.indices), initial=0)),
        sum(sizes[m.index] for m in system),
        entering[0].size,
        tuple(heights_by(weighed, here.track, here.count.kind, entering)),
    )
