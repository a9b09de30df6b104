"""What became of the room that each compaction made: how far it got, how soon it was gone, and what filled it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.replay import Replay

RAPID_REQUESTS = 3
"""Claude Code counts a compaction less than three turns after the last as a rapid refill (policies 4.10)."""


@dataclass(frozen=True, slots=True)
class Refill:
    """One event's room.

    ``floor_tokens`` is the context it left; ``headroom_tokens`` what is left from there to its own threshold, negative
    where the gate is still on, None where the gate does not measure tokens.  ``requests_until_next`` is None for the
    last event.  ``regrew`` are tokens by kind of block that entered until the next event, or to the end, without what
    a recorded compaction made.  ``futile``: it took messages out, and the gate was still on or the next event came
    within three requests.
    """

    event: int
    floor_tokens: int
    headroom_tokens: int | None
    requests_until_next: int | None
    regrew: dict[str, int]
    futile: bool


def refills(replay: Replay) -> tuple[Refill, ...]:
    """One entry for every event of a replay, in order."""
    return tuple(_refill(replay, event, regrew) for event, regrew in zip(replay.events, _regrown(replay), strict=True))


def n_futile(replay: Replay) -> int:
    """How many events of a replay made no room."""
    return sum(_refill(replay, event, {}).futile for event in replay.events)


def _refill(replay: Replay, event: Event, regrew: dict[str, int]) -> Refill:
    following = replay.events[event.index + 1] if event.index + 1 < len(replay.events) else None
    until = None if following is None else following.request - event.request
    headroom = event.gate.threshold - event.after_tokens if event.gate.unit == "tokens" else None
    rapid = until is not None and until < RAPID_REQUESTS
    futile = event.dropped > 0 and (rapid or (headroom is not None and headroom <= 0))
    return Refill(event.index, event.after_tokens, headroom, until, regrew, futile)


def _regrown(replay: Replay) -> list[dict[str, int]]:
    """Tokens by kind of what entered after each event, up to the next one's request, largest first."""
    weighed, steps = replay.weighed, replay.weighed.steps
    places = [bisect_left(steps, event.request, key=lambda step: step.request) for event in replay.events]
    found: list[dict[str, int]] = []
    ends = [*places[1:], len(steps) - 1]
    for place, following in zip(places, ends, strict=False):  # no events, no place for the last end
        start, stop = steps[place].stop, steps[following].stop
        kinds = {kind: sums[stop] - sums[start] for kind, sums in weighed.kind_sums.items()}
        entered = ((kind, tokens) for kind, tokens in kinds.items() if tokens)
        found.append(dict(sorted(entered, key=lambda pair: (-pair[1], pair[0]))))
    return found


def thrash_document(replay: Replay) -> dict[str, Any]:
    """``thrash`` of ``ctxweb.replay/1``: how many events were futile, the shortest interval, every event's refill."""
    found = refills(replay)
    gaps = [r.requests_until_next for r in found if r.requests_until_next is not None]
    return {
        "futile": sum(refill.futile for refill in found),
        "shortest_interval": min(gaps, default=None),
        "events": [asdict(refill) for refill in found],
    }
