"""Tokens and money of a replay, with the provider's prompt cache modelled (policies 14, replay-semantics 6)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.types import Block, Kind

if TYPE_CHECKING:
    from sessions.engine.calibrate import Weighed
    from sessions.engine.events import Event
    from sessions.engine.model_info import ModelInfo
    from sessions.engine.replay import Replay

CACHE_TTL_SECONDS = 300.0
"""Idle longer than this and nothing is read from the cache: Anthropic's 5-minute write, refreshed on every read."""
PER_MILLION = 1_000_000
HOUR_WRITE_FACTOR = 2.0
"""A cache write kept for an hour costs twice the base input price, one kept for 5 minutes 1.25 times (policies 14)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars: ``low`` as replayed, ``high`` with what was dropped and used again fetched again."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a replay in tokens; input + cache_read + cache_write = all contexts sent + input of summary calls.

    ``refetched_tokens`` is what the upper end of the cost adds; ``cost`` is None where the model has no price.
    """

    compactions: int
    peak_context_tokens: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    summary_calls: int
    refetched_tokens: int
    cost: Cost | None


@dataclass(slots=True)
class _Bill:
    """Running sums; ``fresh`` tokens are cache writes where writes are billed, else plain input.

    ``write_1h`` is the part of ``write`` that is kept for an hour, as a recording reports it.
    """

    writes_billed: bool
    input: int = 0
    read: int = 0
    write: int = 0
    output: int = 0
    write_1h: int = 0

    def send(self, tokens: int, cached: int, output: int) -> None:
        """One call of ``tokens`` of which ``cached`` are read from the cache."""
        self.read += cached
        if self.writes_billed:
            self.write += tokens - cached
        else:
            self.input += tokens - cached
        self.output += output


def totals(replay: Replay) -> Totals:
    """What the replayed session sends, reads, writes and costs."""
    model = replay.weighed.model
    bill = _Bill(writes_billed=model.cache_write_price is not None)
    summary_calls = _bill_summaries(replay, bill)
    last: float | None = None
    for sent in replay.sent:
        idle = sent.timestamp is not None and last is not None and sent.timestamp - last > CACHE_TTL_SECONDS
        bill.send(sent.tokens, 0 if idle else sent.cached, sent.output)
        last = sent.timestamp if sent.timestamp is not None else last
    refetched = sum(refetched_tokens(replay.weighed, event) for event in replay.events)
    return Totals(
        compactions=len(replay.events),
        peak_context_tokens=max((s.tokens for s in replay.sent), default=0),
        input_tokens=bill.input,
        cache_read_tokens=bill.read,
        cache_write_tokens=bill.write,
        output_tokens=bill.output,
        summary_calls=summary_calls,
        refetched_tokens=refetched,
        cost=_cost(bill, refetched, model),
    )


def recorded_totals(weighed: Weighed) -> Totals | None:
    """The same totals as the recording's own usage reports them; None where it reports none."""
    usages = [r.usage for r in weighed.transcript.requests if r.usage]
    if not usages:
        return None
    bill = _Bill(writes_billed=True)
    bill.input, bill.read = sum(u.input for u in usages), sum(u.cache_read for u in usages)
    bill.write, bill.output = sum(u.cache_write for u in usages), sum(u.output for u in usages)
    bill.write_1h = sum(u.cache_write_1h for u in usages)
    n_compactions = len(weighed.transcript.compactions)
    return Totals(
        n_compactions, max(u.context for u in usages), bill.input, bill.read, bill.write, bill.output,
        summary_calls=n_compactions, refetched_tokens=0, cost=_cost(bill, 0, weighed.model),
    )  # fmt: skip


def _bill_summaries(replay: Replay, bill: _Bill) -> int:
    """Add the summary calls: the list before goes in, the summary comes out; the prefix is shared or not."""
    if not replay.policy.summary_calls:
        return 0
    sent_before = {s.request: earlier.tokens for earlier, s in zip(replay.sent, replay.sent[1:], strict=False)}
    for event in replay.events:
        if not event.summary_calls:
            continue
        written = sum(item.tokens for item in event.after if item.inserted and item.message.summary)
        cached = sent_before.get(event.request, 0) if replay.policy.shares_prefix else 0
        for call in range(event.summary_calls):
            bill.send(event.before_tokens, min(cached, event.before_tokens), 0 if call else written)
    for attempt in replay.attempts:
        cached = sent_before.get(attempt.request, 0) if replay.policy.shares_prefix else 0
        for _ in range(attempt.summary_calls):
            bill.send(attempt.tokens, min(cached, attempt.tokens), 0)
    return sum(event.summary_calls for event in replay.events) + sum(a.summary_calls for a in replay.attempts)


def _cost(bill: _Bill, refetched: int, model: ModelInfo) -> Cost | None:
    if model.input_price is None or model.output_price is None:
        return None
    read = model.input_price if model.cache_read_price is None else model.cache_read_price
    write = model.input_price if model.cache_write_price is None else model.cache_write_price
    hour = write if model.cache_write_price is None else model.input_price * HOUR_WRITE_FACTOR
    writes = (bill.write - bill.write_1h) * write + bill.write_1h * hour
    low = (bill.input * model.input_price + bill.read * read + writes + bill.output * model.output_price) / PER_MILLION
    return Cost(low, low + refetched * write / PER_MILLION)


def refetched_tokens(weighed: Weighed, event: Event) -> int:
    """Tokens of dropped tool results whose file or command the recording uses again by another tool.

    A later call of the same tool on the same target is the recording's own re-read: it is in the trajectory already.
    Each dropped result is fetched again at most once; the simple upper end of the cost range (replay-semantics 6).
    """
    calls = {b.call_id: b for item in event.before for b in item.message.blocks if b.kind is Kind.TOOL_USE}
    start = (event.message + 1) if event.message is not None else 0
    newest: dict[str, int] = {}
    for item, left in event.changes:
        if item.inserted:
            continue
        still = () if left is None else left.message.blocks
        for block in item.message.blocks:
            if block in still:
                continue
            call = calls.get(block.call_id) if block.kind is Kind.TOOL_RESULT else None
            if call and call.target and _used_otherwise(weighed, call, start):
                newest[call.target] = _block_tokens(weighed, block)
    return sum(newest.values())


def _used_otherwise(weighed: Weighed, call: Block, start: int) -> bool:
    """True when the first call from message ``start`` on that names the same target is of another tool."""
    uses = weighed.target_uses.get(call.target, [])
    at = bisect_left(uses, (start, ""))
    return at < len(uses) and uses[at][1] != call.name


def _block_tokens(weighed: Weighed, block: Block) -> int:
    """Tokens of one block by the session's ratio, images by rule."""
    text = round(sum(leaf.n_tokens for leaf in block.leaves()) * weighed.ratio)
    return text + sum(weighed.image_tokens(leaf) for leaf in block.leaves())
