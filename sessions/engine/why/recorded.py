"""Recorded against replayed: what the matching policy does at each compaction that a session records.

The policy is replayed under base "recorded" (replay-semantics 2).  Manual compactions, and those that followed a
refusal where the policy did not fire before, are counted apart: no threshold explains them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.agents.agent import KnownSetting, policy_facts, writer_of
from sessions.engine.base.comparisons import compared, reaches
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.words import counted
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Gate
from sessions.engine.replays.initial_params import AS_RECORDED
from sessions.engine.replays.replay import Replay, replay
from sessions.engine.transcript.types import Kind, ProviderError, RecordedCompaction, Request
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.shared import Shared, newest_refusal, position_of, shared_facts

if TYPE_CHECKING:
    from sessions.engine.replays.events import Event

TOLD = "not all that the client counted is in this file"
HIT, EARLY, MISSED, APART, NOT_ASKED = "hit", "early", "missed", "by hand", "not comparable"
REFUSED = "after a refusal"


@dataclass(frozen=True, slots=True)
class AfterList:
    """How the lists after a compaction agree on the original messages before it: counts of messages."""

    kept_by_both: int
    kept_by_recording: int
    kept_by_policy: int
    tokens_recorded: int | None
    tokens_policy: int


@dataclass(frozen=True, slots=True)
class ComparedCompaction:
    """One recorded compaction beside what the policy does.

    ``outcome`` is one of hit, early, missed, by hand, after a refusal, not comparable. ``recorded_before`` is the
    recorder's own figure in tokens, ``usage_before`` input and output of the request before it, both None where not
    reported; ``gate`` is the policy's answer about the list before it, None where it was not asked. ``fired_at`` is
    the request of the policy's event in this stretch. ``reasons`` explain what differs. ``is_told``: the measure is
    the client's own count, for a message that it counted is not in the file.
    """

    index: int
    request: int
    trigger: str | None
    outcome: str
    recorded_before: int | None
    usage_before: int | None
    gate: Gate | None
    fired_at: int | None
    after: AfterList | None
    reasons: tuple[str, ...]
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class ConsistentThresholds:
    """Thresholds under which the policy would have fired at the automatic compactions and nowhere else.

    ``above`` is the largest measure at which the recording was not compacted, ``up_to`` the smallest at which it was,
    in the gate's unit; ``settings`` are known settings with such a threshold, in words, with their parameters.
    """

    above: int
    up_to: int
    unit: str
    settings: tuple[tuple[str, Mapping[str, object]], ...]

    @property
    def possible(self) -> bool:
        """False where no one threshold explains the recording."""
        return self.above < self.up_to


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recording against a policy.

    ``recall`` is hits over automatic compactions that can be compared, ``precision`` hits over the policy's firings
    but for those where a compaction was made by hand; None without any.  ``as_recorded`` is the threshold of the
    client that recorded it in words, "" where it is not known or not where the comparison starts from.
    """

    policy: str
    params: Mapping[str, object]
    window: int
    compared: tuple[ComparedCompaction, ...]
    n_false_alarms: int
    n_by_hand: int
    recall: float | None
    precision: float | None
    consistent: ConsistentThresholds | None
    warnings: tuple[str, ...]
    as_recorded: str = ""


def policy_for(weighed: Weighed) -> str:
    """The policy whose client wrote the recording; raises BadParameter where none is known."""
    transcript = weighed.transcript
    agent = writer_of(transcript)
    if not agent.policies:
        raise BadParameter(f"no policy is known to be what {transcript.format} transcripts' client does: name one")
    made_by = next((c.by for c in transcript.compactions if c.by in agent.policies), "")
    if made_by:
        return made_by
    if agent.stated_policy and transcript.trigger_at:
        return agent.stated_policy
    if agent.opaque_policy and any(_is_opaque(weighed, c) for c in transcript.compactions):
        return agent.opaque_policy
    return agent.policies[0]


def _is_opaque(weighed: Weighed, compaction: RecordedCompaction) -> bool:
    if compaction.message is None:
        return False
    blocks = weighed.transcript.messages[compaction.message].blocks
    return bool(blocks) and all(block.kind is Kind.OPAQUE for block in blocks)


