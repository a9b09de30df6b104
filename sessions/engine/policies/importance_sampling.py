"""Importance sampling: messages are scored, the best are kept, the rest goes without a summary (seeds 3.1).

The skill names what raises a score (paths, decisions, errors) and what lowers it (acknowledgements, redundancy), not
the weights: those here are ours and are parameters.  Equal scores: the later message is kept.  A kept tool call keeps
its result and a kept result its call, so somewhat more than ``keep_best`` may stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.extracting import DECISION, ERROR
from sessions.engine.params import param
from sessions.engine.policies._compression import Compression, gate, split
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Policy
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View

PATH = re.compile(r"(?:^|[\s\"'`(])[~.\w-]*/[\w./-]+|\b[\w-]+\.(?:py|ts|tsx|js|json|md|rs|go|java|c|h|toml|yaml|yml)\b")
ACKNOWLEDGEMENT = re.compile(
    r"^\W*(ok(ay)?|thanks?|thank you|sure|great|yes|no|done|got it|understood|perfect|continue)\b", re.IGNORECASE
)
SHORT_CHARS = 80
"""An acknowledgement is no longer than this."""


@dataclass(frozen=True, slots=True)
class Params(Compression):
    """How many of the best stay, and what a message is worth."""

    keep_best: int = param(10, label="Keep best", help="Messages kept by score", unit="messages", low=0, high=1_000)
    path_score: int = param(2, label="Names a path", unit="points", low=-10, high=10)
    decision_score: int = param(3, label="States a decision", unit="points", low=-10, high=10)
    error_score: int = param(3, label="Reports an error", unit="points", low=-10, high=10)
    acknowledgement_score: int = param(-2, label="Only acknowledges", unit="points", low=-10, high=10)
    redundancy_score: int = param(
        -2, label="Is read again later", help="A tool result whose file or command a later call names again",
        unit="points", low=-10, high=10,
    )  # fmt: skip


def edit(params: Params, view: View) -> list[Item]:
    """System messages, the best of the old ones in their order, and the last ``keep_last``."""
    system, old, tail = split(view.items, params.keep_last)
    repeated = _repeated([*old, *tail])
    scores = [score(params, item, view.tools.text(item), redundant=item.id in repeated) for item in old]
    best = sorted(range(len(old)), key=lambda n: (-scores[n], -n))[: params.keep_best]
    kept = _whole_pairs(old, set(best))
    if len(kept) == len(old):
        return list(view.items)
    return [*system, *(old[n] for n in sorted(kept)), *tail]


def score(params: Params, item: Item, text: str, *, redundant: bool) -> int:
    """Points of one message; an image or document has none of its own."""
    blocks = item.message.blocks
    points = params.path_score if any(b.target for b in blocks) or PATH.search(text[:20_000]) else 0
    if DECISION.search(text[:20_000]):
        points += params.decision_score
    if any(b.is_error for b in blocks) or ERROR.search(text[:2_000]):
        points += params.error_score
    if len(text.strip()) <= SHORT_CHARS and ACKNOWLEDGEMENT.search(text):
        points += params.acknowledgement_score
    return points + (params.redundancy_score if redundant else 0)


def _repeated(items: list[Item]) -> set[str]:
    """Ids of messages whose results are of a file or command that a later call names again."""
    target_of: dict[str, str] = {}
    last_call: dict[str, str] = {}
    for item in items:
        for block in item.message.blocks:
            if block.kind is Kind.TOOL_USE and block.target:
                target_of[block.call_id] = last_target = block.target
                last_call[last_target] = block.call_id
    return {
        item.id
        for item in items
        for block in item.message.blocks
        if block.kind is Kind.TOOL_RESULT and (target := target_of.get(block.call_id))
        if last_call[target] != block.call_id
    }


def _whole_pairs(items: list[Item], kept: set[int]) -> set[int]:
    """``kept`` and whatever their tool pairs need, until nothing is missing."""
    at: dict[str, list[int]] = {}
    for n, item in enumerate(items):
        for call in (*item.message.call_ids(), *item.message.result_ids()):
            at.setdefault(call, []).append(n)
    waiting = list(kept)
    while waiting:
        n = waiting.pop()
        for call in (*items[n].message.call_ids(), *items[n].message.result_ids()):
            fresh = [m for m in at[call] if m not in kept]
            kept.update(fresh)
            waiting += fresh
    return kept


POLICY = Policy(
    name="importance_sampling",
    label="Importance sampling",
    source="context-compression skill: importance sampling, the best 10 kept; the weights are ours",
    help="Keeps the messages that score best by paths, decisions and errors; drops the rest without a summary.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    summary_calls=False,
    threshold_param="trigger",
    tier="founding",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
