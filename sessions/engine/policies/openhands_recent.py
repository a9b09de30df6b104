"""OpenHands V0 RecentEventsCondenser: the first and the newest events of the whole history (policies 9.1).

All-Hands-AI/OpenHands ``openhands/memory/condenser/impl/recent_events_condenser.py`` (0.62.0).  The first
``keep_first`` and the newest ``max_events − kept`` of all events, at every request anew.  With fewer events than that
the original sends the first ones twice; a replay does not.  With ``max_events`` no greater than ``keep_first`` its tail
is the whole history.  A tool pair that the cut splits leaves the request altogether, as unmatched calls do there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._client import client, shown
from sessions.engine.policies._openhands import keep_first_param
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """The limit of the configuration; the class alone has 10."""

    max_events: int = param(
        100, label="Events", help="At most so many are sent", unit="events", group="when", low=1, high=100_000
    )
    keep_first: int = keep_first_param(1)
    orphans: str = orphans_param()


def gate(params: Params, view: View) -> Gate:
    """More events than are sent."""
    n = len(client(view).items)
    fires = n > params.max_events > params.keep_first
    return Gate(fires, "events of the whole history", n, params.max_events, ">", "events")


def edit(params: Params, view: View) -> list[Item]:
    """Head and tail."""
    everything = client(view)
    held = everything.items
    head = held[: params.keep_first]
    after = [*head, *held[max(len(head), len(held) - (params.max_events - len(head))) :]]
    return shown(view, mended(view, everything.halves, after) if params.orphans == "drop" else after)


POLICY = Policy(
    name="openhands_recent",
    label="OpenHands V0 recent events",
    source="All-Hands-AI/OpenHands RecentEventsCondenser 0.62.0",
    help="Sends the first and the newest events.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("openhands_recent", "Recent events", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="max_events",
    tier="differential",
    caveats=(MAY_LOSE_THE_REQUEST,),
)
