"""Roo Code: condense, and where that fails hide half of the messages (policies 11.4).

The message also carries the command blocks of the first message, outlines of files read and, in an automatic run, the
environment: their sizes are not in a transcript and are left out.  Where half of a tool pair would be hidden, the other
half is hidden too.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart, only_whole, used
from sessions.engine.policies.params import PERCENT, Told, choice, param, when
from sessions.engine.policies.policy import Draft, EditFailed, Gate, Item, Policy, SummaryFailed, View

DEFAULT_RESERVED = 8_192


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Settings of a profile."""

    condense_percent: int = when(100, "Condense threshold", "Percent of the window, per profile", "%", 5, 100)
    max_tokens: int | None = when(None, "Reserved for the reply", "None: 8,192", "tokens", 0, 1_000_000, 1_024)
    buffer_percent: int = when(10, "Buffer", "Share of the window kept free", "%", 0, 100)
    auto_condense: str = choice(("on", "off"), "Condense", "Off: the sliding window alone", group="when")
    hide_percent: int = param(50, "Hide", "Of the visible messages after the first", *PERCENT)


def allowed(params: Params, window: int) -> int:
    """``window·0.9 − reserved`` tokens; 171,808 of 200,000."""
    reserved = params.max_tokens or DEFAULT_RESERVED
    return window * (100 - params.buffer_percent) // 100 - reserved


def gate(params: Params, view: View) -> Gate:
    """Tokens ≥ threshold % of the window, or > allowed: the lower of the two is shown."""
    measure, most = used(view), allowed(params, view.window)
    percent = -(-view.window * params.condense_percent // 100)
    if params.auto_condense == "on" and percent <= most:
        reason = f"{params.condense_percent}% of the window"
        return Gate.at_least(measure, percent, reason)
    return Gate.over(measure, most, "tokens allowed beside the reply")


def edit(params: Params, view: View) -> list[Item]:
    """Condense; where that is impossible and tokens are over what is allowed, slide."""
    system, rest = apart(view.items)
    problem = "condensing is off"
    if params.auto_condense == "on":
        last = max((n for n, item in enumerate(rest) if item.message.summary), default=-1)
        if len(rest) - last - 1 > 1:
            try:
                return [*system, *view.summarize(rest)]
            except SummaryFailed as failure:
                problem = str(failure)
        else:
            problem = "at most one message since the last summary"
    if used(view) <= allowed(params, view.window):
        raise EditFailed(problem)
    return [*system, *slide(params, view, rest)]


def slide(params: Params, view: View, rest: list[Item]) -> list[Item]:
    """Hide ``floor((visible − 1)·0.5)``, rounded down to even, after the first visible message."""
    visible = [n for n, item in enumerate(rest) if not item.inserted or item.message.summary]
    n_hidden = (len(visible) - 1) * params.hide_percent // 100
    n_hidden -= n_hidden % 2
    if n_hidden <= 0:
        return rest
    hidden = set(visible[1 : n_hidden + 1])
    kept = only_whole(rest, set(range(len(rest))) - hidden)
    boundary = visible[n_hidden + 1] if n_hidden + 1 < len(visible) else len(rest)
    text = f"[Sliding window truncation: {n_hidden} messages hidden to reduce context]"
    marker = view.tools.draft(Draft(text, 14, text))
    before = [rest[n] for n in sorted(kept) if n < boundary]
    return [*before, marker, *(rest[n] for n in sorted(kept) if n >= boundary)]


POLICY = Policy(
    name="roo_code", label="Roo Code",
    source="RooCodeInc/Roo-Code src/core/context-management/index.ts, condense/index.ts (2026-04-14)",
    help="One summary replaces everything near the window; failing that, half of the messages are hidden.",
    estimator="roo",
    params=Params, gate=gate, edit=edit,
    threshold_param="condense_percent", tier="golden",
)  # fmt: skip
