"""Inspect CompactionSummary: the conversation becomes one summary (policies 11.12).

UKGovernmentBEIS/inspect_ai ``src/inspect_ai/model/_compaction/summary.py`` (0.3.285).  After it the list is the system
messages, the input and the summary, a user message.  The summary call sees system, input and the conversation from the
last summary on; where that is over the window less the output, its largest tool outputs are halved, up to 12 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._inspect import gate, partitioned, repeated, threshold_param, tokens_param
from sessions.engine.policies.params import Told
from sessions.engine.policies.policy import Policy

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params(Told):
    """When."""

    threshold: float = threshold_param()
    threshold_tokens: int | None = tokens_param()


def edit(params: Params, view: View) -> list[Item]:
    """System messages, input and summary; summarised again while it does not fit."""

    def compact(items: list[Item]) -> list[Item]:
        system, given, conversation = partitioned(items)
        start = max((n for n, item in enumerate(conversation) if item.message.summary), default=0)
        return [*system, *given, *view.summarize(conversation[start:])]

    return repeated(params, view, compact)


POLICY = Policy(
    name="inspect_summary", label="Inspect summary",
    source="UKGovernmentBEIS/inspect_ai CompactionSummary 0.3.285",
    help="Summarises the whole conversation; system messages and the input stay.", estimator="inspect",
    params=Params, gate=gate, edit=edit,
    threshold_param="threshold", tier="differential",
)  # fmt: skip
