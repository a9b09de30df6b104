"""What OpenHands' condensers share: a limit in events, what is kept at the start (policies 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import Gate

if TYPE_CHECKING:
    from sessions.engine.policies.policy import View


def max_size_param(default: int) -> Any:
    """The number of events over which a condenser acts."""
    return when(default, "Events, over", "An event is a message of the list", "events", 2, 100_000)


def keep_first_param(default: int) -> Any:
    """How many events at the start are never forgotten; under half of the limit less one."""
    return param(default, "Keep first", "Events at the start that stay", "events", 0, 10_000)


def events_gate(params: Any, view: View) -> Gate:
    """More events than the limit."""
    n = len(view.items)
    return Gate(n > params.max_size, "events in the view", n, params.max_size, ">", "events")
