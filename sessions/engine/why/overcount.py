"""The over-count view: where the gates of known harnesses fire on one session, and whether they should.

Every gate walks the session as if nothing had been compacted (replay-semantics 2, base "full"), with its own estimator,
threshold and operator, and the last usage as replay-semantics 4 says.  At each firing the reference, the display tokens
of the same context (replay-semantics 3), is held against the same threshold.

The restart rule: after a firing the harness is taken to have compacted everything to one summary of the session's
median recorded size, else 4,000 tokens (replay-semantics 5), without any tail or re-attached file; both the gate and
the reference go on from there.  Three firings at three requests in a row stop the gate (the thrash guard).  It is a
count of firings under one simple edit, not the replay of a harness's own: that is what the policies are for.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.agent import AT_LEAST, OVER, Counting, Trigger, Uses, agents, own_trigger, writer_of
from sessions.engine.outlines import CHARS_PER_TOKEN
from sessions.engine.sizes import estimator_named, message_size, message_sizes
from sessions.engine.summarizers.recorded import typical_tokens
from sessions.engine.summarizers.stub import DEFAULT_TOKENS
from sessions.engine.types import Label, Role
from sessions.engine.walk import THRASH_LIMIT
from sessions.engine.why.culprits import Culprit, Range, heaviest, media_excess, media_messages
from sessions.engine.why.shared import own_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.calibration.weighed import Weighed

FALSE, RIGHT, LATE, MISSED = "false", "right", "late", "missed"
ESTIMATING = frozenset({Uses.TAIL, Uses.GROWTH, Uses.EITHER})
"""Gates that estimate beside the usage they know: with the usage withheld, they estimate everything."""


NAIVE = Trigger(
    "chars_per_4", "Characters ÷ 4, base64 counted", "estimators 13", "chars_per_4", AT_LEAST, Uses.ESTIMATE,
    lambda window, _: window * 9 // 10, note="No agent's own trigger: the naive rule, against 0.9 of the window.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing of a gate, or one that did not come (``missed``).

    ``measure`` is what the gate saw, in its unit, ``reference`` the display tokens of the same context.  ``verdict``:
    "false" (the reference is under the threshold), "right" (it reaches it at this request), "late" (it reached it
    ``n_requests`` before), "missed" (it reached it here, and in ``n_requests`` more the gate did not fire).
    ``for_media``: without the over-count of images and documents it would not have fired.
    """

    request: int
    message: int
    measure: int
    reference: int
    reference_label: Label
    verdict: str
    n_requests: int = 0
    for_media: bool = False
    culprits: tuple[Culprit, ...] = ()


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate does on a session: ``threshold`` in tokens, measures in ``unit``.

    ``stopped`` is the request at which the thrash guard ended it, None where it did not.  ``withheld`` is the same
    gate when the provider reports no usage, None where that changes nothing or the gate knows nothing else.
    """

    gate: Trigger
    threshold: int
    unit: str
    firings: tuple[Firing, ...]
    missed: Firing | None
    stopped: int | None = None
    withheld: GateResult | None = None

    def count(self, verdict: str) -> int:
        """How many firings are of this verdict."""
        return sum(firing.verdict == verdict for firing in self.firings)

    @property
    def n_for_media(self) -> int:
        """False firings that images and documents alone caused."""
        return sum(firing.verdict == FALSE and firing.for_media for firing in self.firings)


@dataclass(frozen=True, slots=True)
class OverCount:
    """All gates on one session: ``window`` in tokens, ``stub_tokens`` what a compaction leaves."""

    window: int
    window_source: str
    stub_tokens: int
    n_requests: int
    results: tuple[GateResult, ...]


class Ground(NamedTuple):
    """What all gates walk over, one entry per step.

    ``weights`` are cumulative display tokens without overhead, ``outputs`` the tokens of each step's reply.
    ``ranges`` are the messages that enter at each step, ``tails`` where they start without the earlier reply;
    ``media`` the messages with images or documents.
    """

    weighed: Weighed
    weights: list[int]
    outputs: list[int]
    ranges: list[range]
    tails: list[int]
    media: list[int]
    stub: int


class Sizes(NamedTuple):
    """One estimator: sizes of the messages, cumulative over the steps, and per step without the reply."""

    of: list[int]
    whole: list[int]
    tails: list[int]


def triggers() -> tuple[Trigger, ...]:
    """The triggers of all agents, then the naive one."""
    return (*(trigger for agent in agents() for trigger in agent.triggers), NAIVE)


def over_count(weighed: Weighed, *, window: int | None = None, names: Iterable[str] | None = None) -> OverCount:
    """Every known gate (or those called ``names``) over a session; ``window`` in tokens replaces its own."""
    ground = ground_of(weighed)
    size = window or weighed.window
    wanted = None if names is None else frozenset(names)
    chosen = [gate for gate in triggers() if wanted is None or gate.name in wanted]
    results = tuple(_result(gate, ground, size) for gate in chosen)
    source = "given" if window else weighed.window_source
    return OverCount(size, source, ground.stub, len(ground.weights), results)


def ground_of(weighed: Weighed) -> Ground:
    """The steps of a session under base "full", with the size of the stub that a compaction leaves."""
    transcript = weighed.transcript
    outputs, tails, n_reply = [], [], 0
    for step in weighed.steps:
        request = transcript.requests[step.request]
        first = request.message
        outputs.append(0 if first is None else sum(weighed.tokens[first : first + request.n_messages]))
        reply = transcript.messages[step.start : min(step.stop, step.start + n_reply)]
        tails.append(step.start + sum(message.role is Role.ASSISTANT for message in reply))
        n_reply = request.n_messages if first is not None else 0
    ranges = [range(step.start, step.stop) for step in weighed.steps]
    stub = typical_tokens(weighed)
    return Ground(
        weighed,
        list(accumulate(weighed.recorded.weights)),
        outputs,
        ranges,
        tails,
        media_messages(weighed),
        DEFAULT_TOKENS if stub is None else stub,
    )


def _sizes(ground: Ground, gate: Trigger) -> Sizes:
    """Sizes by the gate's estimator; of the first request alone where it looks at nothing else (0 after it)."""
    weighed = ground.weighed
    if gate.uses in ESTIMATING or gate.uses is Uses.ESTIMATE:
        sizes = message_sizes(weighed, estimator_named(gate.estimator))
    else:
        sizes = _first_sizes(weighed, gate)
    if weighed.left_out:
        sizes = [0 if index in weighed.left_out else size for index, size in enumerate(sizes)]
    until = list(accumulate(sizes, initial=0))
    whole = [until[span.stop] for span in ground.ranges]
    tails = [until[span.stop] - until[start] for span, start in zip(ground.ranges, ground.tails, strict=True)]
    return Sizes(sizes, whole, tails)


