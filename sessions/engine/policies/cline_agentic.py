"""Cline SDK, agentic compaction: a summary of all but the newest messages (policies 11.2).

cline/cline ``sdk/packages/core/src/extensions/context/agentic-compaction.ts`` and ``compaction-shared.ts`` (21cb8d25,
2026-08-22).  Opt-in there.  At nine tenths of the input budget the newest messages of min(20,000, target) tokens stay,
cut at an assistant message or a typed prompt and never past the newest prompt; an earlier summary is folded in; the
summary has at most 4,096 tokens.  Where nothing lies before the cut, nothing happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies import _cline
from sessions.engine.policies._lists import apart, prompts
from sessions.engine.policies._looked import has_later_prompt
from sessions.engine.policies.params import Told, param
from sessions.engine.policies.policy import Gate, Item, Policy, View, pair_safe_cut
from sessions.engine.transcript.types import Role

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Budget, trigger, target and what stays."""

    max_input_tokens: int | None = _cline.budget_param()
    trigger: int = _cline.trigger_param()
    target: int = _cline.target_param()
    preserve_recent_tokens: int = param(
        20_000, "Newest messages kept", "At most the target", "tokens", 0, 1_000_000, 500
    )
    summary_tokens: int = param(
        4_096, "Summary at most", "Of the model's output", "tokens", 1, 100_000, group="summary"
    )


def gate(params: Params, view: View) -> Gate:
    """Estimate of the request ≥ 0.9 of the budget, with something to summarise."""
    asked = _cline.gate(view, params.max_input_tokens, params.trigger)
    if asked.fires and not (has_later_prompt(view) and cut_at(params, view, apart(view.items)[1]) > 0):
        return asked._replace(fires=False, reason=f"{asked.reason}; nothing before the cut")
    return asked


def cut_at(params: Params, view: View, items: Sequence[Item]) -> int:
    """Where the kept messages start; 0 where nothing can be summarised."""
    starts = prompts(items)
    if not starts or not starts[-1]:
        return 0
    most = _cline.max_input(params.max_input_tokens, view.window)
    keep = min(params.preserve_recent_tokens, _cline.target(view, most, params.trigger, params.target))
    total, candidate = 0, len(items)
    while candidate and (total < keep or candidate == len(items)):
        candidate -= 1
        total += items[candidate].size
    cut = min(candidate, starts[-1])
    while cut > 0 and not (items[cut].message.typed or items[cut].message.role is Role.ASSISTANT):
        cut -= 1
    cut = pair_safe_cut(items, cut, cut)
    return cut if any(not item.message.summary for item in items[:cut]) else 0


def edit(params: Params, view: View) -> list[Item]:
    """The summary, then everything from the cut on."""
    system, rest = apart(view.items)
    cut = cut_at(params, view, rest)
    mode = "merge" if view.state.last_summary else "fresh"
    return [*system, *view.summarize(rest[:cut], mode=mode, most=params.summary_tokens), *rest[cut:]]


POLICY = Policy(
    name="cline_agentic", label="Cline, agentic",
    source="cline/cline sdk/packages/core/src/extensions/context/agentic-compaction.ts (21cb8d25, 2026-08-22)",
    help="Summarises all but the newest 20,000 tokens at nine tenths of the input budget.", estimator="cline",
    params=Params, gate=gate, edit=edit,
    threshold_param="trigger", tier="golden",
)  # fmt: skip
