"""The over-count view: where the gates of known agents fire on one session, and whether they should.

Every gate is its policy's own, asked as under base "full" (replay-semantics 2) and held against display tokens
(replay-semantics 3).  After a firing everything is taken to be one summary of the usual size (replay-semantics 5),
without any tail: firings under one simple edit are counted, no agent's own is replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from sessions.engine.agents.agent import OVER, Trigger, agents, as_client, own_trigger
from sessions.engine.policies.policy import Gate
from sessions.engine.replays.walk import THRASH_LIMIT
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW, Weighed
from sessions.engine.why.culprits import Culprit, heaviest, media_excess
from sessions.engine.why.session_sums import SessionSums, sums_of
from sessions.engine.why.session_trigger import RemovedMessage, SessionTrigger

FALSE, RIGHT, LATE, MISSED = "false", "right", "late", "missed"
NAIVE = Trigger(
    "chars_per_4", "Characters ÷ 4, base64 counted", "estimators 13", "parametric",
    {"share": 90, "counted": "estimate"}, "chars_per_4",
    note="No agent's own trigger: the naive rule, against 0.9 of the window.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing of a gate, or one that did not come (``missed``).

    ``measure`` is what the gate saw, in its unit, ``reference`` the display tokens of the same context.  ``verdict``:
    "false" (the reference is under the threshold), "right" (it reaches it at this request), "late" (it reached it
    ``n_requests`` before), "missed" (it reached it here, and in ``n_requests`` more the gate did not fire).
    ``for_media``: without the over-count of images and documents it would not have fired.  ``refused``: it fired on a
    refusal of the provider, whatever it measured.
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
    refused: bool = False


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate does on a session: ``threshold`` in tokens, measures in ``unit``, ``counts`` in its own words.

    ``stopped`` is the request at which the thrash guard ended it, None where it did not.  ``withheld`` is the same
    gate when the provider reports no usage, None where that changes nothing or the gate knows nothing else.
    """

    gate: Trigger
    threshold: int
    operator: str
    counts: str
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


def triggers() -> tuple[Trigger, ...]:
    """The triggers of all agents, then the naive one."""
    return (*(trigger for agent in agents() for trigger in agent.triggers), NAIVE)


def over_count(weighed: Weighed, *, window: int | None = None, names: Iterable[str] | None = None) -> OverCount:
    """Every known gate (or those called ``names``) over a session; ``window`` in tokens replaces its own."""
    sums = sums_of(weighed, window)
    wanted = None if names is None else frozenset(names)
    chosen = [trigger for trigger in triggers() if wanted is None or trigger.name in wanted]
    results = tuple(_result(trigger, sums, window) for trigger in chosen)
    source = "given" if window else weighed.window_source
    return OverCount(window or weighed.window, source, sums.stub, len(sums.weights), results)


def _result(trigger: Trigger, sums: SessionSums, window: int | None) -> GateResult:
    """A trigger on a session; the session's own as its client's version had it (policies 4.11)."""
    transcript = sums.weighed.transcript
    if trigger is own_trigger(transcript):
        trigger = as_client(trigger, transcript)
    gate = SessionTrigger(trigger, sums)
    result = _Firings(trigger, gate, window).result()
    has_usage = any(request.usage for request in transcript.requests)
    if not has_usage or not sums.weights or not gate.heeds_estimates:
        return result
    return replace(result, withheld=_Firings(trigger, gate.withheld(), window).result())


