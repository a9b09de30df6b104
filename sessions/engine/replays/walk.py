"""The walk of a replay through a session, request by request (replay-semantics 2 to 6)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as changed_copy
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.policies.params import is_told
from sessions.engine.policies.policy import EditFailed, Gate, Item, LastUsage, Layer, Policy, State, View
from sessions.engine.replays.context import (
    Context,
    Entering,
    common_prefix,
    entering,
    entering_steps,
    message_items,
    splice_of,
)
from sessions.engine.replays.events import (
    Change,
    ChangeCounts,
    Event,
    History,
    LayerResult,
    Splice,
    count_changes,
    count_patch,
    count_splice,
)
from sessions.engine.replays.leaving import Leaving
from sessions.engine.transcript.parts import without_gc
from sessions.engine.transcript.types import Kind, Label
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW, Weighed
from sessions.engine.weigh.outputs import outputs
from sessions.engine.weigh.unreplayed import assumed_windows, not_replayed

if TYPE_CHECKING:
    from sessions.engine.replays.summaries import Summaries

THRASH_LIMIT = 3
"""Events in a row that leave the trigger on before a policy is stopped (replay-semantics 4)."""
BREAKER = 3
"""Failed attempts in a row before a policy without a breaker of its own is stopped."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An edit that failed: which layer's, why, and the summary calls in vain, each sent ``tokens`` of context."""

    request: int
    layer: str
    reason: str
    summary_calls: int
    tokens: int


class Sent(NamedTuple):
    """What was sent in the replay, by step of the branch, in display tokens.

    ``tokens`` are the contexts, ``cached`` the longest common prefix with the request before as sent: what a cache may
    hold.
    """

    tokens: list[int]
    cached: list[int]


