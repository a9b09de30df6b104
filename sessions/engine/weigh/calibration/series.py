"""The recorded context as a series, and what left it beside its compactions, message by message (replay-semantics 3).

What left is taken from the messages that held it, so that a replay takes off only what its own list still holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions.engine.transcript.types import Block, Kind, Label, Message, Role, Transcript
from sessions.engine.weigh.calibration.growth import Step, ends_turn, standing_at
from sessions.engine.weigh.calibration.stays import Stays


@dataclass(frozen=True, slots=True)
class Loss:
    """What left before the request of a step, in tokens.

    ``parts`` are (message index, tokens), by index; ``beside`` is of what requests without messages had added,
    ``history`` of what stood before the file.
    """

    step: int
    parts: tuple[tuple[int, int], ...]
    beside: int = 0
    history: int = 0

    @property
    def tokens(self) -> int:
        """All of it."""
        return sum([tokens for _, tokens in self.parts]) + self.beside + self.history


class MayLeave(NamedTuple):
    """What may leave at a step: ``named`` tokens by message; thinking too, where a turn ``ends_turn``; the history."""

    named: Mapping[int, int]
    ends_turn: bool
    takes_history: bool


class Known(NamedTuple):
    """What is known of a session's messages: see ``Weighed``."""

    estimated: Sequence[int | None]
    flagged: frozenset[int]
    overhead: int
    history: int
    tokens: Sequence[int]
    thinking: Sequence[int]
    stays: Stays
    shifts: Mapping[int, int]
    result_tokens: Callable[[Block], int]


