"""The message list that a replay sent at a request: what its newest event left, then what was added since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.policy import Item
from sessions.engine.replays.context import message_items
from sessions.engine.weigh.calibration.growth import standing_at

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay


def items_at(replay: Replay, request: int) -> tuple[Item, ...]:
    """The list sent at request ``request``, its tokens display tokens; a recorded base shows the recording's own lists.

    Raises BadParameter for a request that is not one of the replayed branch.
    """
    weighed = replay.weighed
    place = weighed.places.get(request)
    if place is None:
        raise BadParameter(f"no request {request} on this branch")
    items = message_items(weighed, registry.get("estimators", "wire_bytes"))
    if replay.base == "recorded":
        return tuple(_as_recorded(replay, place, items))
    event = next((e for e in reversed(replay.events) if e.request <= request), None)
    found = list(event.after) if event else []
    for step in weighed.steps[: place + 1]:
        if event is None or step.request > event.request:
            found += [item for item in items[step.start : step.stop] if item.message.index not in weighed.left_out]
    return tuple(found)


def entered_at(replay: Replay, request: int) -> tuple[Item, ...]:
    """Every message that has entered by request ``request``, as if nothing had ever been compacted."""
    weighed = replay.weighed
    items = message_items(weighed, registry.get("estimators", "wire_bytes"))
    stop = max((step.stop for step in weighed.steps if step.request <= request), default=0)
    if replay.base == "recorded" or not weighed.left_out:
        return tuple(items[:stop])
    return tuple(item for item in items[:stop] if item.message.index not in weighed.left_out)


def _as_recorded(replay: Replay, place: int, items: Sequence[Item]) -> list[Item]:
    """The recording's own list at a step: since it last began anew, with what was kept there."""
    found: list[Item] = []
    for step in replay.weighed.steps[: place + 1]:
        start = step.start
        if anew := standing_at(replay.weighed.transcript, step):
            start = anew.first
            found = [items[index] for index in anew.kept]
        found += items[start : step.stop]
    return found
