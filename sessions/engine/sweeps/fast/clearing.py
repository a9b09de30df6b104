"""Policies that clear old tool results in place at every request over a trigger, without a walk (estimators 17).

What they clear is a number of the oldest results: what a list weighs then, and what it shares with the one before it,
are sums.  How a setting goes over a session by them is ``cleared``.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.cost import used_otherwise
from sessions.engine.edits import clear_results, result_tokens
from sessions.engine.policies import anthropic_api
from sessions.engine.policies import langchain_clear_tool_uses as langchain
from sessions.engine.sweeps.fast.counts import SIZE, Count
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.sweeps.fast.field import Field


@dataclass(frozen=True, slots=True)
class Clearing:
    """A policy as numbers: over ``trigger``, all results but the newest ``keep`` become ``text``.

    The first time, those must weigh ``least`` display tokens.  ``by_size``: the list by the estimator is compared with
    the trigger, not its display tokens as they were uncleared; a reply clears the results of its own calls alone.
    """

    trigger: int
    keep: int
    least: int
    text: str
    count: Count
    by_size: bool = False

    @property
    def tail_key(self) -> tuple[object, ...]:
        """What decides on what is cleared at a request."""
        return (self.keep, self.text, self.count, self.by_size)


def by_api(params: Any) -> Clearing | None:
    """The Messages API's clearing, by tokens, of every tool's results and no arguments."""
    early = params.stop_early == "on" and params.clear_at_least is not None
    if (
        params.trigger_tool_uses is not None
        or params.exclude_tools.split()
        or params.clear_tool_inputs != "off"
        or early
    ):
        return None
    count = Count(anthropic_api.USES.estimator, SIZE)
    return Clearing(params.trigger, params.keep, params.clear_at_least or 0, anthropic_api.PLACEHOLDER, count)


def by_langchain(params: Any) -> Clearing | None:
    """LangChain's clearing of all it may."""
    if params.exclude_tools.split() or params.clear_tool_inputs == "on" or params.clear_at_least:
        return None
    count = Count(langchain.POLICY.estimator, SIZE)
    return Clearing(params.trigger, params.keep, 0, langchain.PLACEHOLDER, count, by_size=True)


class Results(NamedTuple):
    """The tool results of a session, one a message: their positions, their display tokens, and of the messages cleared.

    ``plain``: no message holds several, each is in its list what its reply asked for, none is what it would become.
    """

    plain: bool
    positions: tuple[int, ...]
    weights: tuple[int, ...]
    tokens: tuple[int, ...]
    sizes: tuple[int, ...]


def results_of(field: Field, text: str, *, own: bool) -> Results:
    """What clearing comes to; ``own``: a result must be of the reply before it."""
    items = [field.item(position) for position in range(len(field.kinds.indices))]
    found = [
        (n, block) for n, item in enumerate(items) for block in item.message.blocks if block.kind is Kind.TOOL_RESULT
    ]
    positions, plain, replies = [n for n, _ in found], True, field.kinds.replies
    weights, tokens, sizes = list[int](), list[int](), list[int]()
    for n, block in found:
        new = clear_results(field.view(), items[n], {block.call_id}, text)
        reply = bisect_left(replies, n) - 1
        asked = reply >= 0 and block.call_id in items[replies[reply]].message.call_ids()
        plain = plain and block not in new.message.blocks and bool(asked or not own)
        weights.append(result_tokens(items[n], block))
        tokens.append(new.tokens)
        sizes.append(new.size)
    plain = plain and len(set(positions)) == len(positions)
    return Results(plain, tuple(positions), tuple(weights), tuple(tokens), tuple(sizes))


