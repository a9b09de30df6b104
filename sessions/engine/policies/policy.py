"""What a policy is, and what it is given: triggers (when to compact) and edits (how), pure functions of a View.

A policy module declares ``POLICY = Policy(...)``: one trigger (``gate``) and one edit, or a pipeline of layers of both.
At every request each trigger is asked once, in order; where it fires, its edit says how the message list stands
afterwards.  Nothing else may change a context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, cast

from sessions.engine.base.fast_frozen import fast_frozen
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.transcript.types import Block, Kind, Message


class EditFailed(Exception):
    """An edit that could not be made: the list stays, the attempt counts as failed (replay-semantics 4)."""


class SummaryFailed(EditFailed):
    """A summary call that failed; a policy with a fallback catches it."""


class Gate(NamedTuple):
    """A trigger's answer at one request: whether it fires, on what measured value, against what.

    ``measure`` and ``threshold`` are in ``unit``; ``operator`` is ">=" or ">"; ``level`` is the step of a ladder
    ("ok", "warn", "compact", "blocked") where the policy has one.  ``is_told``: the measure is the client's own count.
    """

    fires: bool
    reason: str
    measure: int
    threshold: int
    operator: str
    unit: str
    level: str = ""
    is_told: bool = False

    @classmethod
    def over(cls, measure: int, threshold: int, reason: str, unit: str = "tokens") -> Gate:
        """Fires over the threshold."""
        return cls(measure > threshold, reason, measure, threshold, ">", unit)

    @classmethod
    def at_least(cls, measure: int, threshold: int, reason: str, unit: str = "tokens") -> Gate:
        """Fires at the threshold and over it."""
        return cls(measure >= threshold, reason, measure, threshold, ">=", unit)


@fast_frozen
@dataclass(frozen=True, slots=True)
class Item:
    """One message as it stands in the context.

    ``id`` is the message's, kept through edits; ``e<k>.<n>`` for what event k inserted.  ``tokens`` are display
    tokens; ``size`` is in the trigger's unit.  ``step`` is the step it entered with (replay-semantics 3), -1 when
    inserted.
    """

    id: str
    message: Message
    tokens: int
    size: int
    step: int
    inserted: bool = False
    edited: bool = False


class ResultPlace(NamedTuple):
    """A tool result in a list: its position and its block."""

    position: int
    block: Block


class LastUsage(NamedTuple):
    """What the provider would have reported for the request before (replay-semantics 4).

    ``input`` and ``output`` are tokens of that request; ``size_then`` the list's size when it was sent and ``tail``
    the size of what came after its reply, both in the trigger's unit.  ``written`` is the output as the transcript has
    it, a streaming placeholder too; None where it has none.
    """

    input: int
    output: int
    size_then: int
    tail: int
    written: int | None = None

    @property
    def spent(self) -> int:
        """Tokens of the request and its reply."""
        return self.input + self.output


NOTHING_SENT = LastUsage(0, 0, 0, 0)
"""What was reported of a request with nothing in it."""


@dataclass(slots=True)
class State:
    """What a policy remembers between requests: kept by the replay, one object, nothing hidden.

    ``failures`` counts failed attempts in a row, ``still_on`` events in a row that left the trigger on; ``stopped``
    says why the policy gave up, "" while it has not.  The ``…_since_event`` count since the last event, else since the
    start; ``last_summary`` are the items that the last summary call inserted and that still stand.  ``cleared`` are
    the call ids whose results an edit in place changed.  ``memory`` is the policy's own: plain values under names it
    documents.
    """

    failures: int = 0
    still_on: int = 0
    stopped: str = ""
    messages_since_event: int = 0
    requests_since_event: int = 0
    turns_since_event: int = 0
    n_events: int = 0
    last_summary: tuple[Item, ...] = ()
    cleared: set[str] = field(default_factory=set)
    memory: dict[str, Any] = field(default_factory=dict)


class Draft(NamedTuple):
    """A message that a policy wants inserted: its preview, its display tokens and, where it has one, its text."""

    preview: str
    tokens: int
    text: str = ""
    role: str = "user"
    summary: bool = False


class Tools(Protocol):
    """What a trigger or an edit may ask of the replay: items made, words, and what they weigh or measure."""

    @property
    def summarize(self) -> Callable[..., tuple[Item, ...]]:
        """What stands for dropped messages: a summary, then the policy's attachments.  Asked by ``View.summarize``.

        ``mode``: "fresh" (of what is dropped, an earlier summary read as any message), "merge" (what is new, merged
        into the last summary), "nine" (fresh, in nine sections) or "opaque" (one dense machine string).  ``calls`` is
        how many model calls the original makes for it (0: notes that exist already); ``most`` caps the summary in
        display tokens, and is what a stub of such notes weighs; ``suffix`` is what the policy adds to its end,
        ``suffix_tokens`` what that weighs; ``role`` is the summary's.  Recorded products stand in place of all of it.
        Raises SummaryFailed.
        """

    def draft(self, draft: Draft) -> Item:
        """An inserted item that no model wrote: a marker, a note, a re-attached file."""

    def rewrite(self, item: Item, blocks: Sequence[Block], preview: str | None = None) -> Item:
        """``item`` with other blocks: same id, weighed and sized anew, marked edited."""

    def once(self, item: Item, edit: str, detail: object, make: Callable[[], Item]) -> Item:
        """What ``make`` makes of a message, made once for all replays of a session where the message is an original.

        ``edit`` names the kind of edit; ``detail`` is all that it depends on beside the message.
        """

    def text(self, item: Item) -> str:
        """The words of an item, its preview where they cannot be read."""

    def weigh(self, text: str) -> int:
        """Display tokens of a text: its count by the session's ratio."""

    def size_by(self, item: Item, estimator: str) -> int:
        """Size of an item under another estimator than the trigger's, in that one's unit."""

    def reported_reasoning(self, item: Item) -> int:
        """Tokens of reasoning that the provider reported of the reply whose thinking an item holds; 0 elsewhere."""