class _Firings:
    """All firings of one gate over one session; used once."""

    def __init__(self, trigger: Trigger, gate: SessionTrigger, window: int | None) -> None:
        self.trigger, self.gate, self.sums = trigger, gate, gate.sums
        weighed = self.sums.weighed
        self.n, self.since = len(self.sums.weights), gate.start
        self.own = trigger.asked(window or weighed.window or DEFAULT_WINDOW, weighed.model, is_told=gate.is_told)
        self.needs = [0] * self.n
        for start, size, model in self.sums.windows:
            self.needs[start:] = [_need(trigger.asked(size, model, is_told=gate.is_told))] * (self.n - start)
        """From which context on it should fire, tokens, at every step."""

    def result(self) -> GateResult:
        """All firings, then the one that is missing at the end, if any."""
        firings: list[Firing] = []
        stopped = None
        while (found := self.gate.first(self.since)) is not None:
            at, said = found
            firings.append(self._firing(at, said, is_first=not firings))
            in_a_row = at == self.since.step + 1 and len(firings) >= THRASH_LIMIT
            self.since = self.gate.after(at, self._weights_after(at), len(firings))
            if in_a_row and firings[-1].request - firings[-THRASH_LIMIT].request == THRASH_LIMIT - 1:
                stopped = firings[-1].request
                break
        missed = self._missed() if stopped is None else None
        own = self.own
        return GateResult(
            self.trigger, own.threshold, own.operator, own.reason, self.gate.unit, tuple(firings), missed, stopped
        )

    def _weights_after(self, at: int) -> list[int]:
        """A firing drops the whole list: what leaves the recording later of messages dropped here leaves nothing."""
        series, dropped = self.sums.weighed.recorded, self.sums.ranges[at].stop
        if not series.losses:
            return self.sums.weights
        back = [0] * self.n
        for loss in series.losses:
            if loss.step > at:
                left = sum([tokens for index, tokens in loss.parts if index >= dropped])
                back[loss.step] = max(0, series.growths[loss.step] - series.weights[loss.step] - left)
        return [n + more for n, more in zip(self.sums.weights, accumulate(back), strict=True)]

    def _crossed(self) -> int:
        """The first step since the last firing whose reference reaches the threshold, the number of steps if none."""
        base, weights, needs = self.since.base, self.since.weights, self.needs
        at = next((k for k in range(self.since.step + 1, self.n) if weights[k] + base >= needs[k]), self.n)
        told = self.sums.told
        return told[0] if told is not None and told[0] < at and self._reference(told[0]) >= needs[told[0]] else at

    def _reference(self, at: int) -> int:
        """Display tokens of the context at a step; what the client counted where the file has not all of it."""
        tokens = self.since.base + self.since.weights[at]
        return max(tokens, self._counted_there(at) or 0)

    def _counted_there(self, at: int) -> int | None:
        told = self.sums.told
        return told[1] if told is not None and told[0] == at and self.since.step < 0 else None

    def _firing(self, at: int, said: Gate, *, is_first: bool) -> Firing:
        weighed, sizes = self.sums.weighed, self.gate.sizes
        reference, need = self._reference(at), self.needs[at]
        crossed = self._crossed()
        verdict = FALSE if reference < need else RIGHT if crossed == at else LATE
        span = self.gate.counted(at, self.since)
        excess = media_excess(weighed, sizes, span, self.sums.media)
        for_media = verdict == FALSE and excess > 0 and said.measure - excess < need
        culprits = heaviest(weighed, sizes, span, under=verdict == LATE) if verdict != RIGHT else ()
        if verdict == FALSE and is_first:
            culprits = tuple(self._tested(culprit) for culprit in culprits)
        made = self._made(at, verdict, said.measure, reference, max(0, at - crossed))
        refused = said.measure < _need(said)
        return replace(made, for_media=for_media, culprits=culprits, refused=refused)

    def _tested(self, culprit: Culprit) -> Culprit:
        """The culprit with the request at which the gate fires first without that message."""
        step, sums = self.sums.step_at[culprit.message], self.sums
        is_reply = culprit.message in sums.replies[step]
        left_out = RemovedMessage(step, culprit.size, sums.weighed.tokens[culprit.message], is_reply)
        found = self.gate.first(self.since, left_out)
        return replace(culprit, tested=True, without=self._request(found[0]) if found is not None else None)

    def _missed(self) -> Firing | None:
        """The first request since the last firing at which the reference reaches what the gate never saw."""
        at = self._crossed()
        if at >= self.n:
            return None
        said = self.gate.asked(at, self.since)
        span = self.gate.counted(at, self.since)
        culprits = heaviest(self.sums.weighed, self.gate.sizes, span, under=True)
        made = self._made(at, MISSED, said.measure, self._reference(at), self.n - 1 - at)
        return replace(made, culprits=culprits)

    def _request(self, at: int) -> int:
        return self.sums.weighed.steps[at].request

    def _made(self, at: int, verdict: str, measure: int, reference: int, n_requests: int) -> Firing:
        weighed = self.sums.weighed
        unchanged = self.since.step < 0 and not any(step.compaction is not None for step in weighed.steps[: at + 1])
        is_measured = unchanged and self._counted_there(at) is None
        label = weighed.recorded.labels[at] if is_measured else weighed.weak_label
        message = max(0, weighed.steps[at].stop - 1)
        return Firing(self._request(at), message, measure, reference, label, verdict, n_requests)


def _need(said: Gate) -> int:
    """The least that fires."""
    return said.threshold + (said.operator == OVER)
