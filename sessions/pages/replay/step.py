"""One request of a replay: the list as sent, what of it a cache still holds, what the policy has changed so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions.engine.base import registry
from sessions.engine.policies.policy import Item
from sessions.engine.replays.context import common_prefix
from sessions.engine.replays.lists import entered_at, items_at
from sessions.engine.replays.replay import Replay
from sessions.engine.transcript.speaker import speaker
from sessions.engine.weigh.sizes import message_size
from sessions.pages.ui.addresses import Choice, Urls, session_urls
from sessions.pages.ui.folding import SYMBOLS
from sessions.pages.ui.results import gate_words
from sessions.runs.overview import bytes_label, kinds_of
from sessions.runs.replay_state import ReplayState

PAGE = 50
WIDE = 1_000
"""Width of the drawing that marks the events over the scrubber."""


@dataclass(frozen=True, slots=True)
class DroppedRun:
    """Messages that stood here and were dropped: how many, what they weighed, the first and last by index."""

    n: int
    tokens: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """One message as sent: ``op`` is what the policy has done to it so far, ``gap`` what was dropped before it."""

    position: str
    op: str
    number: str
    role: str
    kinds: tuple[str, ...]
    preview: str
    mono: bool
    tokens: int
    label: str
    n_bytes: int
    cached: bool
    last_cached: bool
    href: str
    gap: DroppedRun | None

    @property
    def symbol(self) -> str:
        """The sign beside the colour."""
        return SYMBOLS[self.op]


@dataclass(frozen=True, slots=True)
class StepView:
    """Everything that ``sessions/replay/_step.html`` shows; rows only where ``opened``."""

    request: int
    first: int
    last: int
    opened: bool
    before_href: str
    after_href: str
    close_href: str
    open_href: str
    marks: tuple[str, ...]
    context_tokens: int
    label: str
    cached_tokens: int
    fresh_tokens: int
    overhead: int
    overhead_label: str
    event: int | None
    event_here: bool
    event_href: str
    gate: str
    gate_fires: bool
    n_messages: int = 0
    n_kept: int = 0
    n_edited: int = 0
    n_inserted: int = 0
    n_dropped: int = 0
    dropped_tokens: int = 0
    n_cached: int = 0
    rows: tuple[StepRow, ...] = ()
    tail: DroppedRun | None = None
    pages: tuple[Choice, ...] = ()
    bytes_label: str = ""
    weak_label: str = ""


def build_step(session_id: str, replay: Replay, state: ReplayState, request: int | None) -> StepView | None:
    """The step at ``request`` (the nearest one before it on the branch); None where nothing was sent."""
    steps = replay.weighed.steps
    if not steps:
        return None
    urls = session_urls(session_id)
    place = max(bisect_right(steps, request or 0, key=lambda step: step.request) - 1, 0)
    here = steps[place].request
    tokens, cached = replay.sent.tokens[place], replay.sent.cached[place]
    first, last = steps[0].request, steps[-1].request
    event = next((e for e in reversed(replay.events) if e.request <= here), None)
    gate = replay.gates[here]
    scale = WIDE / max(last - first, 1)
    places = {round(scale * (event.request - first)) for event in replay.events}  # those on one spot are one mark
    bar = StepView(
        request=here, first=first, last=last, opened=state.request is not None,
        before_href=urls.to_replay(state, request=steps[max(place - 1, 0)].request, at=None),
        after_href=urls.to_replay(state, request=steps[min(place + 1, len(steps) - 1)].request, at=None),
        close_href=urls.to_replay(state, request=None, at=None),
        open_href=urls.to_replay(state, request=here, at=None),
        marks=tuple(str(x) for x in sorted(places)),
        context_tokens=tokens, label=str(replay.labels[here]), cached_tokens=cached,
        fresh_tokens=tokens - cached, overhead=replay.weighed.overhead,
        overhead_label=str(replay.weighed.overhead_label),
        event=event.index if event else None, event_here=bool(event and event.request == here),
        event_href=urls.to_diff(state, event=event.index, request=None, at=None) if event else "",
        gate=gate_words(gate) if gate else "", gate_fires=bool(gate and gate.fires),
    )  # fmt: skip
    return _listed(bar, replay, state, urls, place) if bar.opened else bar


def _listed(bar: StepView, made: Replay, state: ReplayState, urls: Urls, place: int) -> StepView:
    """The bar with the page of the list that the state asks for: the newest messages unless it says otherwise."""
    items = items_at(made, bar.request)
    before = items_at(made, made.weighed.steps[place - 1].request) if place else ()
    n_cached = common_prefix(before, items)
    gaps, n_dropped, dropped_tokens = _gaps(entered_at(made, bar.request), items)
    newest = max(len(items) - 1, 0) // PAGE * PAGE
    start = newest if state.at is None else min(state.at, newest)
    shown = range(start, min(start + PAGE, len(items)))
    n_inserted = sum(item.inserted for item in items)
    n_edited = sum(item.edited and not item.inserted for item in items)
    return replace(
        bar,
        n_messages=len(items), n_inserted=n_inserted, n_edited=n_edited,
        n_kept=len(items) - n_inserted - n_edited, n_dropped=n_dropped, dropped_tokens=dropped_tokens,
        n_cached=n_cached,
        rows=tuple(_row(made, items[at], at, urls, n_cached=n_cached, gap=gaps.get(at)) for at in shown),
        tail=gaps.get(len(items)) if not items or shown.stop == len(items) else None,
        pages=_pages(len(items), start, state, urls, bar.request),
        bytes_label=bytes_label(made.weighed.transcript.format),
        weak_label=str(made.weighed.weak_label),
    )  # fmt: skip


def _gaps(entered: Sequence[Item], items: Sequence[Item]) -> tuple[dict[int, DroppedRun], int, int]:
    """Dropped messages by the position in ``items`` that they stood before; how many in all, their tokens."""
    places = {item.id: position for position, item in enumerate(items)}
    gaps: dict[int, DroppedRun] = {}
    run: list[Item] = []
    n = n_dropped = 0
    for item in (*entered, None):
        if item is not None and item.id not in places:
            run.append(item)
            n, n_dropped = n + 1, n_dropped + item.tokens
        elif run:
            before = len(items) if item is None else places[item.id]
            n_tokens = sum(gone.tokens for gone in run)
            gaps[before] = DroppedRun(len(run), n_tokens, run[0].message.index, run[-1].message.index)
            run = []
    return gaps, n, n_dropped


def _row(replay: Replay, item: Item, at: int, urls: Urls, *, n_cached: int, gap: DroppedRun | None) -> StepRow:
    weighed, message = replay.weighed, item.message
    op = "inserted" if item.inserted else "edited" if item.edited else "kept"
    weak = item.inserted or item.edited or message.index < 0
    label = weighed.weak_label if weak else weighed.labels[message.index]
    return StepRow(
        str(at), op,
        number=item.id if item.inserted or message.index < 0 else str(message.index),
        role=speaker(message),
        kinds=kinds_of(message),
        preview=message.preview,
        mono=not message.typed and not item.inserted and message.role.value == "user",
        tokens=item.tokens,
        label=str(label),
        n_bytes=message_size(message, registry.get("estimators", "wire_bytes"), weighed.model),
        cached=at < n_cached,
        last_cached=at == n_cached - 1,
        href=urls.to_message(message.index if message.index >= 0 else None),
        gap=gap,
    )  # fmt: skip


def _pages(n: int, start: int, state: ReplayState, urls: Urls, request: int) -> tuple[Choice, ...]:
    """Older and newer pages, and both ends, where the list is longer than a page."""
    if n <= PAGE:
        return ()
    newest = (n - 1) // PAGE * PAGE
    wanted = (("First", 0), ("Older", max(start - PAGE, 0)), ("Newer", min(start + PAGE, newest)), ("Newest", newest))
    return tuple(Choice(words, urls.to_replay(state, request=request, at=at), at == start) for words, at in wanted)
