"""A session as prefix sums: what a sweep needs to jump from one compaction to the next (estimators 17).

For base ``full`` the context at step k is ``offset + heights[k + 1]``; the offset changes at a compaction alone.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import mul
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from sessions.engine.caching import cache_use
from sessions.engine.outputs import outputs
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sessions.engine.caching import CacheUse
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import Block, Message


class Reuse(NamedTuple):
    """A tool result that a later call may make necessary again: its position and its call's, what it weighs.

    ``last_use`` is the last message that uses the target by another tool.
    """

    position: int
    call_position: int
    target: str
    name: str
    tokens: int
    last_use: int


@dataclass(frozen=True)
class Track:
    """Prefix sums over the steps of a session, and the places where its list may be cut.

    Positions count the messages that can be dropped (no system messages, nothing a recorded compaction made).
    ``heights`` has one entry more than there are steps, and none is smaller than the one before.  ``stops[k]`` is the
    number of positions at step k.  ``standing[c] + whole[k + 1]`` is what the list from position c on weighs at step k,
    ``n_system`` system messages included; ``lead`` what those weigh alone.  ``use`` is the session's cache;
    ``reads[k]`` is what step k reads beyond the offset, in 65,536ths of a token, ``shares`` the prefix sums of the
    shares that steps read.  ``reuses`` are the results whose target a later call of another tool names, in order (the
    upper end of the cost range); ``target_uses`` are the session's uses of those targets; ``newest`` is, by step, the
    newest message before a compaction.
    """

    overhead: int
    n_system: int
    lead: int
    heights: list[int]
    whole: list[int]
    stops: list[int]
    standing: list[int]
    tokens: list[int]
    cut_back: list[int]
    cut_forward: list[int]
    long_pairs: list[tuple[int, int]]
    use: CacheUse
    reads: list[int]
    shares: list[int]
    sum_of_heights: int
    sum_of_reads: int
    output: int
    reuses: list[Reuse]
    target_uses: Mapping[str, Sequence[tuple[int, str]]]
    newest: list[int]

    @property
    def n_steps(self) -> int:
        """How many requests the branch has."""
        return len(self.stops)

    @cached_property
    def tops(self) -> list[int]:
        """``heights`` by step: what the context at a step weighs beyond the offset."""
        return self.heights[1:]

    @cached_property
    def uses(self) -> list[tuple[int, str]]:
        """Every use (message, target) of a target that ``reuses`` name, in order."""
        targets = {reuse.target for reuse in self.reuses}
        return sorted((at, target) for target in targets for at, _ in self.target_uses[target])

    @cached_property
    def reuse_places(self) -> list[int]:
        """Positions of ``reuses``."""
        return [reuse.position for reuse in self.reuses]

    @cached_property
    def reuses_of(self) -> dict[str, list[int]]:
        """Numbers of ``reuses`` by target."""
        found: dict[str, list[int]] = {}
        for number, reuse in enumerate(self.reuses):
            found.setdefault(reuse.target, []).append(number)
        return found

    @cached_property
    def next_uses(self) -> list[int]:
        """By number of ``reuses``: the message of the target's next use after their step; -1 where another has it, too.

        That other is a later reuse of the target.
        """
        found = [message for message, _ in self._next]
        for numbers in self.reuses_of.values():
            for one, other in pairwise(numbers):
                if found[one] == found[other]:
                    found[one] = -1
        return found

    @cached_property
    def next_sums(self) -> list[int]:
        """Tokens of the first n ``reuses`` of which another tool makes that next use, for every n."""
        return list(accumulate((tokens for _, tokens in self._next), initial=0))

    @cached_property
    def _next(self) -> list[tuple[int, int]]:
        """Of every reuse: the message of the next use, its tokens where another tool makes it."""
        found: list[tuple[int, int]] = []
        for reuse in self.reuses:
            uses = self.target_uses[reuse.target]
            at = bisect_left(uses, (self.newest[_step_at(self.stops, reuse.position)] + 1, ""))
            message, tool = uses[at] if at < len(uses) else (sys.maxsize, reuse.name)
            found.append((message, reuse.tokens if tool != reuse.name else 0))
        return found

    def first_at_least(self, low: int, value: int) -> int:
        """The first index ≥ ``low`` of ``heights`` with at least ``value``; one past the end where there is none."""
        return bisect_left(self.heights, value, low)


_TRACKS: WeakKeyDictionary[Weighed, Track | None] = WeakKeyDictionary()


def track_of(weighed: Weighed) -> Track | None:
    """The track of a session, made once; None where jumping would not be exact.

    That is where system messages stand among the others, two tool calls share an id, the first context held a
    conversation before the file, or something left beside the compactions: what a later list loses there depends on
    what was dropped before.
    """
    if weighed not in _TRACKS:
        _TRACKS[weighed] = new_track(weighed)
    return _TRACKS[weighed]


def know_track(weighed: Weighed, track: Track | None) -> None:
    """Take the track of a session as it was made before."""
    _TRACKS[weighed] = track


def new_track(weighed: Weighed) -> Track | None:
    """The same, made anew."""
    recorded = weighed.recorded
    if not weighed.steps or weighed.history or recorded.losses or min(recorded.weights) < 0:
        return None
    lists = _lists(weighed)
    if lists is None:
        return None
    system, rest = lists
    others = [m for step in rest for m in step]
    pairs = _pairs(others)
    if pairs is None:
        return None
    weights = recorded.weights
    heights = list(accumulate(weights, initial=0))
    stops = list(accumulate(len(step) for step in rest))
    members = [len(step) + (len(system) if not k else 0) for k, step in enumerate(rest)]
    whole = list(accumulate((w if n else 0 for w, n in zip(weights, members, strict=True)), initial=0))
    system_tokens = sum(weighed.tokens[m.index] for m in system)
    lead = weights[0] if system and members[0] == len(system) else system_tokens
    use = cache_use(weighed)
    reads = list(map(mul, use.shares, heights))
    short, long_pairs = _by_length(pairs, stops)
    reuses = _reuses(weighed, others)
    n_positions = stops[-1]
    return Track(
        weighed.overhead, len(system), lead, heights, whole, stops,
        _standing(weighed, rest, system_tokens, lead, whole),
        list(accumulate((weighed.tokens[m.index] for step in rest for m in step), initial=0)),
        _snapped(short, n_positions, forward=False), _snapped(short, n_positions, forward=True), long_pairs,
        use, reads, list(accumulate(use.shares, initial=0)), sum(heights[1:]), sum(reads),
        sum(outputs(weighed)), reuses, {reuse.target: weighed.target_uses[reuse.target] for reuse in reuses},
        _newest(weighed),
    )  # fmt: skip


def _lists(weighed: Weighed) -> tuple[list[Message], list[list[Message]]] | None:
    """System messages and, per step, all others; None where a system message stands among or after them."""
    messages, out = weighed.transcript.messages, weighed.left_out
    system: list[Message] = []
    rest: list[list[Message]] = []
    for k, step in enumerate(weighed.steps):
        added = [m for m in messages[step.start : step.stop] if m.index not in out]
        others = [m for m in added if m.role is not Role.SYSTEM]
        own = added[: len(added) - len(others)]
        if own and (k or any(m.role is not Role.SYSTEM for m in own)):
            return None
        system += own
        rest.append(others)
    return system, rest


def messages_of(weighed: Weighed) -> list[Message]:
    """The messages that positions count; [] where the track is None."""
    lists = _lists(weighed)
    return [] if lists is None else [message for step in lists[1] for message in step]


def _pairs(messages: list[Message]) -> list[tuple[int, int]] | None:
    """Positions of every call and of its results; None where two calls share an id."""
    called_at: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for position, message in enumerate(messages):
        for block in message.blocks:
            if block.kind is Kind.TOOL_USE:
                if block.call_id in called_at:
                    return None
                called_at[block.call_id] = position
            elif block.kind is Kind.TOOL_RESULT and block.call_id in called_at:
                pairs.append((called_at[block.call_id], position))
    return pairs


def _by_length(pairs: list[tuple[int, int]], stops: list[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs that enter in one step, and those whose result enters in a later one (and is not there at once)."""
    short: list[tuple[int, int]] = []
    long: list[tuple[int, int]] = []
    for call_at, result_at in pairs:
        end = stops[min(len(stops) - 1, _step_at(stops, call_at))]
        (short if result_at < end else long).append((call_at, result_at))
    return short, long


