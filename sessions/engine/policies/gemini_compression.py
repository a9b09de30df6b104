"""Gemini CLI's chat compression: the older 70% of the history becomes a snapshot (policies 7.1).

google-gemini/gemini-cli ``packages/core/src/context/chatCompressionService.ts`` (0.61.0; the trigger was 0.7 of the
limit in older releases).  Fires when the prompt tokens last reported are ≥ 0.5 × the limit.

1. Newest first, once tool responses are over 50,000 tokens together, every one that does not fit the rest is cut to
   20% of its start and 80% of its end, 40,000 characters in all; shorter ones stay.
2. Split where the JSON before it is ≥ 70%: at the first such user message that is no tool response.  Without one:
   everything, where the history ends with a reply without calls, else at the last user message before.  Nothing before
   the split: nothing happens.
3. Two calls, write and verify; the new history is the snapshot, a fixed reply, and the rest as cut.
4. More tokens than before: it failed, the history stays, and from then on step 1 alone is done.

What is about to be sent is not in the history yet and stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from sessions.engine.policies._gemini import json_length, n_history, quarter_tokens
from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies._roles import ASSISTANT, TOOL, USER, has_calls, role_of, tool_names
from sessions.engine.policies.edits import cut_text, marker, result_chars
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import Draft, EditFailed, Gate, Policy, View
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.policies.policy import Edited, Item

ACK = "Got it. Thanks for the additional context!"
CUT_FRAME = (
    "Output too large. Showing first {:,} and last {:,} characters. For full output see: {}\n\n\n... [{:,} characters "
    "omitted] ...\n\n"
)
PATH = "/tmp/gemini/tool-outputs/a-tool-output.txt"  # noqa: S108 - its length alone is used


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Trigger, split and the budget of tool responses."""

    threshold: float = when(
        0.5, "Threshold", "Share of the limit; 0.7 in older releases", "of the window", 0.0001, 1, 0.01
    )
    preserve: float = param(0.3, "Preserve", "Share of the history that stays", "of the history", 0.01, 0.99, 0.01)
    response_budget: int = param(
        50_000, "Budget of tool responses", "Newest ones stay whole within it", "tokens", 0, 10_000_000, 1_000
    )
    response_chars: int = param(
        40_000, "Cut responses to", "What of a response over the budget stays", "characters", 100, 10_000_000, 1_000
    )


def split(lengths: Sequence[int], kinds: Sequence[str], fraction: float, *, all_safe: bool) -> int:
    """How many messages are compressed; ``kinds`` are roles, ``all_safe``: the last is a reply without calls."""
    target, before, last = sum(lengths) * fraction, 0, 0
    for position, (length, kind) in enumerate(zip(lengths, kinds, strict=True)):
        if kind == USER:
            if before >= target:
                return position
            last = position
        before += length
    return len(lengths) if all_safe else last


def used(view: View) -> int:
    """Prompt tokens last reported; without usage the list's estimate."""
    return view.size + view.overhead if view.usage is None else view.usage.input


def least(params: Params, window: int) -> int:
    """The share of the limit, in whole tokens that reach it."""
    return ceil(params.threshold * window)


def gate(params: Params, view: View) -> Gate:
    """The last prompt at or over the share of the limit, and something to compress."""
    limit = least(params, view.window)
    fires = used(view) >= limit and n_history(view.items) > 0
    if fires and not view.state.memory.get("inflated"):
        fires = _splits(view)
    return Gate(fires, "prompt tokens last reported", used(view), limit, ">=", "tokens")


def edit(params: Params, view: View) -> Edited:
    """Snapshot, reply and rest; responses alone after a compression that inflated."""
    n = n_history(view.items)
    history = _cut_history(params, view)
    if view.state.memory.get("inflated"):
        if _tokens(history) >= used(view):
            raise EditFailed("cut tool responses do not make it smaller")
        return {p: new for p, new in enumerate(history) if new is not view.items[p]}
    position = _split(params, history)
    ack = Draft(ACK, marker(ACK).n_tokens, ACK, role=ASSISTANT)
    made = [*view.summarize(history[:position], (ack,), calls=2), *history[position:]]
    if _tokens(made) > used(view):
        view.state.memory["inflated"] = True
        raise EditFailed("compression inflated the history")
    return [*made, *view.items[n:]]


def _splits(view: View) -> bool:
    """Whether a split has anything before it: the history may end there, or a later message is the user's.

    Cutting responses changes no role; what was looked through for a user's message is not looked through again.
    """
    n = n_history(view.items)
    if not has_calls(view.items[n - 1]):
        return True
    start = max(1, looked_at(view, "no_user_before"))
    found = next((p for p in range(start, n) if role_of(view.items[p]) == USER), n)
    looked(view, "no_user_before", found)
    return found < n


def _split(params: Params, history: Sequence[Item]) -> int:
    names = tool_names(history)
    last = history[-1]
    safe = role_of(last) == ASSISTANT and not has_calls(last)
    lengths = [json_length(item, names) for item in history]
    return split(lengths, [role_of(item) for item in history], 1 - params.preserve, all_safe=safe)


def _tokens(items: Sequence[Item]) -> int:
    names: Mapping[str, str] = tool_names(items)
    return sum(quarter_tokens(block, names) for item in items for block in item.message.blocks) // 4


def _cut_history(params: Params, view: View) -> list[Item]:
    """The history, tool responses beyond the budget cut."""
    history = view.items[: n_history(view.items)]
    counted = 0
    for position in reversed(range(len(history))):
        item = history[position]
        if role_of(item) != TOOL:
            continue
        blocks = list(item.message.blocks)
        for at in reversed(range(len(blocks))):
            if blocks[at].kind is not Kind.TOOL_RESULT:
                continue
            n_chars = result_chars(blocks[at])
            if counted + n_chars // 4 > params.response_budget and n_chars > params.response_chars:
                head = int(params.response_chars * 0.2)
                kept = params.response_chars
                frame = CUT_FRAME.format(head, kept - head, PATH, n_chars - kept)
                blocks[at] = cut_text(blocks[at], kept, frame)
                n_chars = kept + len(frame)
            counted += n_chars // 4
        if blocks != list(item.message.blocks):
            history[position] = view.tools.rewrite(item, blocks)
    return history


POLICY = Policy(
    name="gemini_compression", label="Gemini CLI compression",
    source="google-gemini/gemini-cli chatCompressionService 0.61.0",
    help="At half of the limit, the older 70% of the history becomes a snapshot.", estimator="gemini_cli",
    params=Params, gate=gate, edit=edit,
    threshold_param="threshold", tier="differential",
)  # fmt: skip