class Walk:
    """The walk itself: mutable, used once; ``run`` fills what a replay reports."""

    def __init__(
        self,
        weighed: Weighed,
        policy: Policy,
        params: Any,
        estimator: Any,
        summaries: Summaries,
        *,
        base: str,
        window: int | None,
    ) -> None:
        """``window`` None is the session's own."""
        self.weighed, self.policy, self.params = weighed, policy, params
        self.base, self.summaries = base, summaries
        self.steps, self.requests, self.overhead = weighed.steps, weighed.transcript.requests, weighed.overhead
        self.layers, self.drawn = policy.pipeline, policy.drawn
        self.named = {layer.name: layer for layer in reversed(self.layers)}
        self.counted = frozenset(layer.name for layer in self.layers if not layer.cheap)
        """Names of the layers whose failures count."""
        self.estimator: str = estimator.name
        self.window = window or weighed.window or DEFAULT_WINDOW
        self.windows = [window or held.window for held in weighed.held]
        self.window_source = "given" if window else weighed.window_source
        self.items = message_items(weighed, estimator)
        left_out = weighed.left_out if base == "full" else frozenset[int]()
        self.entering = entering_steps(weighed, estimator, left_out)
        self.series, self.tokens, self.outputs = weighed.recorded, weighed.tokens, outputs(weighed)
        self.context = Context(list(self.series.growths), [0] * len(weighed.steps), [], history=weighed.history)
        self.history = History()
        self.state = State()
        n = len(weighed.transcript.requests)
        self.context_tokens: list[int | None] = [None] * n
        self.labels: list[Label | None] = [None] * n
        self.gates: list[Gate | None] = [None] * n
        self.sent = Sent([], [])
        self.events: list[Event] = []
        self.attempts: list[Attempt] = []
        self.warnings: list[str] = list(weighed.warnings)
        self.leaving = Leaving(weighed, self.warnings)
        self.asleep = False
        self.changed = False
        self.weak_label = weighed.weak_label
        self.told = is_told(params)
        """Whether triggers are told what the provider counted last."""
        self.size_then = 0
        self.last_reply: float | None = None
        self.replaced: list[Item] = []
        """The list that the newest edit took messages out of."""
        self.view = View([], 0, 0, None, self.window, weighed.overhead, 0, weighed.model, self.state, summaries)
        self.warnings += assumed_windows(weighed, window)
        self.warnings += not_replayed(weighed.transcript, base)

    def run(self) -> None:
        """Walk every request of the branch in the order sent."""
        with without_gc():
            for k, step in enumerate(self.steps):
                compaction = step.compaction
                if self.base == "recorded" and compaction is not None:
                    self._recorded_compaction(k, compaction)
                else:
                    self._request(k)

    def _request(self, k: int) -> None:
        """Step, triggers, edits, send (replay-semantics 4)."""
        step = self.steps[k]
        added = self.entering[k]
        self._hold(k)
        if step.compaction is not None and self.base == "full":
            if not self.changed:
                self._tell(step.compaction)
            self.changed = True
        self.leaving.at(k, self.context, self.history)
        before_step = len(self.context.items)
        self.context.add_step(k, added)
        self.history.add(added.items)
        self._count(added)
        cached = self.sent.tokens[-1] if k else 0
        event = self._ask(k, added)
        if event is not None and self.base == "full":
            self.changed = True
            cached = min(cached, self._common(event, before_step))
        self._send(k, cached)

    def _common(self, event: Event, before_step: int) -> int:
        """Tokens of the after list that the request before sent alike: its prefix up to the first change."""
        change = self.history.change(event.index)
        if isinstance(change, Splice):
            first = common_prefix(self.replaced, self.context.items, change.start)
        elif isinstance(change, dict) and change:
            first = min(change)
        else:
            first = common_prefix(event.before, self.context.items)
        return self.overhead + self.context.prefix(min(first, before_step))

    def _recorded_compaction(self, k: int, compaction_index: int) -> None:
        """Base "recorded" at a recorded compaction: ask about the list before it, then take the recording's."""
        step = self.steps[k]
        compaction = self.weighed.transcript.compactions[compaction_index]
        split = min(max(step.start, compaction.boundary), step.stop)
        n_reply = self.requests[self.steps[k - 1].request].n_messages if k else 0
        before = entering(self.items[step.start : split], n_reply)
        self.context.append(before)
        self.context.tokens += before.tokens
        self.context.members[k] = -1
        self.context.unedited[k], self.context.standing[k] = len(before.items), before.tokens
        self.history.add(before.items)
        self._count(before)
        # A change to a larger window comes with the request after; one to a smaller is known before it.
        self._hold(k - 1 if k and self.windows[k - 1] < self.windows[k] else k)
        self._tell(compaction_index)
        self._ask(k, before)
        kept = [changed_copy(self.items[index], step=k) for index in compaction.preserved]
        after = [*kept, *self.items[split : step.stop]]
        weight = self.series.context[k] - self.overhead
        self.context.members[k], self.context.weights[k] = len(after), weight
        self.context.replace(after, weight)
        self.history.restart(tuple(after))
        self.leaving.lowered.clear()
        self._restart_counts()
        self.state.cleared.clear()
        self.state.memory.clear()
        self.asleep = False
        self._send(k, self.overhead)

    def _hold(self, k: int) -> None:
        """The model and the window of step ``k``'s request."""
        self.view.window, self.view.model = self.windows[k], self.weighed.held[k].model

    def _tell(self, compaction: int) -> None:
        """What the client itself counted at a recorded compaction, where the file has not all that it counted."""
        recorded = self.weighed.transcript.compactions[compaction]
        self.view.told = recorded.tokens_before if recorded.unseen else None

    def _count(self, added: Entering) -> None:
        state = self.state
        if added.n_typed:
            self.view.n_turns += added.n_typed
            state.turns_since_event += added.n_typed
        state.messages_since_event += len(added.items)
        state.requests_since_event += 1

    def _restart_counts(self) -> None:
        state = self.state
        state.messages_since_event = state.requests_since_event = state.turns_since_event = 0

    def _ask(self, k: int, added: Entering) -> Event | None:
        """Ask every trigger once; where one fires, edit.  The event of all that took effect, None where nothing did."""
        request = self.steps[k].request
        view, params, held = self.view, self.params, self.context
        view.request = request
        view.newest_typed = bool(held.items) and held.items[-1].message.typed
        view.usage = self._last_usage(k, added)
        view.idle_seconds = self._idle(request, added)
        newest: int | None = None
        results: list[tuple[LayerResult, Change]] = []
        shown = False
        for layer in self.layers:
            if not shown:
                self._show()
                shown = True
            gate = layer.gate(params, view)
            if layer.name == self.drawn.name:
                self.gates[request] = gate
            if not gate.fires or self.asleep or (self.state.stopped and not layer.cheap):
                continue
            if not results:
                newest = next((item.message.index for item in reversed(held.items) if not item.inserted), None)
                self.summaries.at(request, len(self.events))
                if self.base == "recorded":
                    self.context = held.copy()
            made = self._edit(request, layer, gate)
            if made is not None:
                results.append(made)
            shown = False
        event = self._event(request, held, newest, results) if results else None
        self.context = held
        view.told = None
        return event

    def _show(self) -> None:
        """What the view says of the list as it stands now."""
        view, context = self.view, self.context
        view.items, view.results, view.size = context.items, context.results, context.size
        view.context, view.tails = self._display(), context.tails
        view.unedited = view.context + context.saved

    def _edit(self, request: int, layer: Layer, gate: Gate) -> tuple[LayerResult, Change] | None:
        """Make one layer's edit; None where it failed or changed nothing."""
        before = self.view.context
        n_calls = self.summaries.calls_here
        try:
            outcome = layer.edit(self.params, self.view)
        except EditFailed as failure:
            self._failed(request, layer, str(failure), self.summaries.calls_here - n_calls)
            return None
        if outcome is None:
            return None
        outcome = self.leaving.without(outcome)
        change: Change
        if isinstance(outcome, dict):
            change = outcome
            counts = count_patch(len(self.context.items), outcome, self.context.items)
            undo = {position: self.context.items[position] for position in outcome}
            self.context.patch(outcome)
            freed = before - self._display()
            if freed <= 0:
                self.context.patch(undo)
            else:
                self._note_cleared((undo[position], item) for position, item in outcome.items())
        else:
            held = self.context.items
            splice = splice_of(held, outcome)
            weight = self.context.respliced(outcome, splice)
            freed = before - max(0, self.overhead + weight.tokens)
            counts = count_splice(held, outcome, splice, len(self.events))
            if freed > 0:
                if counts.edited:
                    old = {item.id: item for item in splice.gone}
                    self._note_cleared((old[item.id], item) for item in splice.new if item.edited and item.id in old)
                self.context.take(outcome, splice, weight)
                self.replaced = held
            change = splice
        if freed <= 0:
            if not layer.cheap:
                self._failed(request, layer, "", self.summaries.calls_here - n_calls)
            return None
        result = LayerResult(
            layer.name, layer.label, gate, freed, counts.edited, counts.dropped, counts.inserted, counts.first
        )
        return result, change

    def _event(
        self, request: int, held: Context, newest: int | None, results: list[tuple[LayerResult, Change]]
    ) -> Event:
        """The event of all layers that took effect at this request; ``newest`` message of the list before."""
        layers = tuple([result for result, _ in results])
        after_tokens = self._display()
        before_tokens = after_tokens + sum([layer.freed_tokens for layer in layers])
        outcome, counts = self._together(results)
        self.history.event(outcome)
        drawn = layers[0]
        if len(layers) > 1:
            drawn = next((layer for layer in layers if layer.name == self.drawn.name), drawn)
        event = Event(
            len(self.events), request, newest, drawn.gate, before_tokens, after_tokens, counts.kept, counts.edited,
            counts.dropped, counts.inserted, counts.first, self.summaries.source, self.summaries.calls_here, layers,
            self.history,
        )  # fmt: skip
        self.events.append(event)
        self._remember(event)
        self._guard(request, drawn.name)
        if self.base == "recorded":
            self.history.restart(tuple(held.items))
        return event

    def _together(self, results: list[tuple[LayerResult, Change]]) -> tuple[Change, ChangeCounts]:
        """What the layers of an event come to, and how much that changes."""
        items = self.context.items
        if len(results) == 1:
            ((one, change),) = results
            kept = len(items) - one.inserted - one.edited
            return change, ChangeCounts(kept, one.edited, one.dropped, one.inserted, one.first_changed)
        before = self.replaced = list(self.history.list_at(len(self.history.moves)))
        changes = [change for _, change in results]
        if all(isinstance(change, dict) for change in changes):
            return dict(ChainMap(*reversed(changes))), count_changes(before, items)  # type: ignore[arg-type]
        splice = splice_of(before, items)
        return splice, count_splice(before, items, splice, len(self.events))

    def _remember(self, event: Event) -> None:
        state = self.state
        if self.counted and not self.counted.isdisjoint([layer.name for layer in event.layers]):
            state.failures = 0
        state.n_events += 1
        state.last_summary = self.summaries.last
        self._restart_counts()
        self.asleep = self.base == "recorded"

    def _note_cleared(self, changes: Iterable[tuple[Item, Item]]) -> None:
        """Remember the calls whose results an edit in place changed."""
        cleared, kind = self.state.cleared, Kind.TOOL_RESULT
        for old, new in changes:
            for block in new.message.blocks:
                if block.kind is kind and block not in old.message.blocks:
                    cleared.add(block.call_id)

    def _failed(self, request: int, layer: Layer, reason: str, calls: int) -> None:
        """A failed attempt: the list stays, the breaker counts it unless the layer is cheap (replay-semantics 4)."""
        self.summaries.calls_here -= calls
        words = reason or "the trigger fired, but compacting would free nothing"
        self.attempts.append(Attempt(request, layer.name, words, calls, self.view.context))
        self.warnings.append(f"request {request}: {words}; the list is unchanged")
        if layer.cheap:
            return
        self.state.failures += 1
        limit = getattr(self.params, "breaker", BREAKER)
        if limit is not None and self.state.failures >= limit and not self.state.stopped:
            what = "failed" if reason else "freed nothing"
            self.state.stopped = f"breaker: {self.state.failures} attempts in a row {what}"
            self.warnings.append(f"request {request}: {self.state.stopped}; the policy stops")

    def _guard(self, request: int, name: str) -> None:
        """Thrash guard: three events in a row that leave the trigger on stop the policy.

        The trigger is on when it fires on the after list, by estimate alone or given the usage that the provider would
        report for just that list.  Where no layer counts, nothing is ever stopped; along a recording a trigger learns
        from being asked that what it cleared was only shown.
        """
        if not self.counted and self.base == "full":
            return
        view = self.view
        layer = self.named[name]
        self._show()
        view.usage = None
        still_on = layer.gate(self.params, view).fires
        if not still_on and self.told:
            view.usage = LastUsage(view.context, 0, view.size, 0)
            still_on = layer.gate(self.params, view).fires
        self.state.still_on = self.state.still_on + 1 if still_on else 0
        if self.state.still_on >= THRASH_LIMIT and not layer.cheap:
            self.state.stopped = f"thrash guard: {THRASH_LIMIT} compactions in a row left the trigger on"
            self.warnings.append(f"request {request}: {self.state.stopped}; the policy stops")

    def _last_usage(self, k: int, added: Entering) -> LastUsage | None:
        """What the provider would have reported for the request before (replay-semantics 4)."""
        if not k or not self.told:
            return None
        usage = self.requests[self.steps[k - 1].request].usage
        written = usage.output if usage else None
        tail = added.size - added.reply_size
        return LastUsage(self.sent.tokens[-1], self.outputs[k - 1], self.size_then, tail, written)

    def _idle(self, request: int, added: Entering) -> float | None:
        """Seconds from the last reply to what is sent now, as recorded."""
        if added.replied is not None:
            self.last_reply = added.replied
        replied, now = self.last_reply, added.arrived
        if now is None:
            now = self.requests[request].timestamp
        return None if replied is None or now is None else max(0.0, now - replied)

    def _send(self, k: int, cached: int) -> None:
        """Record what request ``k`` sends; its reply stays as recorded."""
        request = self.steps[k].request
        full = self.base == "full"
        tokens = self._display() if full else self.series.context[k]
        measured = self.series.labels[k] is Label.MEASURED and not (full and self.changed)
        self.context_tokens[request] = tokens
        self.labels[request] = Label.MEASURED if measured else self.weak_label
        self.sent.tokens.append(tokens)
        self.sent.cached.append(min(cached, tokens))
        self.size_then = self.context.size

    def _display(self) -> int:
        return max(0, self.overhead + self.context.tokens)
