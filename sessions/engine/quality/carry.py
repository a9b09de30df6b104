"""The working set and the carry bill: what is still used, and what each block costs after its last use.

A block is used when the agent names something whose newest place in the context it is; entering counts as a use.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.quality.index import Index
from sessions.engine.quality.needs import Timeline
from sessions.engine.transcript.types import Message, Role
from sessions.engine.weigh.calibration.weighed import Weighed

WINDOW = 20
"""Requests ahead that make a block part of the working set."""
MAX_BACK = 8
"""Places looked at for the newest one still in the context."""


@dataclass(frozen=True, slots=True)
class BlockUse:
    """One block and its use.

    ``tokens`` are its share of the message's display tokens.  ``entered`` is the request it was first sent with,
    ``last_use`` the last one that used it, ``left`` the first one without it (None: it stays): indices of requests.
    ``n_uses`` counts requests that used it after it entered.  ``idle_requests`` were sent with it after its last use;
    ``usd`` is what that cost as cache reads at list prices, None without a price.  ``known`` is False where nothing in
    it can be recognised (media, plain prose): it may be in use unseen; ``binding`` marks prompts and rules, never idle.
    """

    message: int
    block: int
    kind: str
    tokens: int
    entered: int
    last_use: int
    left: int | None
    n_uses: int
    idle_requests: int
    usd: float | None
    known: bool
    binding: bool

    @property
    def idle_token_requests(self) -> int:
        """Tokens × requests carried after the last use; 0 where that is not known or the block binds."""
        return self.tokens * self.idle_requests if self.known and not self.binding else 0


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Blocks in message order, and for each request of the branch the messages' tokens carried and needed.

    ``requests[i]`` goes with ``carried[i]`` (all messages' blocks, without overhead), ``needed[i]`` (used within the
    next 20 requests, or binding) and ``unknown[i]`` (not recognisable); all tokens by message weights.  ``usd`` is the
    bill of everything carried after its last use, None without a price.
    """

    blocks: tuple[BlockUse, ...]
    requests: tuple[int, ...]
    carried: tuple[int, ...]
    needed: tuple[int, ...]
    unknown: tuple[int, ...]
    usd: float | None


def working_set(weighed: Weighed, index: Index, *, base: str = "recorded", window: int = WINDOW) -> WorkingSet:
    """The working set of the recorded context or, with ``base="full"``, of a session that never compacts."""
    timeline = Timeline(weighed)
    spans = _spans(weighed, base)
    uses = _uses(index, timeline, spans)
    ruled = {place for constraint in index.constraints for place in constraint.places}
    n = len(timeline.requests)
    price = weighed.model.cache_read_price
    price = weighed.model.input_price if price is None else price
    found: list[BlockUse] = []
    sums = {name: [0] * (n + 1) for name in ("carried", "needed", "unknown")}
    for message in weighed.transcript.messages:
        if message.index not in spans:
            continue
        entered, left = spans[message.index]
        for number, (kind, tokens) in enumerate(_shares(weighed, message)):
            steps = sorted(uses.get((message.index, number), ()))
            known = bool(index.blocks[message.index][number])
            binding = message.typed or (message.index, number) in ruled or message.role is Role.SYSTEM
            last = steps[-1] if steps else entered
            idle = left - 1 - last
            usd = None if price is None else tokens * idle * price / PER_MILLION if known and not binding else 0.0
            found.append(
                BlockUse(
                    message.index, number, kind, tokens, timeline.requests[entered],
                    timeline.requests[last], timeline.requests[left] if left < n else None, len(steps), idle, usd,
                    known, binding,
                )
            )  # fmt: skip
            _add(sums["carried"], entered, left, tokens)
            if binding:
                _add(sums["needed"], entered, left, tokens)
            elif not known:
                _add(sums["unknown"], entered, left, tokens)
            else:
                _add_windows(sums["needed"], [entered, *steps], entered, window, tokens)
    carried, needed, unknown = (tuple(accumulate(sums[name][:n])) for name in ("carried", "needed", "unknown"))
    total = None if price is None else sum(block.usd or 0.0 for block in found)
    return WorkingSet(tuple(found), tuple(timeline.requests), carried, needed, unknown, total)


def _spans(weighed: Weighed, base: str) -> dict[int, tuple[int, int]]:
    """For each message the positions of the first request it is sent with and of the first one without it."""
    n = len(weighed.steps)
    spans: dict[int, tuple[int, int]] = {}
    for k, step in enumerate(weighed.steps):
        entering = range(step.start, step.stop)
        if base == "full":
            spans |= {m: (k, n) for m in entering if m not in weighed.left_out}
            continue
        if step.compaction is not None:
            compaction = weighed.transcript.compactions[step.compaction]
            split = min(max(step.start, compaction.boundary), step.stop)
            kept = set(compaction.preserved)
            spans = {m: span if m in kept or span[1] < n else (span[0], k) for m, span in spans.items()}
            spans |= {m: (k, n) for m in kept if m not in spans}
            entering = range(split, step.stop)
        spans |= dict.fromkeys(entering, (k, n))
    return {m: span for m, span in spans.items() if span[0] < span[1]}


def _uses(index: Index, timeline: Timeline, spans: dict[int, tuple[int, int]]) -> dict[tuple[int, int], set[int]]:
    """Positions of the requests that use each block: it is the newest place, in the context, of what they name."""
    step_of = {m: timeline.step_of(m) for m in sorted({m for uses in index.uses for m in uses})}
    found: dict[tuple[int, int], set[int]] = {}
    for reference, uses in enumerate(index.uses):
        places = index.places[reference]
        for use in uses:
            step, at = step_of[use], bisect_left(places, use)
            for place in reversed(places[max(0, at - MAX_BACK) : at]):
                span = spans.get(place)
                if span and span[0] <= step < span[1]:
                    for number, block in enumerate(index.blocks[place]):
                        if reference in block:
                            found.setdefault((place, number), set()).add(step)
                    break
    return found


def _shares(weighed: Weighed, message: Message) -> list[tuple[str, int]]:
    """Kind and tokens of each block: the message's tokens shared out by what its blocks weigh, framing included."""
    raw = [weighed.content_tokens(block) + weighed.framing_tokens(block) for block in message.blocks]
    whole, total = sum(raw), weighed.tokens[message.index]
    shares = [round(total * part / whole) if whole else 0 for part in raw]
    return [(block.kind.value, share) for block, share in zip(message.blocks, shares, strict=True)]


def _add(changes: list[int], start: int, stop: int, tokens: int) -> None:
    changes[start] += tokens
    changes[stop] -= tokens


def _add_windows(changes: list[int], uses: list[int], entered: int, window: int, tokens: int) -> None:
    """Add ``tokens`` at every position at which one of ``uses`` (ascending) is at most ``window`` − 1 ahead."""
    covered = entered
    for use in uses:
        start = max(covered, use - window + 1)
        if start <= use:
            _add(changes, start, use + 1, tokens)
            covered = use + 1
