"""Inspect's compactions: edit, summary and trim (policies 11.12).

Citations and the contents of a memory tool are not in a replay's messages.  Uses of server tools are no kind of their
own here; the original can spare tools by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST
from sessions.engine.policies._lists import ASSISTANT, TOOL, USER, apart, role_of
from sessions.engine.policies.edits import clear_results, drop_thinking, marker
from sessions.engine.policies.params import LIMIT, SHARE, Told, choice, param, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Policy, View
from sessions.engine.transcript.types import Block, Kind

MORE_PASSES = 3


@dataclass(frozen=True, slots=True)
class Threshold(Told):
    """When all three fire."""

    threshold: float = when(0.9, "Threshold, over", "Share of the window", *SHARE)
    threshold_tokens: int | None = when(None, "Threshold in tokens", "In place of the share; none: the share", *LIMIT)


def limit(params: Threshold, window: int) -> int:
    """The threshold in tokens, rounded down."""
    return int(params.threshold * window) if params.threshold_tokens is None else params.threshold_tokens


def total(view: View) -> int:
    """Last input and what is new since; else all by the estimator, with the overhead."""
    if view.usage is None:
        return view.overhead + view.size
    return view.usage.input + view.size - view.usage.size_then


def gate(params: Threshold, view: View) -> Gate:
    """The total is over the threshold."""
    return Gate.over(total(view), limit(params, view.window), "last input and what is new since")


def repeated(params: Threshold, view: View, compact: Callable[[list[Item]], list[Item]]) -> list[Item]:
    """The strategy applied until the list fits; raises EditFailed where it does not."""
    most = limit(params, view.window)
    items = compact(list(view.items))
    weight = view.overhead + sum([item.size for item in items])
    for _ in range(MORE_PASSES):
        if weight <= most:
            break
        items = compact(items)
        before, weight = weight, view.overhead + sum([item.size for item in items])
        if weight >= before:
            break
    if weight > most:
        raise EditFailed(f"compaction insufficient: {weight:,} still over {most:,}")
    return items


def partitioned(items: Sequence[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """System messages, the input (all up to the first user message, no summary), the conversation."""
    system, rest = apart(items)
    n_input = 0
    while n_input < len(rest) and not rest[n_input].message.summary:
        n_input += 1
        if role_of(rest[n_input - 1]) == USER:
            break
    return system, rest[:n_input], rest[n_input:]


REMOVED = "(Tool result removed)"
SPARED = "tool_search"


@dataclass(frozen=True, slots=True)
class EditParams(Threshold):
    """When, and what stays whole."""

    keep_thinking_turns: int | None = param(
        1, "Keep thinking of", "The last replies that keep their thinking; none: all do",
        "replies", 0, 10_000, optional=True,
    )  # fmt: skip
    keep_tool_uses: int = param(3, "Keep tool uses", "Newest answered calls left whole", "calls", 0, 10_000)
    keep_tool_inputs: str = choice(
        ("on", "off"), "Keep the calls", "Off: a call goes with its result, a line of text stays"
    )


def clear(params: EditParams, view: View) -> list[Item]:
    """Clear until it fits; what is cleared for good is not looked at again (``memory["done"]``)."""
    n_events, done, last = view.state.memory.get("done", (0, 0, None))
    if n_events != view.state.n_events or done > len(view.items) or (done and view.items[done - 1] is not last):
        done = 0
    left = repeated(params, view, lambda items: cleared(params, view, items, done))
    done = min(done, len(left))
    done += finished(params, left[done:])
    view.state.memory["done"] = (view.state.n_events + 1, done, left[done - 1] if done else None)
    return left


def finished(params: EditParams, items: list[Item]) -> int:
    """How many of the oldest messages no later pass changes: before every reply, call and result that is yet whole."""
    replies = [position for position, item in enumerate(items) if role_of(item) == ASSISTANT]
    uses = answered(items)
    ended = {(id(call), call_at) for call, call_at, _ in uses}
    kept = uses[max(0, len(uses) - params.keep_tool_uses) :]
    open_calls = [
        position
        for position, item in enumerate(items)
        for block in item.message.blocks
        if block.kind is Kind.TOOL_USE and block.name != SPARED and (id(block), position) not in ended
    ]
    thinking = replies[max(0, len(replies) - (params.keep_thinking_turns or 0)) :]
    return min([*thinking, *[call_at for _, call_at, _ in kept], *open_calls, *replies[-1:]], default=0)


def cleared(params: EditParams, view: View, items: list[Item], start: int = 0) -> list[Item]:
    """One pass from position ``start`` on: what stands before was cleared for good."""
    left = list(items)
    if params.keep_thinking_turns is not None:
        replies = [n for n in range(start, len(left)) if role_of(left[n]) == ASSISTANT]
        for position in replies[: max(0, len(replies) - params.keep_thinking_turns)]:
            left[position] = drop_thinking(view, left[position])
    uses = answered(left, start)
    for call, call_at, result_at in uses[: max(0, len(uses) - params.keep_tool_uses)]:
        if params.keep_tool_inputs == "on":
            left[result_at] = clear_results(view, left[result_at], {call.call_id}, REMOVED)
        else:
            left[result_at] = _without(view, left[result_at], Kind.TOOL_RESULT, call.call_id)
            note = marker(f"[Tool call: {call.name} (parameters and results removed from history)]")
            left[call_at] = _without(view, left[call_at], Kind.TOOL_USE, call.call_id, note)
    changed = zip(left[start:], items[start:], strict=True)
    left[start:] = [n for n, old in changed if n is old or n.message.blocks or role_of(n) == ASSISTANT]
    while left and role_of(left[-1]) == ASSISTANT:
        left.pop()
    return left


def answered(items: list[Item], start: int = 0) -> list[tuple[Block, int, int]]:
    """Calls from position ``start`` on with a result after them, as made: the call, its position, the result's."""
    late = list(enumerate(items[start:], start))
    result_at: dict[str, list[int]] = {}
    for position, item in late:
        for call_id in item.message.result_ids():
            result_at.setdefault(call_id, []).append(position)
    found: list[tuple[Block, int, int]] = []
    for position, item in late:
        for block in item.message.blocks:
            if block.kind is Kind.TOOL_USE and block.name != SPARED:
                later = next((at for at in result_at.get(block.call_id, ()) if at > position), None)
                if later is not None:
                    found.append((block, position, later))
    return found