def item_tails(items: Sequence[Item], kept: Sequence[Item]) -> list[int]:
    """``View.tails`` where nothing is measured: every message weighs its own tokens."""
    totals = accumulate((item.tokens for item in reversed(items)), initial=sum(item.tokens for item in kept))
    return list(totals)[::-1]


@dataclass(slots=True)
class View:
    """The session as a policy sees it at one request, under itself.

    ``items`` is the message list about to be sent, ``size`` its total in the trigger's unit, ``usage`` None before the
    first request and where withheld.  ``window`` and ``overhead`` (system prompt and tools) are display tokens.
    ``context`` is the display size of what would be sent; ``unedited`` the same had no edit in place been made since
    the last event that took messages out (what a client holds whose provider clears for it).  ``results`` are the
    positions in ``items`` that hold tool results.  ``idle_seconds`` have passed since the last reply, None where the
    recording has no times; ``n_turns`` typed prompts were sent so far.  ``tails(items, kept)`` are the display
    tokens that ``kept`` and ``items[n:]`` would have together, for every n up to the length of ``items``: steps that
    stand whole weigh their measured growth, in which thinking that is sent no more weighs nothing.  ``told`` is what
    the client itself counted here, in tokens, where a message that it counted is not in the file; else None.
    """

    items: list[Item]
    request: int
    size: int
    usage: LastUsage | None
    window: int
    overhead: int
    context: int
    model: ModelInfo
    state: State
    tools: Tools
    newest_typed: bool = False
    unedited: int = 0
    results: list[int] = field(default_factory=list)
    idle_seconds: float | None = None
    n_turns: int = 0
    tails: Callable[[Sequence[Item], Sequence[Item]], list[int]] = item_tails
    told: int | None = None

    @property
    def rejected(self) -> bool:
        """True when the provider would refuse the request: the context is over the window (replay-semantics 4)."""
        return self.context > self.window

    def summarize(self, dropped: Sequence[Item], attachments: Sequence[Draft] = (), **how: Any) -> tuple[Item, ...]:
        """See ``Tools.summarize``."""
        return self.tools.summarize(dropped, attachments, **how)


def when_refused(reason: str, level: str = "") -> Callable[[object, View], Gate]:
    """The trigger of a policy that acts once the provider refuses: it fires where the request is ``rejected``."""
    return lambda _, view: Gate(view.rejected, reason, view.context, view.window, ">", "tokens", level)


Edited = list[Item] | dict[int, Item]
"""What an edit returns: the whole list afterwards, or only what it changed in place, by position in ``View.items``.

None declines: the list stays, and that is no failed attempt.

In place is far cheaper for edits that come at every request: use it wherever the list keeps its length and order.
"""


