"""aider's chat-history summary: a small budget for finished turns (policies 11.5).

It is asked when a prompt starts the next turn.  Where the original summarises again, up to three levels deep, here is
one summary of everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart
from sessions.engine.policies.edits import marker
from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Policy, View, pair_safe_cut
from sessions.engine.transcript.types import Role

OK = "Ok."


@dataclass(frozen=True, slots=True)
class Params:
    """The budget's share and bounds."""

    share: int = when(16, "Window divided by", "The history's budget, within the bounds below", "", 1, 1_000)
    least: int = when(1_024, "Budget at least", "In a small window", "tokens", 0, 100_000)
    most: int = when(8_192, "Budget at most", "In a large window", "tokens", 1, 1_000_000, 512)
    min_split: int = param(4, "Shortest head, above", "With a shorter one all is summarised", "messages", 0, 100)


def budget(params: Params, window: int) -> int:
    """``max_input / 16`` between the bounds, rounded down."""
    return int(min(max(window / params.share, params.least), params.most))


def finished(items: list[Item]) -> int:
    """How many items belong to finished turns: all before the newest typed prompt."""
    return next((n for n in reversed(range(len(items))) if items[n].message.typed), 0)


def gate(params: Params, view: View) -> Gate:
    """The finished turns are over the budget; asked when a prompt starts a turn."""
    limit = budget(params, view.window)
    size = sum(item.size for item in view.items[: finished(view.items)]) if view.newest_typed else 0
    reason = "finished turns" if view.newest_typed else "asked when a turn starts"
    return Gate.over(size, limit, reason)


def split(params: Params, done: list[Item], limit: int) -> int:
    """Where the head ends: before the suffix under half the budget, at an assistant message; 0 where too short."""
    tail, cut = 0, len(done)
    while cut and tail + done[cut - 1].size < limit // 2:
        tail += done[cut - 1].size
        cut -= 1
    while cut > 1 and done[cut - 1].message.role is not Role.ASSISTANT:
        cut -= 1
    cut = pair_safe_cut(done, cut, len(done))
    return 0 if cut <= params.min_split else cut


def edit(params: Params, view: View) -> list[Item]:
    """Summary and "Ok.", the tail of the finished turns, the new prompt."""
    n = finished(view.items)
    system, done = apart(view.items[:n])
    limit = budget(params, view.window)
    ok = Draft(OK, marker(OK).n_tokens, OK, role="assistant")
    cut = split(params, done, limit)
    if cut:
        made = view.summarize(done[:cut], (ok,))
        if sum(item.size for item in (*made, *done[cut:])) < limit:
            return [*system, *made, *done[cut:], *view.items[n:]]
    return [*system, *view.summarize(done, (ok,)), *view.items[n:]]


POLICY = Policy(
    name="aider", label="aider chat-history summary",
    source="Aider-AI/aider history.py, models.py: budget max_input / 16 between 1,024 and 8,192 tokens",
    help="Keeps finished turns within a small budget: summarises the older ones when a new prompt comes.",
    estimator="aider",
    params=Params, gate=gate, edit=edit,
    threshold_param="most", tier="preset",
)  # fmt: skip