def _without(view: View, item: Item, kind: Kind, call_id: str, *more: Block) -> Item:
    blocks = [block for block in item.message.blocks if block.kind is not kind or block.call_id != call_id]
    return view.tools.rewrite(item, [*blocks, *more])


EDIT = Policy(
    name="inspect_edit", label="Inspect edit",
    source="UKGovernmentBEIS/inspect_ai CompactionEdit 0.3.285",
    help="Removes old thinking and old tool results; every message stays.", estimator="inspect",
    params=EditParams, gate=gate, edit=clear,
    summary_calls=False, threshold_param="threshold", tier="differential",
)  # fmt: skip


def summarize(params: Threshold, view: View) -> list[Item]:
    """System messages, input and summary; summarised again while it does not fit."""

    def compact(items: list[Item]) -> list[Item]:
        system, given, conversation = partitioned(items)
        start = max((n for n, item in enumerate(conversation) if item.message.summary), default=0)
        return [*system, *given, *view.summarize(conversation[start:])]

    return repeated(params, view, compact)


SUMMARY = Policy(
    name="inspect_summary", label="Inspect summary",
    source="UKGovernmentBEIS/inspect_ai CompactionSummary 0.3.285",
    help="Summarises the whole conversation; system messages and the input stay.", estimator="inspect",
    params=Threshold, gate=gate, edit=summarize,
    threshold_param="threshold", tier="differential",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrimParams(Threshold):
    """When, and how much stays."""

    preserve: float = param(
        0.8, "Preserve", "Share of the conversation's messages that stays", "of messages", 0, 1, 0.01
    )


def trim(params: TrimParams, view: View) -> list[Item]:
    """The conversation without its oldest part, until it fits."""
    return repeated(params, view, lambda items: trimmed(params, view, items))


def trimmed(params: TrimParams, view: View, items: Sequence[Item]) -> list[Item]:
    """One pass."""
    system, given, conversation = partitioned(items)
    kept = conversation[int(len(conversation) * (1 - params.preserve)) :]
    left = _without_orphan_calls(view, _without_orphan_results(view, kept))
    if left and role_of(left[-1]) == ASSISTANT:
        left.pop()
    return [*system, *given, *left]


def _without_orphan_results(view: View, items: Sequence[Item]) -> list[Item]:
    active: frozenset[str] = frozenset()
    left: list[Item] = []
    for item in items:
        if role_of(item) != TOOL:
            active = item.message.call_ids() if role_of(item) == ASSISTANT else frozenset()
            left.append(item)
        elif item.message.result_ids() <= active:
            left.append(item)
        else:
            blocks = [b for b in item.message.blocks if b.kind is not Kind.TOOL_RESULT or b.call_id in active]
            if blocks:
                left.append(view.tools.rewrite(item, blocks))
    return left


def _without_orphan_calls(view: View, items: Sequence[Item]) -> list[Item]:
    answered = {call for item in items for call in item.message.result_ids()}
    left: list[Item] = []
    for item in items:
        if item.message.call_ids() <= answered:
            left.append(item)
            continue
        blocks = [b for b in item.message.blocks if b.kind is not Kind.TOOL_USE or b.call_id in answered]
        left.append(view.tools.rewrite(item, blocks))
    return left


TRIM = Policy(
    name="inspect_trim", label="Inspect trim",
    source="UKGovernmentBEIS/inspect_ai CompactionTrim 0.3.285",
    help="Drops the oldest fifth of the conversation, again until it fits.", estimator="inspect",
    params=TrimParams, gate=gate, edit=trim,
    summary_calls=False, threshold_param="threshold", tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip

POLICIES = (EDIT, SUMMARY, TRIM)
