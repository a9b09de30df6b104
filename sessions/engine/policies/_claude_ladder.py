"""Claude Code's threshold ladder (policies 4.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

from sessions.engine.policies._lists import used
from sessions.engine.policies.policy import Gate, View
from sessions.engine.tokens.estimators._counts import half_up

DEFAULT_MAX_OUTPUT = 32_000
LEAST_WINDOW, MOST_WINDOW = 100_000, 1_000_000
"""What a window set by hand is clamped to, in tokens."""
PRECOMPUTE_PERCENT = 20
REAL, WRITTEN = "real", "written"
"""The output that is counted: what the reply had, or what the transcript says of it."""


class Ladder(NamedTuple):
    """Thresholds in tokens: levels are reached at or above them."""

    effective: int
    warn: int
    compact: int
    blocked: int

    @property
    def precompute(self) -> int:
        """Where newer clients start background work: a fifth of the effective window under it, or at compact."""
        return min(self.effective - half_up(self.effective * PRECOMPUTE_PERCENT, 100), self.compact)


def ladder(params: Any, window: int, max_output: int) -> Ladder:
    """The levels for a model's window and maximum output, in tokens (policies 4.1)."""
    reserve = max_output if params.output_reserve_cap is None else min(max_output, params.output_reserve_cap)
    cap = window - reserve
    if params.auto_compact_window is not None:
        window = min(max(LEAST_WINDOW, min(params.auto_compact_window, MOST_WINDOW)), window)
    effective = window - reserve
    compact = effective - params.buffer
    if params.pct_override is not None:
        compact = min(effective * params.pct_override // 100, compact)
    warned = compact if params.auto == "on" else effective
    return Ladder(effective, warned - params.warn_buffer, compact, cap - params.blocked_buffer)


def ladder_of(params: Any, view: View) -> Ladder:
    """The ladder for a view: the model's maximum output, 32,000 where it is unknown."""
    max_output = params.max_output
    if max_output is None:
        max_output = view.model.max_output or DEFAULT_MAX_OUTPUT
    return ladder(params, view.window, max_output)


def percent_left(steps: Ladder, measure: int, *, auto: bool = True) -> int:
    """``max(0, round((T − used)/T·100))``, halves up; T is the compact level, or the effective window without it."""
    most = steps.compact if auto else steps.effective
    return max(0, half_up((most - measure) * 100, most)) if most > 0 else 0


def counted(params: Any, view: View) -> int:
    """Used tokens: the last usage with its output and what came after, by version (policies 4.11)."""
    if view.usage is None:
        return used(view, overhead=False)
    usage = view.usage
    output = usage.output if usage.written is None or params.output == REAL else usage.written
    return usage.input + output + (usage.tail if params.tail == "on" else 0)


def ladder_gate(params: Any, view: View) -> Gate:
    """The levels in the order of policies 4.1; without usage the messages alone are counted.

    What the client itself counted stands where that falls short of it.
    """
    steps = ladder_of(params, view)
    measure = counted(params, view)
    is_told = view.told is not None and measure < min(view.told, steps.compact)
    if view.told is not None and is_told:
        measure = view.told
    level = "ok"
    for name, limit in (("blocked", steps.blocked), ("compact", steps.compact), ("warn", steps.warn)):
        if measure >= limit and (name != "compact" or params.auto == "on"):
            level = name
            break
    fires = level in {"blocked", "compact"} and params.auto == "on"
    reason = "used tokens against the auto-compact threshold"
    if level != "ok":
        reason += f"; {percent_left(steps, measure, auto=params.auto == 'on')}% left"
    elif measure >= steps.precompute and params.auto == "on":
        reason += "; newer clients start the summary in the background"
    if is_told:
        reason += "; as the client itself counted, for its newest message is not in the file"
    return Gate(fires, reason, measure, min(steps.compact, steps.blocked), ">=", "tokens", level, is_told)