@dataclass(frozen=True, slots=True)
class Layer:
    """One step of a pipeline: its trigger (``gate``), its edit, what it reports under.

    ``cheap``: an edit of its that fails is told of and not counted, one that frees nothing is no attempt at all, and it
    goes on when the breaker has stopped the others.  ``drawn`` marks the layer whose trigger is the policy's own on
    charts and in ``gates``: the last one where none is marked.
    """

    name: str
    label: str
    gate: Callable[[Any, View], Gate]
    edit: Callable[[Any, View], Edited | None]
    cheap: bool = False
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """One compaction policy: data, and a trigger with its edit, or ``layers`` of them in the order asked.

    ``estimator`` names the estimator its triggers measure with; ``source`` says where the rule comes from, ``tier`` how
    it is proven ("founding", "differential", "golden", "preset").  ``shares_prefix`` is true when its summary call is
    sent with the conversation's own prefix and so reads the cache; ``summary_calls`` is false for policies that never
    call a model.  ``threshold_param`` names the parameter that dragging the threshold line sets.  ``caveats`` say in
    words what it does not guarantee (policies 2.5).  ``slack`` is by how many times what its trigger measures may
    exceed what it measures of a list where all that it counts is as much or more: 1 unless it scales its estimate.
    """

    name: str
    label: str
    source: str
    help: str
    params: type
    gate: Callable[[Any, View], Gate] | None = None
    edit: Callable[[Any, View], Edited | None] | None = None
    layers: tuple[Layer, ...] = ()
    estimator: str = "tiktoken_o200k"
    shares_prefix: bool = False
    summary_calls: bool = True
    threshold_param: str = ""
    tier: str = ""
    caveats: tuple[str, ...] = ()
    slack: float = 1

    @property
    def pipeline(self) -> tuple[Layer, ...]:
        """The layers; a policy of one trigger and one edit is a pipeline of one."""
        if self.gate is None or self.edit is None:
            return self.layers
        return (Layer(self.name, self.label, self.gate, self.edit, drawn=True), *self.layers)

    @property
    def drawn(self) -> Layer:
        """The layer whose trigger is the policy's own."""
        layers = self.pipeline
        return next((layer for layer in layers if layer.drawn), layers[-1])

    def measured_by(self, params: Any) -> str:
        """The name of the estimator it measures with: its own or its ``measure``, at its ``image_charge`` if any."""
        name = str(getattr(params, "measure", "") or self.estimator)
        charge = getattr(params, "image_charge", None)
        return name if charge is None or name != "pressure_bytes" else f"{name}:{charge}"

    def asked(
        self, params: Any, window: int, model: ModelInfo, *, overhead: int = 0, usage: LastUsage | None = None
    ) -> Gate:
        """What its own trigger says of a request with nothing in it; ``usage`` is that of the one before, if any."""
        view = View([], 0, 0, usage, window, overhead, 0, model, State(), cast("Tools", None))
        return self.drawn.gate(params, view)


def cut_to(view: View, kept: Sequence[Item], items: Sequence[Item], latest: int, goal: int) -> int:
    """How many of ``items`` go, the oldest first, until the list with ``kept`` weighs at most ``goal`` display tokens.

    System prompt and tools are not in ``goal``.  No more than ``latest`` go; none where the list is within already.
    """
    if view.context - view.overhead <= goal:
        return 0
    tails = view.tails(items, kept)
    return next((cut for cut in range(latest) if tails[cut] <= goal), latest)


def pair_safe_cut(items: Sequence[Item], cut: int, latest: int | None = None) -> int:
    """The index nearest to ``cut`` at which the list may be cut without splitting a tool pair.

    A call must not be dropped while its result is kept (policies 2.5, invariant 1).  The cut moves forward, over the
    results, unless that would pass ``latest`` (None: ``cut``); then it moves back, so that the call is kept too.
    """
    called_at: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for position, item in enumerate(items):
        for block in item.message.blocks:
            if block.kind is Kind.TOOL_USE:
                called_at[block.call_id] = position
            elif block.kind is Kind.TOOL_RESULT and block.call_id in called_at:
                spans.append((called_at[block.call_id], position))
    spans.sort()
    forward = cut
    for call_at, result_at in spans:
        if call_at < forward <= result_at:
            forward = result_at + 1
    if forward <= (cut if latest is None else latest):
        return forward
    back = cut
    for call_at, result_at in reversed(spans):
        if call_at < back <= result_at:
            back = call_at
    return back
