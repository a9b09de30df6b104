"""What OpenHands' condensers share: a limit in events, what is kept at the start (policies 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.params import param
from sessions.engine.policy import Gate

if TYPE_CHECKING:
    from sessions.engine.policy import View


def max_size_param(default: int) -> Any:
    """The number of events over which a condenser acts."""
    return param(
        default, label="Events, over", help="An event is a message of the list", unit="events", group="when", low=2,
        high=100_000,
    )  # fmt: skip


def keep_first_param(default: int) -> Any:
    """How many events at the start are never forgotten; under half of the limit less one."""
    return param(default, label="Keep first", help="Events at the start that stay", unit="events", low=0, high=10_000)


def events_gate(params: Any, view: View) -> Gate:
    """More events than the limit."""
    n = len(view.items)
    return Gate(n > params.max_size, "events in the view", n, params.max_size, ">", "events")
