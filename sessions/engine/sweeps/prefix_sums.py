"""A session as prefix sums over its steps: what a context weighs at each, cut anywhere (replay-semantics 3).

For base ``full`` the context at step k is ``offset + heights[k + 1]``; the offset changes at a compaction alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sessions.engine.transcript.types import Kind, Message, Role
from sessions.engine.weigh.calibration.weighed import Weighed


@dataclass(frozen=True, slots=True)
class PrefixSums:
    """Prefix sums over the steps of a session, and the places where its list may be cut.

    Positions count ``messages``, those that can be dropped (no system messages).  ``heights`` has one entry more than
    there are steps, and none is smaller than the one before.  ``stops[k]`` is the number of positions at step k.
    ``standing[c] + whole[k + 1]`` is what the list from position c on weighs at step k, system messages included;
    ``lead`` is what those weigh alone.  ``cut_back[c]`` is the nearest place up to c that splits no tool pair of one
    step, ``long_pairs`` are the pairs that enter in two.
    """

    messages: Sequence[Message]
    overhead: int
    lead: int
    heights: list[int]
    whole: list[int]
    stops: list[int]
    standing: list[int]
    cut_back: list[int]
    long_pairs: list[tuple[int, int]]

    def left(self, cut: int, step: int) -> int:
        """Display tokens of the list from position ``cut`` on at a step, overhead included."""
        return self.overhead + self.standing[cut] + self.whole[step + 1]


def prefix_sums(weighed: Weighed) -> PrefixSums | None:
    """Those of a session; None where they would not tell what a cut list weighs.

    That is where system messages stand among the others, two tool calls share an id, the first context held a
    conversation before the file, or something left beside the compactions: what a later list loses there depends on
    what was dropped before.
    """
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
    short, long_pairs = _by_length(pairs, stops)
    return PrefixSums(
        others, weighed.overhead, lead, heights, whole, stops,
        _standing(weighed, rest, system_tokens, lead, whole), _snapped_back(short, stops[-1]), long_pairs,
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
        end = stops[min(len(stops) - 1, bisect_left(stops, call_at + 1))]
        (short if result_at < end else long).append((call_at, result_at))
    return short, long


def _snapped_back(pairs: list[tuple[int, int]], n: int) -> list[int]:
    """For every cut from 0 to n the nearest one up to it that splits none of ``pairs``."""
    opened = [0] * (n + 2)
    for call_at, result_at in pairs:
        opened[call_at + 1] += 1
        opened[result_at + 1] -= 1
    last, snapped = 0, []
    for cut, n_open in enumerate(accumulate(opened[: n + 1])):
        last = last if n_open else cut
        snapped.append(last)
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
