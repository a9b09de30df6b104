"""OpenHands V0 LLMSummarizingCondenser: the middle of the history becomes one summary (policies 9.1).

All-Hands-AI/OpenHands ``openhands/memory/condenser/impl/llm_summarizing_condenser.py`` (0.62.0).  Over ``max_size``
events: the first ``keep_first`` stay, then the summary, then the newest ``max_size // 2 − kept − 1``.  The earlier
summary is handed to the call apart from the events.  121 events with 120 and 4: 62 are forgotten, the view has 60.  A
tool pair that the cut splits leaves the request altogether, as unmatched calls do there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._openhands import events_gate, keep_first_param, max_size_param
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policy import Policy

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """Defaults of the default pipeline; the class alone has 100 and 1."""

    max_size: int = max_size_param(120)
    keep_first: int = keep_first_param(4)
    orphans: str = orphans_param()


def tail(max_size: int, n_head: int) -> int:
    """How many of the newest events stay; at least one."""
    return max(1, max_size // 2 - n_head - 1)


def edit(params: Params, view: View) -> list[Item]:
    """Head, summary, tail."""
    head = view.items[: params.keep_first]
    cut = max(len(head), len(view.items) - tail(params.max_size, len(head)))
    forgotten = [item for item in view.items[len(head) : cut] if not item.message.summary]
    after = [*head, *view.summarize(forgotten, mode="merge"), *view.items[cut:]]
    return mended(view, view.items, after) if params.orphans == "drop" else after


POLICY = Policy(
    name="openhands_llm_summarizing",
    label="OpenHands V0 summarizing",
    source="All-Hands-AI/OpenHands LLMSummarizingCondenser 0.62.0",
    help="Over a number of events, summarises all between the first few and the newest half.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=events_gate,
    edit=edit,
    threshold_param="max_size",
    tier="differential",
)
