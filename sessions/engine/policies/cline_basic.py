"""Cline SDK, basic compaction: deterministic, without a model call (policies 11.2).

cline/cline ``sdk/packages/core/src/extensions/context/basic-compaction.ts`` (21cb8d25, 2026-08-22); also what Cline
falls back on after an overflow.  All typed prompts stay, older ones without their attachments; of the newest turn the
newest messages that fit, from an assistant message on; of older turns their last answer without tools, newest first,
while it fits; a notice (tool activity, the last three assistant texts) stands for the rest.

What the notice weighs is a parameter.  That "survivors are frozen" is read as: they stay unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sessions.engine.policies import _cline
from sessions.engine.policies._lists import apart, has_tools, only_whole, prompts
from sessions.engine.policies.edits import drop_media
from sessions.engine.policies.params import Told, choice, param
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTICE = "[Earlier work was removed: tool activity and the last assistant texts]"


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Budget, trigger and target."""

    max_input_tokens: int | None = _cline.budget_param()
    trigger: int = _cline.trigger_param()
    when: str = choice(
        ("trigger", "overflow"), "Runs", "At the trigger, or only after the provider refused", group="when"
    )
    target: int = _cline.target_param()
    notice_tokens: int = param(
        300, "The notice weighs", "Tool activity and three texts; not established", "tokens", 0, 10_000
    )


def gate(params: Params, view: View) -> Gate:
    """Estimate of the request ≥ the trigger, or the request is over the window."""
    if params.when == "overflow":
        return Gate(view.rejected, "the provider refuses: over the window", view.context, view.window, ">", "tokens")
    return _cline.gate(view, params.max_input_tokens, params.trigger)


def survivors(items: Sequence[Item], budget: int) -> set[int]:
    """Positions of what stays within ``budget`` tokens; prompts stay whatever they weigh."""
    starts = prompts(items)
    kept = set(starts)
    left = budget - sum(items[position].size for position in starts)
    latest = starts[-1] if starts else -1
    tail, run = len(items), 0
    for position in reversed(range(latest + 1, len(items))):
        run += items[position].size
        if run > left:
            break
        if items[position].message.role is Role.ASSISTANT:
            tail = position
    kept |= set(range(tail, len(items)))
    left -= sum(items[position].size for position in range(tail, len(items)))
    for start, end in reversed(list(pairwise(starts))):
        answer = next((p for p in reversed(range(start + 1, end)) if _is_answer(items[p])), None)
        if answer is not None and items[answer].size <= left:
            kept.add(answer)
            left -= items[answer].size
    return only_whole(items, kept)


def _is_answer(item: Item) -> bool:
    if item.message.role is not Role.ASSISTANT or has_tools(item):
        return False
    return any(block.kind is Kind.TEXT for block in item.message.blocks)


def edit(params: Params, view: View) -> list[Item]:
    """What survives, old attachments dropped, and the notice before the newest turn's messages."""
    system, rest = apart(view.items)
    most = _cline.max_input(params.max_input_tokens, view.window)
    goal = _cline.target(view, most, params.trigger, params.target) - view.overhead - params.notice_tokens
    kept = survivors(rest, goal)
    if len(kept) == len(rest):
        return list(view.items)
    latest = (prompts(rest) or [-1])[-1]
    notice = view.tools.draft(Draft(NOTICE, params.notice_tokens))
    old = [drop_media(view, rest[p], "[attachment removed]") for p in sorted(kept) if p < latest]
    prompt = [rest[latest]] if latest in kept else []
    return [*system, *old, *prompt, notice, *(rest[p] for p in sorted(kept) if p > latest)]


POLICY = Policy(
    name="cline_basic", label="Cline, basic",
    source="cline/cline sdk/packages/core/src/extensions/context/basic-compaction.ts (21cb8d25, 2026-08-22)",
    help="Keeps prompts, the newest messages and old answers that fit; a notice stands for the rest; no model call.",
    estimator="cline",
    params=Params, layers=(Layer("basic", "Basic compaction", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="trigger", tier="golden",
)  # fmt: skip