def compare(
    weighed: Weighed,
    policy: str | None = None,
    *,
    params: Mapping[str, object] | None = None,
    window: int | None = None,
    calibrate: bool = False,
    start: str = AS_RECORDED,
) -> Comparison:
    """Every recorded compaction against a policy, from where ``start`` says; raises UnknownName or BadParameter."""
    name = policy or policy_for(weighed)
    result = replay(weighed, name, params=params, base="recorded", window=window, start=start)
    shared = shared_facts(weighed)
    compared = tuple(_compare(result, k, shared) for k in range(len(weighed.transcript.compactions)))
    hits = sum(one.outcome == HIT for one in compared)
    fitting = sum(one.outcome == HIT and one.fired_at is not None for one in compared)
    automatic = sum(one.outcome in {HIT, EARLY, MISSED} for one in compared)
    by_hand = {one.request for one in compared if one.trigger == "manual"}
    refused = {one.request for one in compared if one.outcome == REFUSED}
    fired = [event for event in result.events if event.request not in by_hand | refused]
    return Comparison(
        name, dict(params or {}), result.window, compared, len(fired) - fitting, len(by_hand),
        hits / automatic if automatic else None, fitting / len(fired) if fired else None,
        _consistent(result, range(len(compared))) if calibrate else None, result.warnings,
        result.as_recorded if start == AS_RECORDED else "",
    )  # fmt: skip


def _compare(result: Replay, index: int, shared: Shared) -> ComparedCompaction:
    compaction = result.weighed.transcript.compactions[index]
    event = _event_in(result, index)
    n_requests = len(result.gates)
    gate = result.gates[compaction.request] if compaction.request < n_requests else None
    steps, at = result.weighed.steps, position_of(result.weighed, compaction.request) - 1
    newest = result.weighed.transcript.requests[steps[at].request] if at >= 0 else None
    usage = newest.usage.context + newest.usage.output if newest and newest.usage else None
    refusal = newest_refusal(shared.runs.errors_before(index))
    outcome = _outcome(compaction, event, gate, refusal)
    is_told = gate is not None and gate.is_told
    came = _untold(result.weighed, compaction, newest, gate) if outcome == MISSED else 0
    reasons = _reasons(result, index, outcome, gate, event, shared=shared, is_told=is_told)
    if came and gate is not None:
        outcome, reasons = HIT, [f"{came:,} of it came after the last reply that the file has: the next one told of it"]
        gate = gate._replace(measure=gate.measure + came, fires=True)
    after = None
    if event is not None and event.request == compaction.request:
        after = _after(result, compaction, event)
    return ComparedCompaction(
        index, compaction.request, compaction.trigger, outcome, compaction.tokens_before, usage, gate,
        event.request if event else None, after, tuple(reasons), is_told,
    )  # fmt: skip


def _untold(weighed: Weighed, compaction: RecordedCompaction, newest: Request | None, gate: Gate | None) -> int:
    """Tokens that came after the last usage, where the threshold is passed with them alone; 0 where it is not.

    An agent that counts its last reply alone compacts when the next one tells; that one is not always in the file.
    """
    if gate is None or compaction.trigger != "auto" or newest is None or not newest.usage or newest.message is None:
        return 0
    last = newest.usage.context + newest.usage.output
    stop = compaction.boundary if compaction.message is None else compaction.message
    came = sum(weighed.tokens[newest.message + newest.n_messages : stop])
    fits = gate.unit == "tokens" and gate.measure == last and reaches(last + came, gate.operator, gate.threshold)
    return came if fits else 0


def _event_in(result: Replay, index: int) -> Event | None:
    """The policy's event between the compaction before and this one."""
    compactions = result.weighed.transcript.compactions
    start = compactions[index - 1].request if index else -1
    stop = compactions[index].request
    place = bisect_right(result.events, start, key=lambda event: event.request)
    found = result.events[place] if place < len(result.events) else None
    return found if found is not None and found.request <= stop else None


