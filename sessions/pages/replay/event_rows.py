"""The events of a replay as the lab lists them: layers, the room each made and what became of it, failed attempts."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.quality.thrash import RAPID_REQUESTS, refills
from sessions.pages.ui.results import depends, gate_words, is_false_alarm

if TYPE_CHECKING:
    from sessions.engine.quality.thrash import Refill
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.replay import Replay
    from sessions.pages.ui.addresses import Urls
    from sessions.runs.losses import Losses
    from sessions.runs.replay_state import ReplayState

MOST_EVENTS = 60
MOST_ATTEMPTS = 20
MOST_KINDS = 3
STOPS = re.compile(r"request (\d+): ((?:breaker|thrash guard): .+); the policy stops$")


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of the list, ``number`` 0-based as in the JSON; ``until_next`` requests and ``headroom_tokens`` as in
    ``thrash.Refill``.  ``false_tokens`` is what the context truly held where the trigger fired falsely; ``n_rules`` and
    ``n_gone`` are what it lost, ``n_broken`` at how many requests
    a lost rule was broken, ``depends`` says what only the summary's text could tell.
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
    diff_href: str
    measure: int
    unit: str
    fires: str
    reason: str
    until_next: int | None
    headroom_tokens: int | None
    futile: str
    false_tokens: int | None = None
    n_rules: int = 0
    n_gone: int = 0
    n_broken: int = 0
    depends: str = ""

    @property
    def shown(self) -> int:
        """Its number as people read it, from 1."""
        return self.number + 1


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
class KindGrowth:
    """Tokens of one kind of block that entered after an event."""

    kind: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Room:
    """What became of the room of one event: floor and headroom in tokens, what filled it, largest first."""

    floor_tokens: int
    headroom_tokens: int | None
    until_next: int | None
    grown: tuple[KindGrowth, ...]
    other_tokens: int
    futile: str
    label: str


@dataclass(frozen=True, slots=True)
class FailedEdit:
    """A failed attempt: at which request, which layer's, why, and how many summary calls it made in vain."""

    request: int
    layer: str
    reason: str
    n_calls: int
    href: str


@dataclass(frozen=True, slots=True)
class FailedEdits:
    """All failed attempts: the first of them, how many there are, why the policy stopped ("" where it did
    not) and at which request."""

    shown: tuple[FailedEdit, ...]
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
    rows = (_row(replay.events[k], found[k], urls, state, chosen=k == number) for k in shown)
    return tuple(_with_losses(row, replay, lost) for row in rows)


def _with_losses(row: EventRow, replay: Replay, lost: Losses | None) -> EventRow:
    """The row with what its compaction lost, and whether it was a false alarm."""
    event, one = replay.events[row.number], lost.of(row.number) if lost else None
    false = event.before_tokens if is_false_alarm(event, replay.window) else None
    if one is None:
        return dataclasses.replace(row, false_tokens=false)
    return dataclasses.replace(
        row,
        false_tokens=false,
        n_rules=len(one.rules),
        n_gone=one.n_gone,
        n_broken=len(one.broken),
        depends=depends(one.n_open),
    )


def _row(event: Event, refill: Refill, urls: Urls, state: ReplayState, *, chosen: bool) -> EventRow:
    return EventRow(
        event.index, event.request, event.before_tokens, event.after_tokens, event.kept, event.edited, event.dropped,
        event.inserted, chosen,
        href=urls.to_replay(state, event=event.index, request=None),
        diff_href=urls.to_diff(state, event=event.index, request=None, rows=None, between=None),
        measure=event.gate.measure,
        unit=event.gate.unit,
        fires=gate_words(event.gate),
        reason=event.gate.reason,
        until_next=refill.requests_until_next,
        headroom_tokens=refill.headroom_tokens,
        futile=futile_words(refill),
    )  # fmt: skip


def futile_words(refill: Refill) -> str:
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
    kinds = [KindGrowth(kind, tokens) for kind, tokens in refill.regrew.items() if tokens]
    return Room(
        refill.floor_tokens, refill.headroom_tokens, refill.requests_until_next, tuple(kinds[:MOST_KINDS]),
        sum(kind.tokens for kind in kinds[MOST_KINDS:]), futile_words(refill), str(replay.weighed.weak_label),
    )  # fmt: skip


def failures(replay: Replay, urls: Urls, state: ReplayState) -> FailedEdits | None:
    """The failed attempts, and whether they or thrashing stopped the policy; None where there is neither."""
    stop = next((found for text in replay.warnings if (found := STOPS.match(text))), None)
    if not replay.attempts and stop is None:
        return None
    labels = {layer.name: layer.label or layer.name for layer in replay.policy.pipeline}
    shown = tuple(
        FailedEdit(
            attempt.request, labels.get(attempt.layer, attempt.layer), attempt.reason, attempt.summary_calls,
            urls.to_replay(state, request=attempt.request, at=None),
        )
        for attempt in replay.attempts[:MOST_ATTEMPTS]
    )  # fmt: skip
    n_calls = sum(attempt.summary_calls for attempt in replay.attempts)
    return FailedEdits(
        shown, len(replay.attempts), n_calls, stop[2] if stop else "", int(stop[1]) if stop else None
    )  # fmt: skip