@dataclass
class Ground:
    """A session under one way to clear; ``field`` counts as the gate does where it goes by size."""

    field: Field
    rule: Clearing
    results: Results

    @cached_property
    def counts(self) -> list[int]:
        """What the gate counts at every step, as if nothing had been cleared."""
        overhead = self.field.track.overhead
        if self.rule.by_size:
            return [height - overhead for height in self.field.heights]
        return [overhead + height for height in self.field.track.tops]

    @cached_property
    def peaks(self) -> list[int]:
        """Their running maximum."""
        return list(accumulate(self.counts, max))

    @cached_property
    def may_go(self) -> list[int]:
        """By step: how many results are old enough."""
        places, keep = self.results.positions, self.rule.keep
        return [max(0, bisect_left(places, stop) - keep) for stop in self.field.track.stops]

    @cached_property
    def cleared_weights(self) -> list[int]:
        """What the first n results weigh for every n."""
        return list(accumulate(self.results.weights, initial=0))

    @cached_property
    def taken(self) -> list[int]:
        """Display tokens that the list has more (less than 0) with the first n results cleared, for every n."""
        here, track, total = self.field, self.field.track, 0
        found, last = [0], -1
        for position, new in zip(self.results.positions, self.results.tokens, strict=True):
            step = here.step_at[position]
            if step != last:
                start = track.stops[step] - here.n_members[step]
                standing = track.tokens[track.stops[step]] - track.tokens[start] + (0 if step else track.lead)
                total += standing - (track.heights[step + 1] - track.heights[step])
                last = step
            total += new - (track.tokens[position + 1] - track.tokens[position])
            found.append(total)
        return found

    @cached_property
    def sizes_taken(self) -> list[int]:
        """The same in the gate's unit."""
        sums = self.field.sized.sums
        pairs = zip(self.results.positions, self.results.sizes, strict=True)
        return list(accumulate((new - (sums[at + 1] - sums[at]) for at, new in pairs), initial=0))

    @cached_property
    def prefixes(self) -> list[int]:
        """By result: display tokens with overhead of what stands before it, the results before it cleared."""
        here, track, taken = self.field, self.field.track, self.taken
        found, last, at_start, own = list[int](), -1, 0, 0
        for n, (position, new) in enumerate(zip(self.results.positions, self.results.tokens, strict=True)):
            step = here.step_at[position]
            if step != last:
                last, own, at_start = (
                    step,
                    0,
                    track.overhead + track.heights[step] + taken[n] + (0 if step else track.lead),
                )
            start = track.stops[step] - here.n_members[step]
            found.append(at_start + track.tokens[position] - track.tokens[start] + own)
            own += new - (track.tokens[position + 1] - track.tokens[position])
        return found

    @cached_property
    def again_by_position(self) -> dict[int, tuple[str, str, int]]:
        """Target, tool and tokens of results that something else may use again."""
        return {reuse.position: (reuse.target, reuse.name, reuse.tokens) for reuse in self.field.track.reuses}

    def again(self, first: int, stop: int, step: int) -> int:
        """Tokens of these results that are fetched again after a step."""
        track, newest = self.field.track, dict[str, int]()
        for position in self.results.positions[first:stop]:
            target, name, tokens = self.again_by_position.get(position, ("", "", 0))
            if target and used_otherwise(track.target_uses[target], name, track.newest[step] + 1):
                newest[target] = tokens
        return sum(newest.values())

    def sent(self, step: int, n: int) -> int:
        """The context at a step with the first n results cleared."""
        track = self.field.track
        return track.overhead + track.tops[step] + self.taken[n]

    def cached(self, step: int, n: int, before: int) -> int:
        """What a step that clears from result n on shares with the one before, which sent ``before`` tokens."""
        start = self.field.track.stops[step] - self.field.n_members[step]
        return min(before, self.prefixes[n]) if self.results.positions[n] < start else before


def ground_of(field: Field, rule: Clearing) -> Ground | None:
    """None where a request brought no message, or what is cleared cannot be counted from the start."""
    if field.has_empty or not field.n_members[0]:
        return None
    name = f"results {rule.text} {rule.by_size}"
    results: Results = field.known(name, lambda: results_of(field, rule.text, own=rule.by_size), (Results,))
    return Ground(field, rule, results) if results.plain else None
