"""The strategies of the context-compression skill: they share trigger, levels, window, what is kept (seeds 3.1, 3.2).

``importance_sampling``: the weights are ours and are parameters.  Equal scores: the later message is kept.  A kept tool
call keeps its result and a kept result its call, so somewhat more than ``keep_best`` may stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._lists import apart, used
from sessions.engine.policies._looked import messages_gate
from sessions.engine.policies.extracting import DECISION, ERROR
from sessions.engine.policies.parametric import capacity
from sessions.engine.policies.params import FEW_MESSAGES, PERCENT, POINTS, Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View, cut_to, pair_safe_cut
from sessions.engine.transcript.types import Kind

WARNING, CRITICAL = 60, 90
"""Levels beside the trigger in % of the capacity: said, not acted on (seeds 3.2)."""
MOST_CYCLES = 10
"""Compressions after which a new session is advised (seeds 3.2)."""


@dataclass(frozen=True, slots=True)
class Compression(Told):
    """Trigger and what is always kept; defaults of the skill."""

    trigger: int = when(70, "Trigger, at or above", "Share of the window at which the context is compressed", *PERCENT)
    min_messages: int = when(
        10, "Messages since the last one", "At least this many new messages before the next compression", *FEW_MESSAGES
    )
    capacity: str = choice(
        ("static", "effective"),
        "Share of",
        "The model's whole window, or the effective one: the window without the system overhead",
        group="when",
    )
    keep_last: int = param(5, "Keep last messages", "Always kept, whatever they weigh", "messages", 1, 1_000)


def gate(params: Compression, view: View) -> Gate:
    """In use ≥ trigger % of the capacity, and at least ``min_messages`` new messages since the last compression."""
    full = capacity(params, view)
    # The overhead is part of the static window and taken off both sides for the effective one.
    measure = used(view) - (view.overhead if params.capacity == "effective" else 0)
    limit = full * params.trigger // 100
    ready = view.state.messages_since_event >= params.min_messages
    reason = f"{params.trigger}% of the {params.capacity} window"
    if measure >= limit and not ready:
        reason += f"; waiting for {params.min_messages} new messages"
    if view.state.n_events >= MOST_CYCLES:
        reason += f"; {view.state.n_events} compressions so far: a new session is advised"
    return Gate(measure >= limit and ready, reason, measure, limit, ">=", "tokens", level(params, measure, full))


def level(params: Compression, measure: int, full: int) -> str:
    """The highest level reached, all at or above their share: critical, compact, warn, else ok."""
    shares = (("critical", CRITICAL), ("compact", params.trigger), ("warn", WARNING))
    return next((name for name, share in shares if measure >= full * share // 100), "ok")


def split(items: list[Item], keep_last: int) -> tuple[list[Item], list[Item], list[Item]]:
    """System messages, what may go, and the last ``keep_last`` messages; no tool pair is split."""
    system, rest = apart(items)
    cut = pair_safe_cut(rest, max(0, len(rest) - keep_last))
    return system, rest[:cut], rest[cut:]


def merged(params: Any, view: View) -> list[Item]:
    """What is neither the last summary nor among the last messages is merged into the summary."""
    system, old, tail = split(view.items, params.keep_last)
    anchor = {item.id for item in view.state.last_summary}
    new = [item for item in old if item.id not in anchor]
    if not new:
        return list(view.items)
    return [*system, *view.summarize(new, mode="merge"), *tail]


def summarised(params: Any, view: View, mode: str) -> list[Item]:
    """All but the last messages, the last summary among them, become one new summary."""
    system, old, tail = split(view.items, params.keep_last)
    return [*system, *view.summarize(old, mode=mode), *tail] if old else list(view.items)


REGENERATIVE = Policy(
    name="regenerative_full", label="Regenerative full summary",
    source="context-compression skill: regenerative full summary, 70 to 85% removed, partly verifiable",
    help="Writes a fresh summary of everything each time; what one summary leaves out, the next cannot know.",
    params=Compression, gate=gate, edit=partial(summarised, mode="fresh"),
    threshold_param="trigger", tier="founding",
)  # fmt: skip


OPAQUE = Policy(
    name="opaque", label="Opaque compression",
    source="context-compression skill: opaque compression, 95 to 99% removed, neither interpretable nor verifiable",
    help="Replaces everything before the last messages by one dense string that no reader can check.",
    params=Compression, gate=gate, edit=partial(summarised, mode="opaque"),
    threshold_param="trigger", tier="founding",
)  # fmt: skip


ANCHORED = Policy(
    name="anchored_iterative", label="Anchored iterative",
    source="context-compression skill: anchored iterative summarisation (recommended); trigger 70%, last 5 kept",
    help="Summarises only what is new and merges it into one anchored summary; the last messages stay as they are.",
    params=Compression, gate=gate, edit=merged,
    threshold_param="trigger", tier="founding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HybridParams:
    """When there are enough messages, and how many stay raw."""

    max_messages: int = when(
        20, "More than", "Messages in the list, system messages not counted", "messages", 1, 10_000
    )
    keep_last: int = param(5, "Window", "Last messages kept as they are", "messages", 1, 1_000)


HYBRID = Policy(
    name="hybrid", label="Hybrid: summary and window",
    source="context-compression skill: hybrid, anchored summary of all but the last 5 once there are more than 20",
    help="Keeps a window of raw messages behind an anchored summary of all others, by message count.",
    params=HybridParams, gate=messages_gate, edit=merged,
    threshold_param="max_messages", tier="founding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SlidingParams(Compression):
    """Trigger, target and what is always kept; defaults of the skill."""

    target: int = param(50, "Target after", "Oldest messages go until this share of the window is left", "%", 0, 100)
    max_messages: int | None = param(
        None, "Keep at most", "Keep just the last N messages (the skill suggests 20); none: no such cap",
        "messages", 1, 10_000,
    )  # fmt: skip


def sliding_edit(params: SlidingParams, view: View) -> list[Item]:
    """Drop the oldest until the target is met or only the last ``keep_last`` are left; never split a tool pair."""
    system, rest = apart(view.items)
    latest = max(0, len(rest) - params.keep_last)
    goal = capacity(params, view) * params.target // 100 - (view.overhead if params.capacity == "static" else 0)
    cut = cut_to(view, system, rest, latest, goal)
    if params.max_messages is not None:
        cut = min(latest, max(cut, len(rest) - params.max_messages))
    return [*system, *rest[pair_safe_cut(rest, cut, latest) :]]


SLIDING = Policy(
    name="sliding_window", label="Sliding window",
    source="context-compression skill: sliding window; trigger 70%, target 50%, last 5 kept, 10 new messages",
    help="Drops the oldest messages, without a summary, until the target is met.",
    params=SlidingParams, gate=gate, edit=sliding_edit,
    summary_calls=False, threshold_param="trigger", tier="founding",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip


PATH = re.compile(r"(?:^|[\s\"'`(])[~.\w-]*/[\w./-]+|\b[\w-]+\.(?:py|ts|tsx|js|json|md|rs|go|java|c|h|toml|yaml|yml)\b")
ACKNOWLEDGEMENT = re.compile(
    r"^\W*(ok(ay)?|thanks?|thank you|sure|great|yes|no|done|got it|understood|perfect|continue)\b", re.IGNORECASE
)
SHORT_CHARS = 80
"""An acknowledgement is no longer than this."""


@dataclass(frozen=True, slots=True)
class ImportanceParams(Compression):
    """How many of the best stay, and what a message is worth."""

    keep_best: int = param(10, "Keep best", "Messages kept by score", *FEW_MESSAGES)
    path_score: int = param(2, "Names a path", "Points of such a message", *POINTS)
    decision_score: int = param(3, "States a decision", "Points of such a message", *POINTS)
    error_score: int = param(3, "Reports an error", "Points of such a message", *POINTS)
    acknowledgement_score: int = param(-2, "Only acknowledges", "Points of such a message", *POINTS)
    redundancy_score: int = param(
        -2, "Is read again later", "A tool result whose file or command a later call names again", *POINTS
    )


def importance_edit(params: ImportanceParams, view: View) -> list[Item]:
    """System messages, the best of the old ones in their order, and the last ``keep_last``."""
    system, old, tail = split(view.items, params.keep_last)
    repeated = _repeated([*old, *tail])
    scores = [score(params, item, view.tools.text(item), redundant=item.id in repeated) for item in old]
    best = sorted(range(len(old)), key=lambda n: (-scores[n], -n))[: params.keep_best]
    kept = _whole_pairs(old, set(best))
    if len(kept) == len(old):
        return list(view.items)
    return [*system, *(old[n] for n in sorted(kept)), *tail]


def score(params: ImportanceParams, item: Item, text: str, *, redundant: bool) -> int:
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


IMPORTANCE = Policy(
    name="importance_sampling", label="Importance sampling",
    source="context-compression skill: importance sampling, the best 10 kept; the weights are ours",
    help="Keeps the messages that score best by paths, decisions and errors; drops the rest without a summary.",
    params=ImportanceParams, gate=gate, edit=importance_edit,
    summary_calls=False, threshold_param="trigger", tier="founding",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip

POLICIES = (REGENERATIVE, OPAQUE, ANCHORED, HYBRID, SLIDING, IMPORTANCE)
