"""Replays a session under a policy, request by request, holding the trajectory constant (replay-semantics 2 to 6)."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as changed_copy
from typing import TYPE_CHECKING, Any

from sessions.engine import params as parameters
from sessions.engine import registry
from sessions.engine.calibrate import DEFAULT_WINDOW
from sessions.engine.context import Context, common_prefix, message_items
from sessions.engine.errors import BadParameter
from sessions.engine.events import Event, make_event
from sessions.engine.policy import Gate, Item, LastUsage, Policy, State, View
from sessions.engine.series import weak_label
from sessions.engine.summaries import Summaries
from sessions.engine.types import Label, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.calibrate import Weighed

BASES = ("full", "recorded")
THRASH_LIMIT = 3
"""Events in a row that leave the gate on before a policy is stopped (replay-semantics 4)."""
BREAKER = 3
"""Failed attempts in a row before a policy without a breaker of its own is stopped."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as sent in the replay, what the cost model needs.

    ``tokens`` is the context in display tokens, ``cached`` the longest common prefix with the request before it as
    sent (its reply not included), ``output`` the reply's tokens; ``timestamp`` in seconds or None.
    """

    request: int
    tokens: int
    cached: int
    output: int
    timestamp: float | None


@dataclass(frozen=True)
class Replay:
    """A session under a policy.

    ``context_tokens``, ``labels`` and ``gates`` have one entry per request (None off the branch); ``sent`` one per
    request of the branch.  All tokens are display tokens; gates are in the estimator's unit.
    """

    weighed: Weighed
    policy: Policy
    params: Any
    base: str
    estimator: str
    summarizer: str
    window: int
    window_source: str
    context_tokens: tuple[int | None, ...]
    labels: tuple[Label | None, ...]
    gates: tuple[Gate | None, ...]
    events: tuple[Event, ...]
    sent: tuple[Sent, ...]
    warnings: tuple[str, ...]


def replay(
    weighed: Weighed,
    policy: str,
    *,
    params: Mapping[str, object] | None = None,
    base: str = "full",
    estimator: str | None = None,
    summarizer: str = "recorded",
    window: int | None = None,
) -> Replay:
    """Replay ``weighed`` under the policy called ``policy``; raises UnknownName or BadParameter.

    ``window`` in tokens replaces the recorded window; ``estimator`` replaces the one the gate measures with.
    """
    if base not in BASES:
        raise BadParameter(f"base is one of {', '.join(BASES)}, not {base!r}")
    if window is not None and window <= 0:
        raise BadParameter(f"window is a positive number of tokens, not {window}")
    chosen: Policy = registry.get("policies", policy)
    built = parameters.build(chosen.params, params or {})
    measure = registry.get("estimators", estimator or getattr(built, "measure", "") or chosen.estimator)
    walk = _Walk(weighed, chosen, built, measure, base, Summaries(weighed, summarizer, measure), window)
    walk.run()
    return walk.result(summarizer)


class _Walk:
    """The walk itself: mutable, used once."""

    def __init__(  # noqa: PLR0917
        self,
        weighed: Weighed,
        policy: Policy,
        params: Any,
        estimator: Any,
        base: str,
        summaries: Summaries,
        window: int | None,
    ) -> None:
        self.weighed, self.policy, self.params, self.estimator = weighed, policy, params, estimator
        self.base, self.summaries = base, summaries
        self.window = window or weighed.window or DEFAULT_WINDOW
        self.window_source = "given" if window else weighed.window_source
        self.items = message_items(weighed, estimator)
        self.left_out = weighed.left_out if base == "full" else frozenset()
        self.series = weighed.recorded
        self.context = Context(list(self.series.weights), [0] * len(weighed.steps), [])
        self.state = State()
        n = len(weighed.transcript.requests)
        self.context_tokens: list[int | None] = [None] * n
        self.labels: list[Label | None] = [None] * n
        self.gates: list[Gate | None] = [None] * n
        self.sent: list[Sent] = []
        self.events: list[Event] = []
        self.warnings: list[str] = list(weighed.warnings)
        self.asleep = False
        self.changed = False
        self.weak_label = weak_label(weighed)
        self.size_then = 0
        self.view = View(
            [], 0, 0, None, self.window, weighed.overhead, 0, weighed.model, self.state, self.summaries.insert
        )
        if self.window_source == "default" and weighed.model.known:
            self.warnings.append("the context window is not recorded: 200,000 tokens are assumed")
        if base == "full":
            self._warn_of_missing_originals()

    def run(self) -> None:
        """Walk every request of the branch in the order sent."""
        for k, step in enumerate(self.weighed.steps):
            if self.base == "recorded" and step.compaction is not None:
                self._recorded_compaction(k, step.compaction)
            else:
                self._request(k)

    def _request(self, k: int) -> None:
        """Step, gate, edit, send (replay-semantics 4)."""
        step = self.weighed.steps[k]
        added = self.items[step.start : step.stop]
        if self.left_out:
            added = [item for item in added if item.message.index not in self.left_out]
        if step.compaction is not None and self.base == "full":
            self.changed = True
        before_step = len(self.context.items)
        self.context.add_step(k, added)
        self.state.messages_since_event += len(added)
        cached = self.context_tokens_before(k)
        event = self._ask(k, added)
        if event is not None and self.base == "full":
            prefix = min(common_prefix(event.before, event.after), before_step)
            self.context.replace(list(event.after), event.after_tokens - self.weighed.overhead)
            self.changed = True
            cached = min(cached, self.weighed.overhead + self.context.weigh(event.after[:prefix]))
        self._send(k, cached)

    def _recorded_compaction(self, k: int, compaction_index: int) -> None:
        """Base "recorded" at a recorded compaction: ask about the list before it, then take the recording's."""
        step = self.weighed.steps[k]
        compaction = self.weighed.transcript.compactions[compaction_index]
        split = min(max(step.start, compaction.boundary), step.stop)
        before = self.items[step.start : split]
        tail_tokens = sum(item.tokens for item in before)
        self.context.items += before
        self.context.tokens += tail_tokens
        self.context.size += sum(item.size for item in before)
        self.context.members[k] = -1
        self.state.messages_since_event += len(before)
        self._ask(k, before)
        kept = [changed_copy(self.items[index], step=k) for index in compaction.preserved]
        after = [*kept, *self.items[split : step.stop]]
        weight = self.series.context[k] - self.weighed.overhead
        self.context.members[k], self.context.weights[k] = len(after), weight
        self.context.replace(after, weight)
        self.state.messages_since_event = 0
        self.asleep = False
        self._send(k, self.weighed.overhead)

    def context_tokens_before(self, k: int) -> int:
        """Display tokens of the request before step ``k`` as sent; 0 before the first."""
        return self.sent[k - 1].tokens if k else 0

    def _ask(self, k: int, added: Sequence[Item]) -> Event | None:
        """Ask the gate once; where it fires, edit and record the event.  None when nothing changed."""
        request = self.weighed.steps[k].request
        context = self._display()
        view = self.view
        view.items, view.request, view.size, view.context = self.context.items, request, self.context.size, context
        view.newest_typed = bool(self.context.items) and self.context.items[-1].message.typed
        view.usage = self._last_usage(k, added)
        gate = self.policy.gate(self.params, view)
        self.gates[request] = gate
        if not gate.fires or self.state.stopped or self.asleep:
            return None
        return self._edit(k, gate, context)

    def _edit(self, k: int, gate: Gate, context: int) -> Event | None:
        request = self.weighed.steps[k].request
        before = tuple(self.context.items)
        self.summaries.at(request, len(self.events))
        after = self.policy.edit(self.params, self.view)
        after_tokens = self.weighed.overhead + self.context.weigh(after)
        if after_tokens >= context:
            self._failed(request)
            return None
        self.state.failures = 0
        event = make_event(
            len(self.events), request, gate, before, tuple(after), context, after_tokens, self.summaries.source
        )
        self.events.append(event)
        self.state.messages_since_event = 0
        self.asleep = self.base == "recorded"
        self._guard(request, after, after_tokens)
        return event

    def _failed(self, request: int) -> None:
        """An edit that frees nothing: the list stays, the breaker counts (replay-semantics 4)."""
        self.state.failures += 1
        limit = getattr(self.params, "breaker", BREAKER)
        self.warnings.append(f"request {request}: the gate fired, the edit would free nothing; the list is unchanged")
        if limit is not None and self.state.failures >= limit:
            self.state.stopped = f"breaker: {self.state.failures} attempts in a row freed nothing"
            self.warnings.append(f"request {request}: {self.state.stopped}; the policy stops")

    def _guard(self, request: int, after: list[Item], after_tokens: int) -> None:
        """Thrash guard: three events in a row that leave the gate on stop the policy.

        The gate is on when it fires on the after list, by estimate alone or given the usage that the provider would
        report for just that list.
        """
        view = self.view
        view.items, view.size = after, sum([item.size for item in after])
        view.context = after_tokens
        view.usage = None
        still_on = self.policy.gate(self.params, view).fires
        if not still_on and getattr(self.params, "usage", "recorded") != "none":
            view.usage = LastUsage(view.context, 0, view.size, 0)
            still_on = self.policy.gate(self.params, view).fires
        self.state.still_on = self.state.still_on + 1 if still_on else 0
        if self.state.still_on >= THRASH_LIMIT:
            self.state.stopped = f"thrash guard: {THRASH_LIMIT} events in a row left the gate on"
            self.warnings.append(f"request {request}: {self.state.stopped}; the policy stops")

    def _last_usage(self, k: int, added: Sequence[Item]) -> LastUsage | None:
        """What the provider would have reported for the request before (replay-semantics 4)."""
        if not k or getattr(self.params, "usage", "recorded") == "none":
            return None
        sent = self.sent[k - 1]
        n_reply = self.weighed.transcript.requests[sent.request].n_messages
        reply = sum(item.size for item in added[:n_reply] if item.message.role is Role.ASSISTANT)
        return LastUsage(sent.tokens, sent.output, self.size_then, sum([item.size for item in added]) - reply)

    def _send(self, k: int, cached: int) -> None:
        """Record what request ``k`` sends; its reply stays as recorded."""
        step = self.weighed.steps[k]
        request = self.weighed.transcript.requests[step.request]
        tokens = self._display() if self.base == "full" else self.series.context[k]
        measured = self.series.labels[k] is Label.MEASURED and not (self.changed and self.base == "full")
        self.context_tokens[step.request] = tokens
        self.labels[step.request] = Label.MEASURED if measured else self.weak_label
        first = request.message
        output = 0 if first is None else sum(self.weighed.tokens[first : first + request.n_messages])
        self.sent.append(Sent(step.request, tokens, min(cached, tokens), output, request.timestamp))
        self.size_then = self.context.size

    def _display(self) -> int:
        return max(0, self.weighed.overhead + self.context.tokens)

    def _warn_of_missing_originals(self) -> None:
        for number, compaction in enumerate(self.weighed.transcript.compactions):
            if compaction.outside:
                self.warnings.append(
                    f"recorded compaction {number}: what it removed is not in this session, so its result stays"
                )

    def result(self, summarizer: str) -> Replay:
        """The finished replay."""
        return Replay(
            self.weighed, self.policy, self.params, self.base, self.estimator.name, summarizer, self.window,
            self.window_source, tuple(self.context_tokens), tuple(self.labels), tuple(self.gates),
            tuple(self.events), tuple(self.sent), tuple(dict.fromkeys(self.warnings)),
        )  # fmt: skip