def _first_sizes(weighed: Weighed, gate: Trigger) -> list[int]:
    messages = weighed.transcript.messages
    n_first = weighed.steps[0].stop if weighed.steps and gate.estimates_first else 0
    estimator = estimator_named(gate.estimator)
    sizes = [message_size(message, estimator, weighed.model) for message in messages[:n_first]]
    return sizes + [0] * (len(messages) - n_first)


def _result(gate: Trigger, ground: Ground, window: int) -> GateResult:
    threshold = _threshold(gate, ground.weighed, window)
    sizes = _sizes(ground, gate)
    result = _Walk(*_as_client(gate, ground), sizes, threshold).run()
    has_usage = any(request.usage for request in ground.weighed.transcript.requests)
    if not has_usage or gate.uses not in ESTIMATING:
        return result
    blind = replace(gate, uses=Uses.ESTIMATE, operator=gate.first_operator or gate.operator)
    limit = threshold if gate.first_cap is None else min(threshold, gate.first_cap)
    return replace(result, withheld=_Walk(blind, ground, sizes, limit).run())


def _as_client(gate: Trigger, ground: Ground) -> tuple[Trigger, Ground]:
    """The session's own gate as its client's version counted, any other as it is (policies 4.11)."""
    transcript = ground.weighed.transcript
    counted = writer_of(transcript).counting(transcript) if gate is own_trigger(transcript) else Counting()
    if not counted.note:
        return gate, ground
    if counted.is_written:
        ground = ground._replace(outputs=_written(ground))
    note = f"{gate.note} {counted.note}".strip()
    return replace(gate, uses=counted.uses or gate.uses, note=note), ground


def _written(ground: Ground) -> list[int]:
    """The output of each step's request as the transcript has it, its size where none is recorded."""
    requests = (ground.weighed.transcript.requests[step.request] for step in ground.weighed.steps)
    return [r.usage.output if r.usage else size for r, size in zip(requests, ground.outputs, strict=True)]


