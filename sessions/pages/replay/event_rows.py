"""The events of a replay as the lab lists them: layers, the room each made and what became of it, failed attempts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.quality.thrash import RAPID_REQUESTS, Refill, refills
from sessions.pages.ui.results import depends, gate_words, is_false_alarm

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Gate
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.replay import Replay
    from sessions.engine.replays.walk import Attempt
    from sessions.pages.ui.addresses import Urls
    from sessions.runs.losses import Losses
    from sessions.runs.replay_state import ReplayState

MOST_EVENTS = 60
MOST_ATTEMPTS = 20
MOST_KINDS = 3
STOPS = re.compile(r"request (\d+): ((?:breaker|thrash guard): .+); the policy stops$")


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of the list, ``number`` 0-based as in the JSON: its trigger, and what became of the room it made.

    ``false_tokens`` is what the context truly held where the trigger fired falsely; ``n_rules`` and ``n_gone`` are
    what it lost, ``n_broken`` at how many requests a lost rule was broken, ``depends`` says what only the summary's
    text could tell.
    """

    number: int
    request: int
    before: int
    after: int
    kept: int
    edited: int
    dropped: int
    inserted: int
    chosen: bool
    href: str
    gate: Gate
    fires: str
    refill: Refill
    thrashing: str
    false_tokens: int | None
    n_rules: int
    n_gone: int
    n_broken: int
    depends: str


@dataclass(frozen=True, slots=True)
class LayerLine:
    """What one layer of an event did: its gate in words, display tokens it freed."""

    label: str
    fires: str
    reason: str
    edited: int
    dropped: int
    inserted: int
    freed_tokens: int


@dataclass(frozen=True, slots=True)
class Room:
    """What became of the room of one event: the kinds of block that filled it with their tokens, largest first."""

    refill: Refill
    grown: tuple[tuple[str, int], ...]
    other_tokens: int
    thrashing: str
    label: str


@dataclass(frozen=True, slots=True)
class FailedEdits:
    """All failed attempts: the first with their layers and replays, how many, why the policy stopped, and where."""

    shown: tuple[tuple[Attempt, str, str], ...]
    n_failed: int
    n_calls: int
    stopped: str
    request: int | None


def event_rows(
    replay: Replay, number: int | None, urls: Urls, state: ReplayState, lost: Losses | None = None
) -> tuple[EventRow, ...]:
    """The events listed: all, or the sixty around the chosen one."""
    n = len(replay.events)
    start = min(max((number or 0) - MOST_EVENTS // 2, 0), max(n - MOST_EVENTS, 0))
    found = refills(replay)
    shown = range(start, min(start + MOST_EVENTS, n))
    return tuple(_row(replay, found[k], urls, state, lost, chosen=k == number) for k in shown)


def _row(
    replay: Replay, refill: Refill, urls: Urls, state: ReplayState, lost: Losses | None, *, chosen: bool
) -> EventRow:
    event = replay.events[refill.event]
    one = lost.of(event.index) if lost else None
    return EventRow(
        event.index, event.request, event.before_tokens, event.after_tokens, event.kept, event.edited, event.dropped,
        event.inserted, chosen, urls.to_replay(state, event=event.index, request=None), event.gate,
        gate_words(event.gate), refill, thrashing_words(refill),
        false_tokens=event.before_tokens if is_false_alarm(event, replay.window) else None,
        n_rules=len(one.rules) if one else 0,
        n_gone=one.n_gone if one else 0,
        n_broken=len(one.broken) if one else 0,
        depends=depends(one.n_open) if one else "",
    )  # fmt: skip


def thrashing_words(refill: Refill) -> str:
    """Why an event was futile, "" where it was not."""
    if not refill.futile:
        return ""
    if refill.headroom_tokens is not None and refill.headroom_tokens <= 0:
        return "Thrashing: still over the threshold"
    return f"Thrashing: full again within {RAPID_REQUESTS} requests"


def layer_lines(event: Event) -> tuple[LayerLine, ...]:
    """The layers that took effect; their freed tokens add up to before − after."""
    return tuple(
        LayerLine(
            layer.label or layer.name, gate_words(layer.gate), layer.gate.reason, layer.edited, layer.dropped,
            layer.inserted, layer.freed_tokens,
        )
        for layer in event.layers
    )  # fmt: skip


def room(replay: Replay, number: int) -> Room:
    """What became of the room that event ``number`` made."""
    refill = refills(replay)[number]
    kinds = [(kind, tokens) for kind, tokens in refill.regrew.items() if tokens]
    other_tokens = sum(tokens for _, tokens in kinds[MOST_KINDS:])
    return Room(
        refill, tuple(kinds[:MOST_KINDS]), other_tokens, thrashing_words(refill), str(replay.weighed.weak_label)
    )


def failures(replay: Replay, urls: Urls, state: ReplayState) -> FailedEdits | None:
    """The failed attempts, and whether they or thrashing stopped the policy; None where there is neither."""
    stop = next((found for text in replay.warnings if (found := STOPS.match(text))), None)
    if not replay.attempts and stop is None:
        return None
    labels = {layer.name: layer.label or layer.name for layer in replay.policy.pipeline}
    shown = tuple(
        (
            attempt, labels.get(attempt.layer, attempt.layer), urls.to_replay(state, request=attempt.request, at=None)
        )
        for attempt in replay.attempts[:MOST_ATTEMPTS]
    )  # fmt: skip
    n_calls = sum(attempt.summary_calls for attempt in replay.attempts)
    stopped, request = (stop[2], int(stop[1])) if stop else ("", None)
    return FailedEdits(shown, len(replay.attempts), n_calls, stopped, request)