@dataclass
class Ledger:
    """What the messages of the recorded context still weigh, by themselves and by their step; each is let go once."""

    history: int = 0
    beside: int = 0
    steps: dict[int, int] = field(default_factory=dict)
    came: dict[int, int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    thinking: list[list[int]] = field(default_factory=list)
    results: deque[int] = field(default_factory=deque)
    others: deque[int] = field(default_factory=deque)
    firsts: deque[int] = field(default_factory=deque)

    def add(self, step: int, weight: int, messages: Iterable[tuple[Message, int, int]]) -> None:
        """A step of this weight came; ``messages`` with their tokens and those of their thinking that may leave."""
        is_empty, n_known = True, len(self.came)
        for message, tokens, thought in messages:
            is_empty = False
            if message.role is Role.SYSTEM:
                weight -= tokens
                continue
            index = message.index
            if len(self.came) == n_known:
                self.firsts.append(index)
            self.came[index], self.left[index] = step, tokens
            if thought:
                self.thinking.append([index, thought])
            holds = any(block.kind is Kind.TOOL_RESULT for block in message.blocks)
            (self.results if holds else self.others).append(index)
        if is_empty:
            self.beside += max(0, weight)
        else:
            self.steps[step] = max(0, weight)

    def lose(self, step: int, tokens: int, may: MayLeave) -> Loss:
        """Take up to ``tokens`` off what stands."""
        parts: dict[int, int] = {}
        rest = tokens
        for index, most in may.named.items():
            rest -= self._take(parts, index, min(rest, most))
        history = min(rest, self.history) if may.takes_history else 0
        self.history -= history
        beside = min(rest - history, self.beside)
        self.beside -= beside
        rest -= history + beside
        if may.ends_turn:
            rest = self._forget(parts, rest)
        for queue in (self.results, self.others):
            rest = self._drain(parts, queue, rest)
        while rest and self.firsts:
            index = self.firsts[0]
            taken = min(rest, self.steps[self.came[index]])
            self._off(parts, index, taken)
            rest -= taken
            if rest:
                self.firsts.popleft()
        return Loss(step, tuple(sorted(parts.items())), beside, history)

    def _forget(self, parts: dict[int, int], rest: int) -> int:
        """Thinking goes, the newest first; what of ``rest`` is left."""
        while rest and self.thinking:
            newest = self.thinking[-1]
            taken = self._take(parts, newest[0], min(rest, newest[1]))
            newest[1] -= taken
            rest -= taken
            if rest:
                self.thinking.pop()
        return rest

    def _drain(self, parts: dict[int, int], queue: deque[int], rest: int) -> int:
        """Messages go, the oldest first; what of ``rest`` is left."""
        while rest and queue:
            rest -= self._take(parts, queue[0], rest)
            if rest:
                queue.popleft()
        return rest

    def _take(self, parts: dict[int, int], index: int, most: int) -> int:
        """Take at most this much off a message, and no more than it or its step still weighs; what was taken."""
        step = self.came.get(index)
        taken = 0 if step is None else max(0, min(most, self.left[index], self.steps[step]))
        if taken:
            self._off(parts, index, taken)
        return taken

    def _off(self, parts: dict[int, int], index: int, tokens: int) -> None:
        if tokens:
            parts[index] = parts.get(index, 0) + tokens
            self.left[index] = max(0, self.left[index] - tokens)
            self.steps[self.came[index]] -= tokens


def losses_of(transcript: Transcript, steps: Sequence[Step], known: Known, context: Sequence[int]) -> tuple[Loss, ...]:
    """What left at every step of a recording, whose contexts are ``context`` tokens; nothing where it only grew."""
    cleared = {clearing.request for clearing in transcript.clearings}
    shrank = {
        k for k, step in enumerate(steps)
        if k and step.compaction is None
        and (
            context[k] < context[k - 1] or step.afresh is not None
            or step.request in cleared or known.shifts.get(step.request, 0) < 0
        )
    }  # fmt: skip
    if not shrank:
        return ()
    parting = _Parting(transcript, steps, known)
    found: list[Loss] = []
    for k, step in enumerate(steps):
        if step.compaction is not None:
            parting.restart(k, context[k])
            continue
        before = context[k - 1] if k else known.overhead
        loss: Loss | None
        if k and step.afresh is not None:
            loss = parting.clear(k, before, context[k])
        else:
            loss = parting.step(k, before, context[k], shrank=k in shrank)
        found += [loss] if loss and loss.tokens else []
    return tuple(found)


class _Parting:
    """Goes over a recording step by step and says what left at each."""

    def __init__(self, transcript: Transcript, steps: Sequence[Step], known: Known) -> None:
        self.transcript, self.steps, self.known = transcript, steps, known
        self.ledger = Ledger(known.history)
        self.named: dict[int, set[str]] = {}
        for clearing in transcript.clearings:
            self.named.setdefault(clearing.request, set()).update(clearing.calls)
        self.answers: dict[str, int] = {}

    def step(self, k: int, before: int, here: int, *, shrank: bool) -> Loss | None:
        """What left before the request of step ``k``, whose context is ``here`` tokens and was ``before``."""
        step, known, growth, loss = self.steps[k], self.known, here - before, None
        came = list(self._came(range(step.start, step.stop)))
        if shrank:
            ended = any(map(ends_turn, self.transcript.messages[step.start : step.stop]))
            fades = known.stays is Stays.NEVER or (known.stays is Stays.TURN and ended)
            own = sum([tokens - thought if fades else tokens for _, tokens, thought in came])
            if own > growth:
                before_file = here < known.overhead + self.ledger.history
                may = MayLeave(self._named(step.request), ended and known.stays is not Stays.KEPT, before_file)
                loss = self.ledger.lose(k, own - growth, may)
                growth += loss.tokens
        self.ledger.add(k, growth - (0 if k else known.history), came)
        return loss

    def restart(self, k: int, here: int) -> None:
        """At a recorded compaction stand what it kept, what it made and what came after, ``here`` tokens in all."""
        self.ledger = Ledger()
        self._begin(k, here)

    def clear(self, k: int, before: int, here: int) -> Loss:
        """Where the conversation began anew all that stood left; the step's own messages before that never stood."""
        every = MayLeave(dict(self.ledger.left), ends_turn=False, takes_history=True)
        loss = self.ledger.lose(k, max(0, before - self.known.overhead), every)
        self._begin(k, here)
        return loss

    def _begin(self, k: int, here: int) -> None:
        step = self.steps[k]
        kept, first = standing_at(self.transcript, step) or ((), step.start)
        self.ledger.add(k, here - self.known.overhead, self._came((*kept, *range(first, step.stop))))

    def _came(self, indices: Iterable[int]) -> Iterator[tuple[Message, int, int]]:
        """Messages with their tokens and those of their thinking."""
        known, messages = self.known, self.transcript.messages
        for index in indices:
            message = messages[index]
            for call in message.result_ids():
                self.answers[call] = index
            yield message, known.tokens[index], known.thinking[index]

    def _named(self, request: int) -> dict[int, int]:
        """Tokens of what the record says was cleared before a request, by message."""
        found: dict[int, int] = {}
        calls = self.named.get(request, set())
        for index in sorted({self.answers[call] for call in calls if call in self.answers}):
            blocks = self.transcript.messages[index].blocks
            results = [b for b in blocks if b.kind is Kind.TOOL_RESULT and b.call_id in calls]
            found[index] = sum(map(self.known.result_tokens, results))
        return found


def net_weights(
    growths: Sequence[int], losses: Sequence[Loss], steps: Sequence[Step], out: frozenset[int], history: int
) -> tuple[int, ...]:
    """By step: its growth less what left before it, without ``out``; ``history`` is of before the file, in step 0."""
    came = {index: k for k, step in enumerate(steps) for index in range(step.start, step.stop)}
    held, weights, beside = list(growths), list(growths), 0
    filled = {step for index, step in came.items() if index not in out}
    at = 0
    for loss in losses:
        while at < loss.step:
            beside += 0 if at in filled else growths[at]
            at += 1
        for index, tokens in loss.parts:
            step = came[index]
            taken = 0 if index in out else min(tokens, held[step])
            held[step] -= taken
            weights[loss.step] -= taken
        gone = min(loss.beside, beside)
        beside -= gone
        before = min(loss.history, history)
        history, held[0] = history - before, held[0] - before
        beside -= 0 if 0 in filled else before
        weights[loss.step] -= gone + before
    return tuple(weights)


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """The recorded context, one entry per step of the branch.

    ``context[k]`` is U of step k's request where it is reported and not flagged, else the entry before it plus the
    step's estimate; ``labels[k]`` says which.  ``growths[k]`` is what step k's messages bring: the measured growth,
    with what left at the same step given back, or the messages' tokens at a recorded compaction; ``losses`` are what
    left.  ``weights[k]`` is both together, in a list that no replay has changed.
    """

    context: tuple[int, ...]
    labels: tuple[Label, ...]
    weights: tuple[int, ...]
    growths: tuple[int, ...]
    losses: tuple[Loss, ...]


def recorded_series(transcript: Transcript, steps: Sequence[Step], known: Known) -> RecordedSeries:
    """Context and step weights of the recording, in tokens; a growth not measured is the one by estimate."""
    context: list[int] = []
    labels: list[Label] = []
    fallback, out = weak_label(transcript), left_out(transcript)
    before = estimated_before = known.overhead
    for step in steps:
        usage, by_estimate = transcript.requests[step.request].usage, known.estimated[step.request] or 0
        measured = usage is not None and step.request not in known.flagged
        before = usage.context if usage and measured else before + by_estimate - estimated_before
        context.append(before)
        labels.append(Label.MEASURED if measured else fallback)
        estimated_before = by_estimate
    growths = [here - before for before, here in zip([known.overhead, *context], context, strict=False)]
    for k, step in enumerate(steps):
        if step.compaction is not None:
            growths[k] = sum(known.tokens[i] for i in range(step.start, step.stop) if i not in out)
    losses = losses_of(transcript, steps, known, context)
    for loss in losses:
        growths[loss.step] += loss.tokens
    weights = net_weights(growths, losses, steps, out, known.history) if losses else tuple(growths)
    return RecordedSeries(tuple(context), tuple(labels), weights, tuple(growths), losses)


def weak_label(transcript: Transcript) -> Label:
    """What a context that the recording does not measure is called: calibrated, or estimated where no usage exists."""
    return Label.CALIBRATED if any(r.usage for r in transcript.requests) else Label.ESTIMATED


def left_out(transcript: Transcript) -> frozenset[int]:
    """Messages that a full replay leaves out: made by a compaction whose originals are here (replay-semantics 2)."""
    compactions = transcript.compactions
    return frozenset(
        m.index for m in transcript.messages if m.compaction is not None and not compactions[m.compaction].outside
    )