def _outcome(
    compaction: RecordedCompaction, event: Event | None, gate: Gate | None, refusal: ProviderError | None
) -> str:
    if compaction.trigger == "manual":
        return APART
    if gate is None or compaction.outside:
        return NOT_ASKED
    if refusal is not None and (event is None or event.request == compaction.request):
        return REFUSED
    if event is None:
        return MISSED
    return HIT if event.request == compaction.request else EARLY


def _after(result: Replay, compaction: RecordedCompaction, event: Event) -> AfterList:
    """What both keep of the messages before the boundary."""
    messages = result.weighed.transcript.messages
    recorded = {messages[index].id for index in compaction.preserved}
    kept = {
        item.id
        for item in event.after
        if not item.inserted and item.message.compaction is None and item.message.index < compaction.boundary
    }
    return AfterList(
        len(recorded & kept), len(recorded), len(kept), result.context_tokens[compaction.request], event.after_tokens
    )


def _reasons(
    result: Replay, index: int, outcome: str, gate: Gate | None, event: Event | None, *, shared: Shared, is_told: bool
) -> list[str]:
    """Why the recording and the replay differ, in words."""
    weighed = result.weighed
    compaction = weighed.transcript.compactions[index]
    found = [f"{TOLD}: its count of {compaction.tokens_before:,} tokens stands"] if is_told else []
    if outcome == APART:
        found.append("manual: no threshold applies")
    if compaction.outside:
        found.append("what it removed is not in this session")
    elif gate is None:
        found.append("no request was sent after it, so the trigger was not asked")
    if gate is not None and outcome == REFUSED:
        found.append(f"{_said(gate)}: the provider had refused the request as too long")
    if gate is not None and outcome == MISSED:
        found.append(_missed(result, compaction, gate))
    if outcome == EARLY and event is not None:
        n = compaction.request - event.request
        found.append(
            f"the policy fires {counted(n, 'request')} earlier, where {_said(event.gate)}: the "
            "client had a higher threshold, or was off"
        )
    if gate is not None and outcome != APART and (estimated := _estimated(shared, index)):
        found.append(f"{estimated:,} tokens of it are estimated: the file lacks the reasoning that the client kept")
    if outcome in {EARLY, MISSED} and (here := _consistent(result, [index])):
        found += [f"consistent with {words}" for words, _ in here.settings]
    return found + _doubts(weighed, index)


def _estimated(shared: Shared, index: int) -> int:
    """Tokens that the client counted beside the usage, as far as they are an estimate."""
    transcript = shared.weighed.transcript
    compactions, messages = transcript.compactions, transcript.messages
    start, kept = (compactions[index - 1].boundary, compactions[index - 1].preserved) if index else (0, ())
    places = (*(i for i in kept if i < start), *range(start, compactions[index].boundary))
    return writer_of(transcript).beside([messages[i] for i in places], shared.reported).estimated


def _said(gate: Gate) -> str:
    """What a gate compared, in words."""
    return compared(gate.measure, gate.operator, gate.threshold, gate.unit, "the policy's")


def _missed(result: Replay, compaction: RecordedCompaction, gate: Gate) -> str:
    """Why no event came of the gate's answer at a recorded compaction."""
    if gate.fires:
        failed = [attempt.reason for attempt in result.attempts if attempt.request <= compaction.request]
        why = f"its edit failed: {failed[-1]}" if failed else "its edit was not made"
        return f"the policy's trigger fires too ({_said(gate)}), but {why}"
    measured = _said(gate)
    if reaches(gate.measure, gate.operator, gate.threshold):
        return f"{measured}, and yet the policy did not fire: {gate.reason}"
    told = compaction.tokens_before
    if told is not None and gate.unit == "tokens" and reaches(told, gate.operator, gate.threshold):
        return f"{measured}: the agent counted {told:,}, which passes it"
    return f"{measured}: {'another threshold' if compaction.trigger == 'auto' else 'manual'}, or another count"