def _step_at(stops: list[int], position: int) -> int:
    """The step that a position entered with."""
    return bisect_left(stops, position + 1)


def _snapped(pairs: list[tuple[int, int]], n: int, *, forward: bool) -> list[int]:
    """For every cut from 0 to n the nearest one, forward or back, that splits none of ``pairs``."""
    opened = [0] * (n + 2)
    for call_at, result_at in pairs:
        opened[call_at + 1] += 1
        opened[result_at + 1] -= 1
    is_open = list(accumulate(opened[: n + 1]))
    snapped = [0] * (n + 1)
    last = n if forward else 0
    for cut in range(n, -1, -1) if forward else range(n + 1):
        if not is_open[cut]:
            last = cut
        snapped[cut] = last
    return snapped


def _standing(
    weighed: Weighed, rest: list[list[Message]], system_tokens: int, lead: int, whole: list[int]
) -> list[int]:
    """``standing[c]``: a step's measured weight while all its messages stand, the tokens of what is left otherwise."""
    tokens, weights = weighed.tokens, weighed.recorded.weights
    standing: list[int] = []
    for k, step in enumerate(rest):
        system = 0 if k else system_tokens
        before = lead if k else 0
        left = sum(tokens[m.index] for m in step)
        for position, message in enumerate(step):
            here = weights[k] if not position else left + system
            standing.append(before + here - whole[k + 1])
            left -= tokens[message.index]
    return [*standing, lead - whole[-1]]


def _newest(weighed: Weighed) -> list[int]:
    """The newest message of the list before a compaction, by step."""
    found, out = [], weighed.left_out
    for step in weighed.steps:
        stop = step.stop - 1
        while stop in out:
            stop -= 1
        found.append(stop)
    return found


def _reuses(weighed: Weighed, messages: Iterable[Message]) -> list[Reuse]:
    """Results whose target a later call of another tool names, in order (the upper end of the cost range)."""
    calls: dict[str, tuple[int, Block]] = {}
    found: list[Reuse] = []
    last_by = {target: {name: at for at, name in uses} for target, uses in weighed.target_uses.items()}
    for position, message in enumerate(messages):
        for block in message.blocks:
            if block.kind is Kind.TOOL_USE:
                calls[block.call_id] = (position, block)
            call_at, call = calls.get(block.call_id, (0, None)) if block.kind is Kind.TOOL_RESULT else (0, None)
            if call is None or not call.target:
                continue
            last = max((at for name, at in last_by.get(call.target, {}).items() if name != call.name), default=-1)
            if last > message.index:
                found.append(Reuse(position, call_at, call.target, call.name, weighed.content_tokens(block), last))
    return found
