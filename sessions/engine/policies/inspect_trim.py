"""Inspect CompactionTrim: the oldest fifth of the conversation goes (policies 11.12).

UKGovernmentBEIS/inspect_ai ``src/inspect_ai/model/_compaction/trim.py`` and ``_trim.py`` (0.3.285).  Of the messages
after the system messages and the input, the first ``int(n × (1 − preserve))`` go, in floating point as written: of 5
messages none at 0.8.  Then tool results whose call is not in the reply before them, calls without a result, and a reply
at the very end.  Citations and the contents of a memory tool are not in a replay's messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._inspect import gate, partitioned, repeated, threshold_param, tokens_param
from sessions.engine.policies._roles import ASSISTANT, TOOL, role_of
from sessions.engine.policies.params import Told, param
from sessions.engine.policies.policy import MAY_LOSE_THE_REQUEST, Policy
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policies.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params(Told):
    """When, and how much stays."""

    threshold: float = threshold_param()
    threshold_tokens: int | None = tokens_param()
    preserve: float = param(
        0.8, "Preserve", "Share of the conversation's messages that stays", "of messages", 0, 1, 0.01
    )


def edit(params: Params, view: View) -> list[Item]:
    """The conversation without its oldest part, until it fits."""
    return repeated(params, view, lambda items: trimmed(params, view, items))


def trimmed(params: Params, view: View, items: Sequence[Item]) -> list[Item]:
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


POLICY = Policy(
    name="inspect_trim", label="Inspect trim",
    source="UKGovernmentBEIS/inspect_ai CompactionTrim 0.3.285",
    help="Drops the oldest fifth of the conversation, again until it fits.", estimator="inspect",
    params=Params, gate=gate, edit=edit,
    summary_calls=False, threshold_param="threshold", tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip
