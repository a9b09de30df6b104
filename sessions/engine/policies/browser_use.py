"""browser-use: a memory of the older steps (policies 11.16); an item is a reply with its results."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Policy, View, pair_safe_cut
from sessions.engine.transcript.types import Role

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Params:
    """How often, from what size, and what stays."""

    steps: int = when(25, "Steps since the last one", "At least so many requests", "requests", 1, 10_000)
    chars: int = when(40_000, "Characters of history", "And at least so many characters", "chars", 0, 10_000_000, 1_000)
    keep_last: int = param(6, "Last steps kept", "Each a reply with its results", "replies", 1, 1_000)
    summary_chars: int = param(
        6_000, "Summary at most", "A longer one is cut", "chars", 0, 1_000_000, 500, group="summary"
    )


def gate(params: Params, view: View) -> Gate:
    """Steps since the last one ≥ 25 and characters ≥ 40,000; reports what is still missing, else the characters."""
    steps = view.state.requests_since_event
    if steps < params.steps:
        return Gate(False, "steps since the last compaction", steps, params.steps, ">=", "requests")
    return Gate.at_least(view.size, params.chars, "characters of history", "chars")


def edit(params: Params, view: View) -> list[Item]:
    """First item, memory, last items."""
    system, rest = apart(view.items)
    replies = [n for n, item in enumerate(rest) if item.message.role is Role.ASSISTANT]
    cut = pair_safe_cut(rest, (replies[-params.keep_last :] or [0])[0])
    if not any(not item.inserted for item in rest[1:cut]):
        raise EditFailed("nothing between the first and the last items")
    made = view.summarize(rest[1:cut], most=params.summary_chars // CHARS_PER_TOKEN)
    return [*system, rest[0], *made, *rest[cut:]]


POLICY = Policy(
    name="browser_use", label="browser-use memory",
    source="browser-use agent/message_manager/service.py, 2026-08: every 25 steps, from 40,000 characters on",
    help="Turns all but the first and the last six steps into a short memory, every 25 steps.", estimator="chars",
    params=Params, gate=gate, edit=edit,
    threshold_param="chars", tier="preset",
)  # fmt: skip
