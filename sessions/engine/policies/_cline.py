"""What Cline's compactions share: budget, trigger, target (policies 11.2).

cline/cline ``sdk/packages/core/src/extensions/context`` (21cb8d25, 2026-08-22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import Gate

if TYPE_CHECKING:
    from sessions.engine.policies.policy import View

MANY_PAIRS = 5


def budget_param() -> Any:
    """The tokens of input that a model is given at most."""
    return when(None, "Input budget", "None: nine tenths of the window", "tokens", 1_000, 2_000_000, 1_000)


def trigger_param() -> Any:
    """The share of the budget at which a compaction runs."""
    return when(90, "Trigger, at or above", "Share of the input budget", "%", 1, 100)


def target_param() -> Any:
    """The share of the trigger that a compaction goes down to."""
    return param(70, "Target", "Share of the trigger", "%", 1, 100)


def max_input(given: int | None, window: int) -> int:
    """``min(given, window)`` tokens, else nine tenths of the window."""
    return window * 9 // 10 if given is None else min(given, window)


def trigger(most: int, percent: int) -> int:
    """The least whole number of tokens at or above ``percent`` of the budget."""
    return -(-most * percent // 100)


def target(view: View, most: int, trigger_percent: int, target_percent: int) -> int:
    """Seven tenths of the trigger; half of the budget with five pairs and more on a model known to be smaller."""
    if len(view.results) >= MANY_PAIRS and view.model.known and view.model.window < most:
        return most // 2
    return trigger(most, trigger_percent) * target_percent // 100


def gate(view: View, given: int | None, percent: int) -> Gate:
    """Estimate of the request (messages, system prompt and tools) ≥ the trigger."""
    limit = trigger(max_input(given, view.window), percent)
    measure = view.size + view.overhead
    return Gate(measure >= limit, "estimate of the request", measure, limit, ">=", "tokens")
