"""The message list as a replay has changed it, with its display tokens and its size in the trigger's unit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, repeat
from operator import indexOf, is_
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.base.session_cache import Remembered
from sessions.engine.policies.policy import Item
from sessions.engine.replays.events import Splice
from sessions.engine.transcript.parts import Parts
from sessions.engine.transcript.types import Kind, Role
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import known_sizes, message_size

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.growth import Step
    from sessions.engine.weigh.calibration.series import Loss


IN_PART = 256
"""How many items are made at once."""


class Respliced(NamedTuple):
    """What a splice comes to: display tokens of the list, and of each step it touches what stands.

    ``unedited`` and ``standing`` as in ``Context``; None where the whole list has to be looked at.
    """

    tokens: int
    unedited: dict[int, int] | None = None
    standing: dict[int, int] | None = None


class Entering(NamedTuple):
    """Messages that enter together, with their sums, made once for all replays.

    ``tokens`` are display tokens; ``size`` and ``reply_size`` (the part of it that is the last request's reply) are in
    the trigger's unit; ``results`` are the places of those that hold tool results; ``replied`` and ``arrived`` are the
    times of the last reply and of the last other message among them, in seconds or None.
    """

    items: Sequence[Item]
    tokens: int
    size: int
    reply_size: int
    results: tuple[int, ...]
    n_typed: int
    replied: float | None
    arrived: float | None


@dataclass(slots=True)
class PrefixWeights:
    """The first ``n`` messages of a list: ``tokens`` are theirs in display tokens (replay-semantics 3).

    A step weighs its measured weight (``weights``) where all its ``members`` are there unedited, else what stands of it
    weighs by itself.  A cut that moves on with its list costs the messages that it moves over.
    """

    weights: Sequence[int]
    members: Sequence[int]
    n: int = 0
    tokens: int = 0
    unedited: dict[int, int] = field(default_factory=dict)
    standing: dict[int, int] = field(default_factory=dict)

    def to(self, items: Sequence[Item], n: int) -> int:
        """Tokens of the first ``n`` messages of ``items``, which are those known before as far as they were known."""
        self.back_to(items, n)
        if n > self.n:
            self.count(items[self.n : n], 1)
            self.n = n
        return self.tokens

    def back_to(self, items: Sequence[Item], n: int) -> None:
        """Only the first ``n`` are known any longer, or none where taking off the others would be longer than that."""
        if n >= self.n:
            return
        if 2 * n < self.n:
            self.tokens, n = 0, 0
            self.unedited.clear()
            self.standing.clear()
        else:
            self.count(items[n : self.n], -1)
        self.n = n

    def count(self, items: Sequence[Item], sign: int) -> None:
        """Messages come in, or leave (-1)."""
        unedited, standing, members, weights = self.unedited, self.standing, self.members, self.weights
        tokens = 0
        for item in items:
            if item.inserted:
                tokens += sign * item.tokens
                continue
            step = item.step
            n_before, held = unedited.get(step, 0), standing.get(step, 0)
            n, left = n_before if item.edited else n_before + sign, held + sign * item.tokens
            unedited[step], standing[step] = n, left
            whole = members[step]
            tokens += (weights[step] if n == whole else left) - (weights[step] if n_before == whole else held)
        self.tokens += tokens


@dataclass(slots=True)
class Context:
    """The list about to be sent, and running totals so that a request costs only what it adds.

    ``tokens`` is display tokens without overhead, ``size`` the list in the trigger's unit.  ``weights`` are the steps'
    measured weights (replay-semantics 3) less what left of them, ``members[k]`` how many messages step k brought,
    ``unedited[k]`` how many of them stand unedited (no entry: none) and ``standing[k]`` what those that stand weigh by
    themselves.  ``results`` are the positions that hold tool results; ``saved`` is what edits in place took off since
    the last whole new list.
    ``history`` is what step 0 weighs beside its messages, of a conversation before the file: no list made anew has it.
    ``empty`` is what steps without messages (a retry of the same context) have added since the last whole new list.
    """

    weights: list[int]
    members: list[int]
    items: list[Item]
    tokens: int = 0
    size: int = 0
    saved: int = 0
    history: int = 0
    empty: int = 0
    unedited: dict[int, int] = field(default_factory=dict)
    standing: dict[int, int] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    _front: PrefixWeights = field(init=False)

    def __post_init__(self) -> None:
        self._front = PrefixWeights(self.weights, self.members)

    def add_step(self, k: int, added: Entering) -> None:
        """Append the messages of step ``k``; they weigh the step's measured weight."""
        self.members[k] = self.unedited[k] = len(added.items)
        self.standing[k] = added.tokens + (0 if k else self.history)
        self.tokens += self.weights[k]
        if not added.items:
            self.empty += self.weights[k]
        self.append(added)

    def append(self, added: Entering) -> None:
        """Append messages without weighing them."""
        if added.results:
            start = len(self.items)
            self.results += [start + n for n in added.results]
        self.items += added.items
        self.size += added.size

    def respliced(self, items: Sequence[Item], splice: Splice) -> Respliced:
        """What ``items`` weigh, which differ from this list by a splice: as ``weigh``, at the cost of what changes."""
        if self.history:
            return Respliced(self.weigh(items))
        total = self.tokens - self.empty
        unedited: dict[int, int] = {}
        standing: dict[int, int] = {}
        for sign, changed in ((-1, splice.gone), (1, splice.new)):
            for item in changed:
                if item.inserted:
                    total += sign * item.tokens
                    continue
                step = item.step
                if step not in standing:
                    total -= self._step_tokens(step)
                    unedited[step], standing[step] = self.unedited.get(step, 0), self.standing.get(step, 0)
                standing[step] += sign * item.tokens
                if not item.edited:
                    unedited[step] += sign
        for step, tokens in standing.items():
            total += self.weights[step] if unedited[step] == self.members[step] else tokens
        return Respliced(total, unedited, standing)

    def take(self, items: list[Item], splice: Splice, respliced: Respliced) -> None:
        """Take ``items`` as the list from here on, which differ from it by a splice (``respliced``)."""
        if respliced.unedited is None or respliced.standing is None:
            self.replace(items, respliced.tokens)
            return
        start, shift, stop = splice.start, len(splice.new) - len(splice.gone), splice.start + len(splice.gone)
        self._front.back_to(self.items, start)
        self.items, self.tokens, self.saved, self.empty = items, respliced.tokens, 0, 0
        self.size += sum([item.size for item in splice.new]) - sum([item.size for item in splice.gone])
        self.unedited |= respliced.unedited
        self.standing |= respliced.standing
        first, last = bisect_left(self.results, start), bisect_left(self.results, stop)
        later = self.results[last:]
        self.results[first:] = [n for n, item in enumerate(splice.new, start) if holds_result(item)]
        self.results += [position + shift for position in later] if shift else later

    def replace(self, items: list[Item], tokens: int) -> None:
        """Take ``items``, which weigh ``tokens`` (``weigh``), as the list from here on."""
        self.items, self.tokens, self.saved, self.empty = items, tokens, 0, 0
        if self.history:
            self.weights[0] -= self.history
            self.history = 0
        self._front = PrefixWeights(self.weights, self.members)
        self.size = sum([item.size for item in items])
        self.results = [position for position, item in enumerate(items) if holds_result(item)]
        counted = self._counted(items)
        self.unedited, self.standing = counted.unedited, counted.standing

    def patch(self, changes: Mapping[int, Item]) -> None:
        """Change messages in place; costs what is changed, not the whole list."""
        before = self.tokens
        self._front.back_to(self.items, min(changes, default=len(self.items)))
        for position, new in changes.items():
            old, step = self.items[position], self.items[position].step
            self.size += new.size - old.size
            if old.inserted:
                self.tokens += new.tokens - old.tokens
            else:
                self.tokens -= self._step_tokens(step)
                self.standing[step] = self.standing.get(step, 0) + new.tokens - old.tokens
                self.unedited[step] = self.unedited.get(step, 0) + int(old.edited) - int(new.edited)
                self.tokens += self._step_tokens(step)
            self.items[position] = new
        self.saved += before - self.tokens

    def lose(self, loss: Loss, tokens: Sequence[int]) -> dict[int, Item]:
        """Take off what left beside a compaction, as far as the list still holds it; what changed, by position.

        ``tokens`` are those of every message of the session.  An edited message keeps no more than what left leaves.
        """
        places = self._places({index for index, _ in loss.parts if index >= 0})
        held = [(places[index], taken, tokens[index]) for index, taken in loss.parts if index in places]
        self._front.back_to(self.items, 0 if loss.history else min((at for at, *_ in held), default=len(self.items)))
        changes: dict[int, Item] = {}
        for at, taken, whole in held:
            old = self.items[at]
            left = max(0, old.tokens - taken) if not old.edited else min(old.tokens, max(0, whole - taken))
            new = changes[at] = self.items[at] = replace(old, tokens=left)
            if old.inserted:
                self.tokens += new.tokens - old.tokens
                continue
            self.tokens -= self._step_tokens(old.step)
            if not old.edited:
                self.weights[old.step] -= min(taken, self.weights[old.step])
            self.standing[old.step] = self.standing.get(old.step, 0) + new.tokens - old.tokens
            self.tokens += self._step_tokens(old.step)
        beside, history = min(loss.beside, self.empty), min(loss.history, self.history)
        self.empty -= beside
        if history:
            self.history -= history
            self.weights[0] -= history
            self.standing[0] -= history
            self.empty -= 0 if self.members[0] else history
        self.tokens -= beside + history
        return changes

    def _places(self, wanted: set[int]) -> dict[int, int]:
        """Where the list holds these messages, the last place of each; looked for from its end, near which they are."""
        places: dict[int, int] = {}
        for at, item in zip(range(len(self.items) - 1, -1, -1), reversed(self.items), strict=True):
            index = item.message.index
            if index in wanted and index not in places:
                places[index] = at
                if len(places) == len(wanted):
                    break
        return places

    def _step_tokens(self, step: int) -> int:
        whole = self.unedited.get(step, 0) == self.members[step]
        return self.weights[step] if whole else self.standing.get(step, 0)

    def weigh(self, items: Sequence[Item]) -> int:
        """Display tokens of a list: a step's measured weight while all its messages stand unedited, else what is left.

        Steps without messages (a retry of the same context) weigh nothing in a list made anew.
        """
        counted = self._counted(items)
        return counted.tokens - self._history_in(counted)

    def tails(self, items: Sequence[Item], kept: Sequence[Item]) -> list[int]:
        """What ``kept`` and ``items[n:]`` weigh together, for every n up to the length of ``items`` (``weigh``)."""
        counted = self._counted(kept)
        history = self._history_in(counted)
        found = [counted.tokens]
        for item in reversed(items):
            counted.count((item,), 1)
            found.append(counted.tokens)
        return [tokens - history for tokens in reversed(found)]

    def prefix(self, n: int) -> int:
        """Display tokens of the first ``n`` messages; costs the messages between this cut and the one asked before.

        What steps without messages have added stands before a cut in the second half of the list.
        """
        tokens = self._front.to(self.items, n)
        if n and self._front.unedited.get(0) != self.members[0]:
            tokens += self.history
        return tokens + self.empty if 2 * n > len(self.items) else tokens

    def _history_in(self, counted: PrefixWeights) -> int:
        """What step 0 weighs in it beside its messages."""
        return self.history if 0 in counted.standing and counted.unedited[0] == self.members[0] else 0

    def _counted(self, items: Sequence[Item]) -> PrefixWeights:
        """A whole list, weighed."""
        counted = PrefixWeights(self.weights, self.members)
        counted.to(items, len(items))
        return counted

    def copy(self) -> Context:
        """The same, to be edited without this one knowing."""
        made = Context(
            list(self.weights), list(self.members), list(self.items), self.tokens, self.size, self.saved, self.history,
            self.empty,
        )  # fmt: skip
        made.unedited, made.standing, made.results = dict(self.unedited), dict(self.standing), list(self.results)
        return made


def holds_result(item: Item) -> bool:
    """Whether a message holds a tool result."""
    for block in item.message.blocks:  # noqa: SIM110 - asked of every message of every list: a generator costs thrice
        if block.kind is Kind.TOOL_RESULT:
            return True
    return False


ITEMS: Remembered[Parts[Item]] = Remembered("items")
"""Of all messages, by the key of the estimator that sized them."""
ENTERING: Remembered[tuple[Entering, ...]] = Remembered("entering")
"""What enters at every step, by the key of the estimator and whether something is left out."""


def message_items(weighed: Weighed, estimator: Any) -> Parts[Item]:
    """Items of all messages of the branch, sized by the estimator, shared by all replays; made when looked at."""
    messages, tokens, steps = weighed.transcript.messages, weighed.tokens, weighed.steps
    held, own, sizes = weighed.held, weighed.model, known_sizes(weighed, estimator)

    def read(part: int) -> tuple[Item, ...]:
        start = part * IN_PART
        here = messages[start : start + IN_PART]
        at = _steps_at(steps, start, start + len(here))
        models = [held[k].model if k >= 0 else own for k in at]
        by_size = sizes[start : start + len(here)] if sizes else map(message_size, here, repeat(estimator), models)
        return tuple([Item(m.id, m, tokens[m.index], size, k) for m, size, k in zip(here, by_size, at, strict=True)])

    return weighed.cache.value(ITEMS, lambda: Parts(len(messages), IN_PART, read), estimator.key)


def _steps_at(steps: Sequence[Step], start: int, stop: int) -> list[int]:
    """The step that each of the messages ``start`` to ``stop`` came with, -1 for one that was never sent."""
    found = [-1] * (stop - start)
    k = max(bisect_right(steps, start, key=lambda step: step.start) - 1, 0)
    while k < len(steps) and steps[k].start < stop:
        first, last = max(steps[k].start, start), min(steps[k].stop, stop)
        if first < last:
            found[first - start : last - start] = [k] * (last - first)
        k += 1
    return found


def entering(items: Sequence[Item], n_reply: int) -> Entering:
    """``items`` with their sums; the first ``n_reply`` of them are the last request's reply."""
    replied = arrived = None
    tokens = size = reply_size = n_typed = 0
    results: list[int] = []
    for n, item in enumerate(items):
        message, stamp = item.message, item.message.timestamp
        tokens, size, n_typed = tokens + item.tokens, size + item.size, n_typed + message.typed
        if message.role is not Role.ASSISTANT:
            arrived = arrived if stamp is None else stamp
        else:
            replied = replied if stamp is None else stamp
            reply_size += item.size if n < n_reply else 0
        if holds_result(item):
            results.append(n)
    return Entering(items, tokens, size, reply_size, tuple(results), n_typed, replied, arrived)


def entering_steps(weighed: Weighed, estimator: Any, left_out: frozenset[int]) -> tuple[Entering, ...]:
    """What enters at every step, sized by the estimator, without the messages ``left_out``."""
    items, steps, requests = message_items(weighed, estimator), weighed.steps, weighed.transcript.requests

    def one(k: int) -> Entering:
        added: Sequence[Item] = items[steps[k].start : steps[k].stop]
        if left_out:
            added = [item for item in added if item.message.index not in left_out]
        return entering(added, requests[steps[k - 1].request].n_messages if k else 0)

    key = estimator.key, bool(left_out)
    return weighed.cache.value(ENTERING, lambda: tuple([one(k) for k in range(len(steps))]), key)


def splice_of(before: Sequence[Item], after: Sequence[Item]) -> Splice:
    """What differs between two lists; items that are the same at both ends are passed over without looking at them."""
    most = min(len(before), len(after))
    start = _n_same(map(is_, before, after), most)
    end = _n_same(map(is_, islice(reversed(before), most - start), reversed(after)), most - start)
    return Splice(start, before[start : len(before) - end], after[start : len(after) - end])


def _n_same(same: Iterator[bool], most: int) -> int:
    """How many are True before the first that is not; all of them are ``most``."""
    try:
        return indexOf(same, False)
    except ValueError:
        return most


def common_prefix(before: Sequence[Item], after: Sequence[Item], start: int = 0) -> int:
    """How many messages at the start of both lists are the same and unedited; the first ``start`` are known to be."""
    for position in range(start, min(len(before), len(after))):
        old, new = before[position], after[position]
        if old is not new and (old.id != new.id or old.edited != new.edited or old.tokens != new.tokens):
            return position
    return min(len(before), len(after))
