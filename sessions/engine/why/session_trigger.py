"""A policy's own gate, asked along a session as if nothing had been compacted, or everything at one request before.

The view that it is asked with is the one a replay shows it (``walk``), made from sums over the session: its list is
read only where the gate looks at it.  That is what lets every known trigger be asked over 100,000 messages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, cast, overload

from sessions.engine.policies.outlines import CHARS_PER_TOKEN
from sessions.engine.policies.policy import Gate, Item, LastUsage, State, View
from sessions.engine.replays.context import holds_result
from sessions.engine.replays.summaries import Summaries
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW
from sessions.engine.weigh.sizes import estimator_named, message_sizes

if TYPE_CHECKING:
    from sessions.engine.agents.agent import Trigger
    from sessions.engine.why.session_sums import SessionSums

STRETCH = 16
"""Steps that are asked about together, by the most that any of them holds, before each is asked about by itself."""
PROBE = 1_000
"""By how much a figure is moved to see whether a gate counts it."""
_first = itemgetter(0)


class LazyItems(Sequence[Item]):
    """The messages from ``start`` to before ``stop`` as ``made`` makes them, after ``stub`` if there is one.

    It is the same list as long as it only grows, so that a gate which remembers how far it has looked reads what is
    new (``policies._looked``).
    """

    def __init__(self, made: Callable[[int], Item], start: int, stub: Item | None) -> None:
        self.made, self.start, self.stop, self.stub = made, start, start, stub

    def __len__(self) -> int:
        return self.stop - self.start + (self.stub is not None)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            first = self.start - (self.stub is not None)
            made, stub = self.made, self.stub
            return [stub if n < self.start and stub else made(n) for n in range(first, self.stop)[at]]
        n = at if at >= 0 else at + len(self)
        if not 0 <= n < len(self):
            raise IndexError(at)
        if self.stub is None:
            return self.made(self.start + n)
        return self.made(self.start + n - 1) if n else self.stub


class LazyPlaces(Sequence[int]):
    """Positions of the messages of a list that hold tool results."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    @cached_property
    def found(self) -> list[int]:
        """All of them, in order."""
        return [n for n, item in enumerate(self.items) if holds_result(item)]

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        return self.found[at]


class LastFiring(NamedTuple):
    """From where on a gate is asked: ``step`` is that of the last firing, -1 before the first.

    ``weights`` are those of the session, but for what a firing took that the recording loses later; ``base`` makes
    display tokens of them, ``shift`` a size of the sum of all sizes.
    """

    step: int
    weights: list[int]
    base: int
    shift: int = 0
    n_firings: int = 0


Lists = dict[bool, tuple[int, LazyItems]]
"""The list of a single step, or of several, that was asked about last, and the firing that it begins at."""


def _nothing_remembered() -> tuple[tuple[State, State], Lists]:
    """What a gate remembers when it is asked about several steps and about single ones, and their lists."""
    return (State(), State()), {}


class RemovedMessage(NamedTuple):
    """A message that is taken out of what a gate is asked about: the step it enters with, its size and its tokens."""

    step: int
    size: int
    tokens: int
    is_reply: bool


