"""The model, and its window in tokens, that a point was held against in a session that changed its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import thresholds, writer_of
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.context_windows import ModelWindow


def held_at(
    weighed: Weighed, position: int, figure: int, windows: Mapping[str, ModelWindow], *, own: bool = False
) -> ModelWindow:
    """What a gate held ``figure`` tokens against, before the request of step ``position``.

    ``windows`` are those of every model of the session.  After a change to a smaller window the gate knows the new one
    (policies 6.1), unless the old one's threshold was reached anyway; before a change to a larger one it had the old.
    ``own``: of the request itself, whatever came before it.
    """
    names = [_name(weighed, position - 1), _name(weighed, position)]
    if own or not names[0]:
        names = names[1:]
    before, *after = [windows[name] for name in names if name] or [windows[""]]
    if not after or after[0].window >= before.window:
        return before
    known = thresholds(writer_of(weighed.transcript), before.window, before.model)
    lowest = min((one.tokens for one in known), default=before.window)
    return before if figure >= lowest else after[0]._replace(before=names[0])


def narrowed(weighed: Weighed, position: int) -> tuple[int, int] | None:
    """The recorded windows, as the agent takes them, of the last answer and after it; None where it is no smaller."""
    now, steps = weighed.transcript.window, weighed.steps
    before = weighed.transcript.requests[steps[-1].request].window if steps and position >= len(steps) else 0
    if not now or before <= now:
        return None
    agent = writer_of(weighed.transcript)
    return agent.own_window(before), agent.own_window(now)


def differ(one: str, other: str) -> bool:
    """Whether both are named and are two models, whatever gateway stands before a name."""
    return bool(one and other) and one.rsplit("/", maxsplit=1)[-1] != other.rsplit("/", maxsplit=1)[-1]


def _name(weighed: Weighed, position: int) -> str:
    """The model of a step's request, "" outside the session or where it is not recorded."""
    if not 0 <= position < len(weighed.steps):
        return ""
    return weighed.transcript.requests[weighed.steps[position].request].model
