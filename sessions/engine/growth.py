"""Steps between requests, their measured growth, and the ratio fitted on them (estimators 7.2, replay-semantics 3)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.types import Message, Request, Transcript

MIN_GROWTHS = 5
"""Fewer clean growths than this and the family's prior is used."""
RATIO_RANGE = (0.5, 3.0)
MIN_STEP_TOKENS = 20
"""Steps with less text than this say more about wrappers than about text: no ratio is taken from them."""
MAX_WRAPPER = 40
MAX_FITTED = 400
"""No more growths than about this are fitted, evenly spaced: enough for two numbers."""
JUMP_FACTOR, JUMP_FLOOR = 3.0, 4_000
"""A usage jump is flagged when it exceeds this many times what the step's content explains, plus this many tokens."""


@dataclass(frozen=True, slots=True)
class Step:
    """The messages that entered between two requests on the branch, the earlier reply included.

    ``request`` is the index of the request that first sent them; messages ``start`` to ``stop`` (exclusive).
    ``compaction`` is the recorded compaction whose first request this is, None elsewhere.
    """

    request: int
    start: int
    stop: int
    compaction: int | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted ratio, what a tool result weighs beside its text (``wrapper``, in tokens), and on how many growths."""

    ratio: float
    wrapper: int
    n_growths: int


class Growth(NamedTuple):
    """One clean growth: ``added`` tokens beyond the reply, for ``n_raw`` tiktoken tokens in ``n_results`` results.

    ``measured`` is the whole growth, the reply included.
    """

    added: int
    n_raw: int
    n_results: int
    measured: int


def branch_requests(transcript: Transcript) -> list[Request]:
    """The requests of the selected branch, in the order sent."""
    return [r for r in transcript.requests if r.on_branch]


def steps_of(transcript: Transcript) -> tuple[Step, ...]:
    """One step for every request of the branch, in order; together they cover all messages sent."""
    at_request = {c.request: k for k, c in enumerate(transcript.compactions)}
    steps: list[Step] = []
    start = 0
    for request in branch_requests(transcript):
        stop = len(transcript.messages) if request.message is None else max(start, request.message)
        steps.append(Step(request.index, start, stop, at_request.get(request.index)))
        start = stop
    return tuple(steps)


def ends_turn(message: Message) -> bool:
    """True for user content that is not a tool result: a typed prompt or a reminder attachment ends a turn."""
    return message.role is Role.USER and any(b.kind is not Kind.TOOL_RESULT for b in message.blocks)


def training_requests(transcript: Transcript, fraction: float) -> frozenset[int]:
    """Indices of the first max(2, ⌊F·n⌋) requests that report usage."""
    with_usage = [r.index for r in branch_requests(transcript) if r.usage]
    return frozenset(with_usage[: max(2, int(fraction * len(with_usage)))])


def contexts(
    transcript: Transcript,
    steps: Sequence[Step],
    tokens: Sequence[int],
    thinking: Sequence[int],
    *,
    keeps_thinking: bool,
) -> tuple[int | None, ...]:
    """Estimated tokens of the messages in the recorded context of every request; None off the branch.

    Thinking weighs until the next user content that is not a tool_result, then nothing, except for models that keep it.
    At a recorded compaction the context restarts from what it kept and made.
    """
    bodies: list[int | None] = [None] * len(transcript.requests)
    total, open_thinking = 0, 0
    for step in steps:
        if step.compaction is not None:
            compaction = transcript.compactions[step.compaction]
            total, open_thinking = sum(tokens[i] for i in compaction.preserved), 0
            first = max(step.start, compaction.boundary)
        else:
            first = step.start
        for index in range(first, step.stop):
            if not keeps_thinking and open_thinking and ends_turn(transcript.messages[index]):
                total, open_thinking = total - open_thinking, 0
            total += tokens[index]
            open_thinking += thinking[index]
        bodies[step.request] = total
    return tuple(bodies)


def find_flagged(transcript: Transcript, steps: Sequence[Step]) -> frozenset[int]:
    """Requests whose usage cannot be right: it is shown, but neither fitted nor replayed.

    Either it jumps by more than its content can explain and falls back at the next request (double-counted by the
    recorder, estimators 7.2), or it reports an output and no input at all.
    """
    rows = [(s, transcript.requests[s.request].usage) for s in steps]
    flagged = {s.request for s, usage in rows if usage and not usage.context}
    for (_, before), (step, here), (after_step, after) in zip(rows, rows[1:], rows[2:], strict=False):
        if not (before and here and after) or step.compaction is not None or after_step.compaction is not None:
            continue
        explained = JUMP_FACTOR * _raw_tokens(transcript, step.start, step.stop) + JUMP_FLOOR
        jump = here.context - before.context
        fell_back = after.context < before.context + jump / 2
        if jump > explained and fell_back:
            flagged.add(step.request)
    return frozenset(flagged)


def fit_ratio(transcript: Transcript, steps: Sequence[Step], training: frozenset[int]) -> Fit | None:
    """The ratio of provider tokens to tiktoken's count and the wrapper of a tool result; None with too few growths.

    A growth is clean when it is positive, both usages are trained on and no image, document, attachment or compaction
    stands between (estimators 7.2).  The reply's recorded output is taken off first, unless it is a placeholder.  The
    wrapper (ids and framing that the provider adds: 4 to 20 tokens on Claude, mostly 10 to 16) is the whole number
    under which the median error of the growths is smallest, the ratio then the weighted median over them.
    """
    growths: list[Growth] = []
    for before, step in itertools.pairwise(steps):
        if before.request in training and step.request in training and step.compaction is None:
            growth = _clean_growth(transcript, before, step)
            if growth:
                growths.append(growth)
    if sum(growth.n_raw >= MIN_STEP_TOKENS for growth in growths) < MIN_GROWTHS:
        return None
    sample = growths[:: 1 + len(growths) // MAX_FITTED]
    wrappers = range(MAX_WRAPPER + 1) if any(growth.n_results for growth in sample) else range(1)
    _, wrapper = min((_median_error(sample, wrapper), wrapper) for wrapper in wrappers)
    return Fit(_ratio(sample, wrapper), wrapper, len(growths))


def _median_error(growths: Sequence[Growth], wrapper: int) -> float:
    """Median relative error of the growths under a wrapper and the ratio that goes with it."""
    ratio = _ratio(growths, wrapper)
    return median(abs(ratio * g.n_raw + wrapper * g.n_results - g.added) / g.measured for g in growths)


def _ratio(growths: Sequence[Growth], wrapper: int) -> float:
    """The weighted median ratio, given what a tool result weighs beside its text."""
    samples = [((g.added - wrapper * g.n_results) / g.n_raw, g.n_raw) for g in growths if g.n_raw >= MIN_STEP_TOKENS]
    low, high = RATIO_RANGE
    return min(high, max(low, _weighted_median(samples)))


def _clean_growth(transcript: Transcript, before: Step, step: Step) -> Growth | None:
    """The growth between two requests, None when it is not clean."""
    then, now = transcript.requests[before.request].usage, transcript.requests[step.request].usage
    if not then or not now:
        return None
    measured = now.context - then.context
    messages = transcript.messages[step.start : step.stop]
    unclean = any(m.attachment or any(b.kind in (Kind.IMAGE, Kind.DOCUMENT) for b in m.leaves()) for m in messages)
    if measured <= 0 or unclean:
        return None
    added, start = measured, step.start
    if not then.placeholder and transcript.requests[before.request].message == step.start:
        added -= then.output
        start = min(step.stop, start + transcript.requests[before.request].n_messages)
    count = _raw_tokens(transcript, start, step.stop)
    if not count or added <= 0:
        return None
    return Growth(added, count, sum(n_results(m) for m in transcript.messages[start : step.stop]), measured)


def n_results(message: Message) -> int:
    """How many tool results a message holds."""
    return sum(block.kind is Kind.TOOL_RESULT for block in message.blocks)


def _raw_tokens(transcript: Transcript, start: int, stop: int) -> int:
    """Unscaled tiktoken count of messages ``start`` to ``stop``, images left out."""
    return sum(leaf.n_tokens for m in transcript.messages[start:stop] for leaf in m.leaves())


def _weighted_median(samples: list[tuple[float, int]]) -> float:
    """The value at which half of the weight lies on either side."""
    ordered = sorted(samples)
    half, running = sum(weight for _, weight in ordered) / 2, 0.0
    for value, weight in ordered:
        running += weight
        if running >= half:
            return value
    return ordered[-1][0]
