"""Claude Code: a part of the conversation is summarised by hand, from or up to a prompt (policies 4.9).

Its internals are known from third-party analyses only.  From a prompt on: what is before stays, and with it the cached
prefix.  Up to a prompt: what is before becomes the summary, the rest stays.  It happens between turns, when the user
asks for it: at a request given, else when the ladder of auto-compaction says compact.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._claude_attached import attachments, budget_param, cut_param, described, max_files_param
from sessions.engine.policies._claude_ladder import ladder_gate
from sessions.engine.policies._lists import apart, prompts
from sessions.engine.policies.claude_code import Params as Ladder
from sessions.engine.policies.params import Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View, pair_safe_cut

LADDER = Ladder()


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Where the pivot is, and when the user asks."""

    direction: str = choice(("up_to", "from"), "Summarise", "Up to the pivot, or from it on (what is before stays)")
    turns: int = param(2, "Pivot", "This many turns from the end; the prompt being asked is not one", "turns", 1, 1_000)
    at: int | None = when(
        None, "At request", "The first turn's start at or after it; none: when the ladder says compact",
        "request", 0, 1_000_000,
    )  # fmt: skip
    max_files: int = max_files_param()
    file_tokens: int = cut_param("file", "Each file is cut to this")
    files_budget: int = budget_param(50_000, "files", "All re-attached files together")
    skill_tokens: int = cut_param("skill", "Each invoked skill is cut to this")
    skills_budget: int = budget_param(25_000, "skills", "All invoked skills together")


def gate(params: Params, view: View) -> Gate:
    """Between turns, with a pivot: at the request asked for, once, or when the ladder says compact."""
    if params.at is None:
        asked = ladder_gate(LADDER, view)
    else:
        due = view.request >= params.at and not view.state.n_events
        asked = Gate(due, "asked for by hand", view.request, params.at, ">=", "request")
    if asked.fires and not (view.newest_typed and _pivot(params, apart(view.items)[1][:-1])):
        return asked._replace(fires=False, reason=f"{asked.reason}; waiting for a turn's end")
    return asked


def _pivot(params: Params, body: list[Item]) -> int:
    """Position of the pivot in the list without the live prompt; 0 where there is none."""
    starts = prompts(body)
    return pair_safe_cut(body, starts[-params.turns], starts[-params.turns]) if len(starts) >= params.turns else 0


def edit(params: Params, view: View) -> list[Item]:
    """The summary in place of one side of the pivot; the live prompt stays last."""
    system, rest = apart(view.items)
    body, live = rest[:-1], rest[-1]
    cut = _pivot(params, body)
    dropped, kept = (body[cut:], body[:cut]) if params.direction == "from" else (body[:cut], body[cut:])
    made = view.summarize(described(view, dropped), attachments(params, dropped, kept), mode="nine")
    if params.direction == "from":
        return [*system, *kept, *made, live]
    return [*system, *made, *kept, live]


POLICY = Policy(
    name="claude_code_partial", label="Claude Code partial compaction",
    source="third-party analyses of Claude Code",
    help="Summarises the conversation from, or up to, one of its prompts, as a user may ask for by hand.",
    estimator="claude_code",
    params=Params, gate=gate, edit=edit,
    shares_prefix=True, tier="golden",
)  # fmt: skip
