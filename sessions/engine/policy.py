"""What a policy is, and what it is given: a gate (when to compact) and an edit (how), both pure functions of a View.

A policy module declares ``POLICY = Policy(...)``.  The gate is asked once at every request; where it fires, the edit
returns the message list as it stands afterwards.  Nothing else may change a context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Message


class Gate(NamedTuple):
    """A gate's answer at one request: whether it fires, on what measured value, against what.

    ``measure`` and ``threshold`` are in ``unit``; ``operator`` is ">=" or ">"; ``level`` is the step of a ladder
    ("ok", "warn", "compact", "blocked") where the policy has one.
    """

    fires: bool
    reason: str
    measure: int
    threshold: int
    operator: str
    unit: str
    level: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One message as it stands in the context.

    ``id`` is the message's, kept through edits; ``e<k>.<n>`` for what event k inserted.  ``tokens`` are display
    tokens; ``size`` is in the gate's unit.  ``step`` is the step it entered with (replay-semantics 3), -1 when
    inserted.
    """

    id: str
    message: Message
    tokens: int
    size: int
    step: int
    inserted: bool = False
    edited: bool = False


class LastUsage(NamedTuple):
    """What the provider would have reported for the request before (replay-semantics 4).

    ``input`` and ``output`` are tokens of that request; ``size_then`` the list's size when it was sent and ``tail``
    the size of what came after its reply, both in the gate's unit.
    """

    input: int
    output: int
    size_then: int
    tail: int


@dataclass(slots=True)
class State:
    """What a policy remembers between requests: kept by the replay, one object, nothing hidden."""

    failures: int = 0
    still_on: int = 0
    stopped: str = ""
    messages_since_event: int = 0


@dataclass(slots=True)
class View:
    """The session as a policy sees it at one request, under itself.

    ``items`` is the message list about to be sent, ``size`` its total in the gate's unit, ``usage`` None before the
    first request and where withheld.  ``window`` and ``overhead`` (system prompt and tools) are display tokens.
    ``context`` is the display size of what would be sent.  ``summarize`` gives the inserted items for what is dropped.
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
    summarize: Callable[[Sequence[Item], Sequence[Draft]], tuple[Item, ...]]
    newest_typed: bool = False


class Draft(NamedTuple):
    """A message that a policy wants inserted: its preview, its display tokens and, where it has one, its text."""

    preview: str
    tokens: int
    text: str = ""
    role: str = "user"
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """One compaction policy: data, a gate and an edit.

    ``estimator`` names the estimator its gate measures with; ``source`` says where the rule comes from.
    ``shares_prefix`` is true when its summary call is sent with the conversation's own prefix and so reads the cache;
    ``summary_calls`` is false for policies that never call a model.  ``threshold_param`` names the parameter that
    dragging the threshold line sets.
    """

    name: str
    label: str
    source: str
    help: str
    estimator: str
    params: type
    gate: Callable[[Any, View], Gate]
    edit: Callable[[Any, View], list[Item]]
    shares_prefix: bool = False
    summary_calls: bool = True
    threshold_param: str = ""


def pair_safe_cut(items: Sequence[Item], cut: int, latest: int) -> int:
    """The index nearest to ``cut`` at which the list may be cut without splitting a tool pair.

    A call must not be dropped while its result is kept (policies 2.5, invariant 1).  The cut moves forward, over the
    results, unless that would pass ``latest``; then it moves back, so that the call is kept too.
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
    if forward <= latest:
        return forward
    back = cut
    for call_at, result_at in reversed(spans):
        if call_at < back <= result_at:
            back = call_at
    return back