class SessionTrigger:
    """One trigger's gate over one session."""

    def __init__(self, trigger: Trigger, sums: SessionSums) -> None:
        self.sums, self.weighed, self.is_told = sums, sums.weighed, True
        weighed, rule = sums.weighed, trigger.rule
        self.params, self.gate, self.slack = trigger.built, rule.drawn.gate, rule.slack
        estimator = estimator_named(trigger.estimator)
        self.unit = estimator.unit
        self.sizes = message_sizes(weighed, estimator)
        if weighed.left_out:
            self.sizes = [0 if index in weighed.left_out else size for index, size in enumerate(self.sizes)]
        until = list(accumulate(self.sizes, initial=0))
        self.whole = [until[span.stop] for span in sums.ranges]
        self.tails = [w - until[reply.stop] for w, reply in zip(self.whole, sums.replies, strict=True)]
        self.growths = [w - until[span.start] for w, span in zip(self.whole, sums.ranges, strict=True)]
        self.tools = Summaries(weighed, f"stub:{sums.stub}", estimator)
        self.items: dict[int, Item] = {}
        self.window, self.model = DEFAULT_WINDOW, weighed.model
        self.states, self.lists = _nothing_remembered()

    def withheld(self) -> SessionTrigger:
        """The same where the provider reports no usage."""
        other = copy(self)
        other.is_told, (other.states, other.lists) = False, _nothing_remembered()
        return other

    @cached_property
    def stub(self) -> Item:
        """What stands for everything before a firing."""
        (made,) = self.tools.summarize(())
        size = self.sums.stub * (1 if self.unit == "tokens" else CHARS_PER_TOKEN)
        return replace(made, tokens=self.sums.stub, size=size)

    @property
    def start(self) -> LastFiring:
        """Before anything fired."""
        return LastFiring(-1, self.sums.weights, self.weighed.overhead)

    def after(self, step: int, weights: list[int], n_firings: int) -> LastFiring:
        """After a firing at ``step``: what was sent there is the stub and the overhead."""
        base = self.weighed.overhead + self.sums.stub - weights[step]
        return LastFiring(step, weights, base, self.stub.size - self.whole[step], n_firings)

    def first(self, since: LastFiring, without: RemovedMessage | None = None) -> tuple[int, Gate] | None:
        """The first step after ``since`` at which the gate fires, and what it says there; None where it never does."""
        sums = self.sums
        ends = [*(start for start, _, _ in sums.windows[1:]), len(sums.weights)]
        for (start, window, model), end in zip(sums.windows, ends, strict=bool(sums.windows)):
            self.window, self.model = window, model
            for at in range(max(start, since.step + 1), end, STRETCH):
                stop = min(end, at + STRETCH)
                for k in range(at, stop) if self._may_fire(at, stop, since, without) else ():
                    said = self.gate(self.params, self._view(k, since, without))
                    if said.fires:
                        return k, said
        return None

    def asked(self, k: int, since: LastFiring) -> Gate:
        """What the gate says at a step."""
        return self.gate(self.params, self._held(k, since))

    def counted(self, k: int, since: LastFiring) -> range:
        """The messages whose estimate is in what the gate measures at a step: those it heeds when they are resized."""
        span, reply = self.sums.ranges[k], self.sums.replies[k]
        everything = range(self.sums.ranges[since.step + 1].start, span.stop)
        view = self._held(k, since)
        told, measure = view.usage, self.gate(self.params, view).measure
        bigger = replace(view, size=view.size + PROBE)
        if self.gate(self.params, bigger).measure != measure:
            if told is None:
                return everything
            bigger.usage = told._replace(size_then=told.size_then + PROBE)
            return span if self.gate(self.params, bigger).measure == measure else everything
        if told is None:
            return range(0)
        longer = replace(view, usage=told._replace(tail=told.tail + PROBE))
        return range(reply.stop, span.stop) if self.gate(self.params, longer).measure != measure else range(0)

    @cached_property
    def heeds_estimates(self) -> bool:
        """Whether the gate counts the usage that it is told of, and estimates something beside it."""
        view = self._held(0, self.start)
        much = 10 * (view.size + view.overhead + PROBE)
        told = view.usage = LastUsage(much, PROBE, view.size, 0)
        measure = self.gate(self.params, view).measure
        less = replace(view, usage=told._replace(input=0, output=0))
        grown = replace(view, size=view.size + 2 * much, usage=told._replace(tail=2 * much))
        return self.gate(self.params, less).measure != measure != self.gate(self.params, grown).measure

    def _may_fire(self, at: int, stop: int, since: LastFiring, without: RemovedMessage | None) -> bool:
        """Whether the gate may fire at any of several steps: it is asked about the most that any of them holds.

        That answers for all of them: what a gate measures never falls while what it counts grows, but for the slack
        that its policy states.
        """
        told = self.sums.told
        if stop - at == 1 or not at or (told is not None and at <= told[0] < stop):
            return True
        said = self.gate(self.params, self._most(at, stop, since, without))
        return said.fires or said.measure * self.slack >= said.threshold

    def _held(self, k: int, since: LastFiring) -> View:
        """What the gate sees at a step, wherever that is."""
        _, self.window, self.model = self.sums.windows[bisect_right(self.sums.windows, k, key=_first) - 1]
        return self._view(k, since, None)

    def _view(self, k: int, since: LastFiring, without: RemovedMessage | None) -> View:
        """What the gate sees at step ``k``."""
        sums, is_gone = self.sums, without is not None and k >= without.step
        gone = without if is_gone else None
        context, size = since.base + since.weights[k], self.whole[k] + since.shift
        usage = None
        if k and self.is_told:
            growth, tail, then = self.growths[k], self.tails[k], since.base + since.weights[k - 1]
            if gone is not None and k == gone.step:
                growth, tail = growth - gone.size, tail - (0 if gone.is_reply else gone.size)
            elif gone is not None:
                then -= gone.tokens
            then_size = size - (gone.size if gone else 0) - growth
            usage = LastUsage(max(0, then), sums.outputs[k - 1], then_size, tail, sums.written[k - 1])
        view = self._shown(k, since, gone, context, usage, is_one=True)
        newest = sums.kept_until[k] - 1
        view.newest_typed = newest >= 0 and self.weighed.transcript.messages[sums.kept[newest]].typed
        if since.step < 0 and sums.told is not None and sums.told[0] == k:
            view.told = sums.told[1]
        return view

    def _most(self, at: int, stop: int, since: LastFiring, without: RemovedMessage | None) -> View:
        """The most that it sees at any of the steps from ``at`` to before ``stop``."""
        sums, weights, last = self.sums, since.weights, stop - 1
        gone = without if without is not None and at >= without.step else None
        context, size = since.base + max(weights[at:stop]), self.whole[last] + since.shift
        usage = None
        if self.is_told:
            then = since.base + max(weights[at - 1 : last]) - (gone.tokens if gone and at > gone.step else 0)
            then_size = size - (gone.size if gone else 0) - max(self.growths[at:stop])
            output, written = max(sums.outputs[at - 1 : last]), max(sums.most_written[at - 1 : last])
            usage = LastUsage(max(0, then), output, then_size, max(self.tails[at:stop]), written)
        return self._shown(last, since, gone, context, usage, is_one=False)

    def _shown(
        self,
        last: int,
        since: LastFiring,
        gone: RemovedMessage | None,
        context: int,
        usage: LastUsage | None,
        *,
        is_one: bool,
    ) -> View:
        """A view of the list at step ``last``."""
        sums, state = self.sums, self.states[is_one]
        state.n_events, state.requests_since_event = since.n_firings, last - since.step
        first = since.step + 1
        state.messages_since_event = sums.ranges[last].stop - sums.ranges[first].start
        state.turns_since_event = sums.typed[last] - (sums.typed[since.step] if first else 0)
        context = max(0, context - (gone.tokens if gone else 0))
        size = self.whole[last] + since.shift - (gone.size if gone else 0)
        items = self._standing(last, since, is_one=is_one)
        return View(
            cast("list[Item]", items), self.weighed.steps[last].request, size, usage, self.window,
            self.weighed.overhead, context, self.model, state, self.tools, unedited=context,
            results=cast("list[int]", LazyPlaces(items)), n_turns=sums.typed[last],
        )  # fmt: skip

    def _standing(self, last: int, since: LastFiring, *, is_one: bool) -> LazyItems:
        """The list at a step; the one asked about before, where it has only grown since."""
        stop = self.sums.kept_until[last]
        step, known = self.lists.get(is_one, (-1, None))
        if known is None or step != since.step or known.stop > stop:
            is_first = since.step < 0
            start = 0 if is_first else self.sums.kept_until[since.step]
            known = LazyItems(self._item, start, None if is_first else self.stub)
            self.lists[is_one] = since.step, known
        known.stop = stop
        return known

    def _item(self, position: int) -> Item:
        """A message of the session, of those that a list may hold, as it stands there; made once."""
        made = self.items.get(position)
        if made is None:
            index, weighed = self.sums.kept[position], self.weighed
            message = weighed.transcript.messages[index]
            made = Item(message.id, message, weighed.tokens[index], self.sizes[index], self.sums.step_at[index])
            self.items[position] = made
        return made