def _threshold(gate: Trigger, weighed: Weighed, window: int) -> int:
    """The gate's default; of the session's own gate, what its client's version had (policies 4.11)."""
    transcript, model = weighed.transcript, weighed.model
    own = own_threshold(transcript, window, model) if gate is own_trigger(transcript) else None
    return gate.threshold(window, model) if own is None else own


class _Walk:
    """One gate over one session; used once."""

    def __init__(self, gate: Trigger, ground: Ground, sizes: Sizes, threshold: int) -> None:
        self.gate, self.ground, self.sizes, self.threshold = gate, ground, sizes, threshold
        self.n = len(ground.weights)
        self.weights = ground.weights
        self.need = threshold + 1 if gate.operator == OVER else threshold
        self.unit = estimator_named(gate.estimator).unit
        self.by_usage, self.by_estimate = self._measures()
        self.start = -1
        """The step of the last firing, -1 before the first."""

    def _measures(self) -> tuple[list[int] | None, list[int] | None]:
        """What the gate measures at every step before any compaction, less its constant: by usage, by estimate."""
        uses, (_, whole, tails), outputs = self.gate.uses, self.sizes, self.ground.outputs
        sent = [0, *self.weights][: self.n]
        if uses is Uses.ESTIMATE:
            return None, whole
        replied = [0, *outputs][: self.n]
        if uses is Uses.INPUT:
            return sent, None
        totals = [w + o for w, o in zip(sent, replied, strict=True)]
        if uses is Uses.TOTAL:
            return totals, None
        if uses is Uses.EITHER:
            return totals, whole
        if uses is Uses.TAIL:
            return [t + tail for t, tail in zip(totals, tails, strict=True)], None
        growth = [now - then for now, then in zip(whole, [0, *whole], strict=False)]
        return [w + g for w, g in zip(sent, growth, strict=True)], None

    def run(self) -> GateResult:
        """All firings, then the one that is missing at the end, if any."""
        firings: list[Firing] = []
        stopped = None
        while self.start + 1 < self.n:
            at = self._next(self.start + 1)
            if at >= self.n:
                break
            firings.append(self._firing(at, is_first=not firings))
            in_a_row = at == self.start + 1 and len(firings) >= THRASH_LIMIT
            self._drop(at)
            if in_a_row and firings[-1].request - firings[-THRASH_LIMIT].request == THRASH_LIMIT - 1:
                stopped = firings[-1].request
                break
        missed = self._missed() if stopped is None else None
        return GateResult(self.gate, self.threshold, self.unit, tuple(firings), missed, stopped)

    def _drop(self, at: int) -> None:
        """A firing drops the whole list: what leaves the recording later of messages dropped here leaves nothing."""
        self.start = at
        series, dropped = self.ground.weighed.recorded, self.ground.ranges[at].stop
        if not series.losses:
            return
        back = [0] * self.n
        for loss in series.losses:
            if loss.step > at:
                left = sum([tokens for index, tokens in loss.parts if index >= dropped])
                back[loss.step] = max(0, series.growths[loss.step] - series.weights[loss.step] - left)
        self.weights = [n + more for n, more in zip(self.ground.weights, accumulate(back), strict=True)]
        self.by_usage, self.by_estimate = self._measures()

    def _reference_base(self) -> int:
        """What turns cumulative weights into display tokens since the last firing."""
        overhead = self.ground.weighed.overhead
        return overhead if self.start < 0 else overhead + self.ground.stub - self.weights[self.start]

    def _estimate_base(self) -> int:
        if self.start < 0:
            return 0
        stub = self.ground.stub * (1 if self.unit == "tokens" else CHARS_PER_TOKEN)
        return stub - self.sizes.whole[self.start]

    def _next(self, begin: int, *, left_out: int | None = None) -> int:
        """The first step from ``begin`` at which the gate fires, the number of steps if none.

        ``left_out`` is a message that is taken out: its estimate where it is estimated, else its tokens.
        """
        at = self._step_of(left_out) if left_out is not None else -1
        size = self.sizes.of[left_out] if left_out is not None else 0
        weight = self.ground.weighed.tokens[left_out] if left_out is not None else 0
        found = self.n
        if self.by_estimate is not None:
            found = self._scan(self.by_estimate, begin, self.need - self._estimate_base() + size)
        if self.by_usage is None:
            return found
        if begin == 0:
            if self._first_fires(size if at == 0 else 0):
                return 0
            begin = 1
        need = self.need - self._reference_base()
        if begin <= at and self.by_usage[at] - size >= need:
            return min(found, at)
        return min(found, self._scan(self.by_usage, max(begin, at + 1) if at >= 0 else begin, need + weight))

    def _first_fires(self, size: int) -> bool:
        """Before any usage: the estimate of the first request's list."""
        if not self.gate.estimates_first or not self.n:
            return False
        limit = self.threshold if self.gate.first_cap is None else min(self.threshold, self.gate.first_cap)
        over = (self.gate.first_operator or self.gate.operator) == OVER
        return self.sizes.whole[0] - size >= limit + over

    def _scan(self, values: Sequence[int], begin: int, need: int) -> int:
        return next((k for k in range(begin, self.n) if values[k] >= need), self.n)

    def _step_of(self, message: int) -> int:
        return bisect_right(self.ground.ranges, message, key=lambda span: span.start) - 1

    def _firing(self, at: int, *, is_first: bool) -> Firing:
        base = self._reference_base()
        reference = base + self.weights[at]
        crossed = self._scan(self.weights, self.start + 1, self.need - base)
        verdict = FALSE if reference < self.need else RIGHT if crossed == at else LATE
        measure, estimated = self._measure(at)
        span = self._estimated_range(at, estimated=estimated)
        excess = media_excess(self.ground.weighed, self.sizes.of, span, self.ground.media)
        for_media = verdict == FALSE and excess > 0 and measure - excess < self.need
        culprits = heaviest(self.ground.weighed, self.sizes.of, span, under=False) if verdict == FALSE else ()
        if verdict == FALSE and is_first:
            culprits = tuple(self._tested(culprit) for culprit in culprits)
        if verdict == LATE:
            culprits = heaviest(self.ground.weighed, self.sizes.of, span, under=True)
        made = self._made(at, verdict, measure, reference, max(0, at - crossed))
        return replace(made, for_media=for_media, culprits=culprits)

    def _measure(self, at: int) -> tuple[int, bool]:
        """What the gate saw at a step, and whether that was an estimate of the whole list."""
        estimate = None if self.by_estimate is None else self.by_estimate[at] + self._estimate_base()
        if self.by_usage is None:
            return estimate or 0, True
        usage = self.sizes.whole[0] if at == 0 else self.by_usage[at] + self._reference_base()
        if estimate is not None and (at == 0 or estimate >= usage):
            return estimate, True
        return usage, at == 0

    def _estimated_range(self, at: int, *, estimated: bool) -> Range:
        """The messages whose estimate is in the measure at a step."""
        if estimated:
            return range(self.ground.ranges[self.start + 1].start, self.ground.ranges[at].stop)
        if self.gate.uses in (Uses.TOTAL, Uses.INPUT, Uses.EITHER):
            return range(0)
        span = self.ground.ranges[at]
        return range(self.ground.tails[at] if self.gate.uses is Uses.TAIL else span.start, span.stop)

    def _tested(self, culprit: Culprit) -> Culprit:
        """The culprit with the request at which the gate fires first without that message."""
        at = self._next(self.start + 1, left_out=culprit.message)
        return replace(culprit, tested=True, without=self._request(at) if at < self.n else None)

    def _missed(self) -> Firing | None:
        """The first request since the last firing at which the reference reaches what the gate never saw."""
        base = self._reference_base()
        at = self._scan(self.weights, self.start + 1, self.need - base)
        if at >= self.n:
            return None
        measure, estimated = self._measure(at)
        span = self._estimated_range(at, estimated=estimated)
        culprits = heaviest(self.ground.weighed, self.sizes.of, span, under=True)
        made = self._made(at, MISSED, measure, base + self.weights[at], self.n - 1 - at)
        return replace(made, culprits=culprits)

    def _request(self, at: int) -> int:
        return self.ground.weighed.steps[at].request

    def _made(self, at: int, verdict: str, measure: int, reference: int, n_requests: int) -> Firing:
        weighed = self.ground.weighed
        unchanged = self.start < 0 and not any(step.compaction is not None for step in weighed.steps[: at + 1])
        label = weighed.recorded.labels[at] if unchanged else weighed.weak_label
        message = max(0, weighed.steps[at].stop - 1)
        return Firing(self._request(at), message, measure, reference, label, verdict, n_requests)