def _doubts(weighed: Weighed, index: int) -> list[str]:
    """What makes the comparison uncertain: usage that is missing, a model that changed."""
    compactions = weighed.transcript.compactions
    start = position_of(weighed, compactions[index - 1].request) if index else 0
    # A client's own summary call is no request of the branch.
    steps = weighed.steps[start : position_of(weighed, compactions[index].request)]
    stretch = [weighed.transcript.requests[step.request] for step in steps]
    found: list[str] = []
    if stretch and stretch[-1].usage is None:
        found.append("no usage is reported for the request before it: the trigger used an estimate")
    models = list(dict.fromkeys(request.model for request in stretch if request.model))
    if len(models) > 1:
        found.append(f"the model changed on the way ({', '.join(models)}): limits may have changed with it")
    return found


def _consistent(result: Replay, indices: Sequence[int]) -> ConsistentThresholds | None:
    """Bounds on the threshold in the stretches of these compactions, known settings; None where none is automatic."""
    compactions = result.weighed.transcript.compactions
    ends = {compactions[k].request for k in indices}
    automatic = {c.request for k in indices if (c := compactions[k]).trigger != "manual" and not c.outside}
    asked = [(i, gate) for i in _stretch(result, indices) if (gate := result.gates[i]) is not None]
    at = [gate for i, gate in asked if i in automatic]
    if not at:
        return None
    quiet = [gate.measure for i, gate in asked if i not in ends and gate.unit == at[0].unit]
    above, up_to = max(quiet, default=0), min(gate.measure for gate in at)
    low, high = (above, up_to - 1) if at[0].operator == ">" else (above + 1, up_to)
    settings = tuple(
        (setting.words, setting.params)
        for setting in policy_facts(result.policy.name).settings
        if low <= _threshold(result, setting) <= high
    )
    return ConsistentThresholds(above, up_to, at[0].unit, settings)


def _stretch(result: Replay, indices: Sequence[int]) -> range:
    """The requests of the stretch that ends at the one of these compactions; all requests where they are all of it."""
    compactions, n = result.weighed.transcript.compactions, len(result.gates)
    if len(indices) == len(compactions):
        return range(n)
    (index,) = indices
    start = compactions[index - 1].request + 1 if index else 0
    return range(start, min(n, compactions[index].request + 1))


def _threshold(result: Replay, setting: KnownSetting) -> int:
    """The policy's threshold under a setting, over the replay's own parameters."""
    own = {spec.name: getattr(result.params, spec.name) for spec in parameters.specs(result.policy.params)}
    built, weighed = parameters.build(result.policy.params, own | setting.params), result.weighed
    return result.policy.asked(built, result.window, weighed.model, overhead=weighed.overhead).threshold


def recorded_document(comparison: Comparison) -> dict[str, Any]:
    """``ctxweb.recorded/1``; tokens, or the gate's unit where a gate is concerned."""
    consistent = comparison.consistent
    return {
        "schema": "ctxweb.recorded/1",
        "policy": comparison.policy,
        "params": dict(comparison.params),
        "as_recorded": comparison.as_recorded or None,
        "window": comparison.window,
        "recall": comparison.recall,
        "precision": comparison.precision,
        "false_alarms": comparison.n_false_alarms,
        "by_hand": comparison.n_by_hand,
        "compactions": [_entry(one) for one in comparison.compared],
        "consistent": consistent
        and {
            **{name: getattr(consistent, name) for name in ("above", "up_to", "unit", "possible")},
            "settings": [{"words": words, "params": dict(params)} for words, params in consistent.settings],
        },
        "warnings": list(comparison.warnings),
    }


def _entry(one: ComparedCompaction) -> dict[str, Any]:
    return {
        "index": one.index,
        "request": one.request,
        "trigger": one.trigger,
        "outcome": one.outcome,
        "tokens_before": one.recorded_before,
        "usage_before": one.usage_before,
        **{name: getattr(one.gate, name, None) for name in ("measure", "threshold", "operator", "unit")},
        "fired_at": one.fired_at,
        "after": None if one.after is None else asdict(one.after),
        "reasons": list(one.reasons),
    }
