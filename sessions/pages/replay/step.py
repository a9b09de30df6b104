"""One request of a replay: the list as sent, what of it a cache still holds, what the policy has changed so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

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


class DroppedRun:
    """Messages that stood here and were dropped: how many, what they weighed, the first and last by index."""

    def __init__(self, run: Sequence[Item]) -> None:
        self.n, self.tokens = len(run), sum(gone.tokens for gone in run)
        self.first, self.last = run[0].message.index, run[-1].message.index


class StepRow:
    """One message as sent: ``op`` is what the policy has done to it so far, ``gap`` what was dropped before it."""

    def __init__(
        self, replay: Replay, item: Item, at: int, urls: Urls, *, n_cached: int, gap: DroppedRun | None
    ) -> None:
        weighed, message = replay.weighed, item.message
        self.position, self.gap = str(at), gap
        self.op = "inserted" if item.inserted else "edited" if item.edited else "kept"
        self.symbol = SYMBOLS[self.op]
        self.number = item.id if item.inserted or message.index < 0 else str(message.index)
        self.role, self.kinds, self.preview = speaker(message), kinds_of(message), message.preview
        self.mono = not message.typed and not item.inserted and message.role.value == "user"
        weak = item.inserted or item.edited or message.index < 0
        self.tokens, self.label = item.tokens, str(weighed.weak_label if weak else weighed.labels[message.index])
        self.n_bytes = message_size(message, registry.get("estimators", "wire_bytes"), weighed.model)
        self.cached, self.last_cached = at < n_cached, at == n_cached - 1
        self.href = urls.to_message(message.index if message.index >= 0 else None)


class StepView:
    """Everything that ``sessions/replay/_step.html`` shows of one request; rows only where ``opened``."""

    def __init__(self, urls: Urls, replay: Replay, state: ReplayState, place: int) -> None:
        steps, weighed = replay.weighed.steps, replay.weighed
        self.request = here = steps[place].request
        self.first, self.last, self.opened = steps[0].request, steps[-1].request, state.request is not None
        self.before_href = urls.to_replay(state, request=steps[max(place - 1, 0)].request, at=None)
        self.after_href = urls.to_replay(state, request=steps[min(place + 1, len(steps) - 1)].request, at=None)
        self.close_href = urls.to_replay(state, request=None, at=None)
        self.open_href = urls.to_replay(state, request=here, at=None)
        scale = WIDE / max(self.last - self.first, 1)
        places = {round(scale * (event.request - self.first)) for event in replay.events}
        self.marks = [str(x) for x in sorted(places)]  # those on one spot are one mark
        self.context_tokens, self.cached_tokens = replay.sent.tokens[place], replay.sent.cached[place]
        self.fresh_tokens, self.label = self.context_tokens - self.cached_tokens, str(replay.labels[here])
        self.overhead, self.overhead_label = weighed.overhead, str(weighed.overhead_label)
        event = next((e for e in reversed(replay.events) if e.request <= here), None)
        self.event, self.event_here = event.index if event else None, bool(event and event.request == here)
        self.event_href = urls.to_diff(state, event=event.index, request=None, at=None) if event else ""
        gate = replay.gates[here]
        self.gate, self.gate_fires = gate_words(gate) if gate else "", bool(gate and gate.fires)
        if self.opened:
            self._list(urls, replay, state, place)

    def _list(self, urls: Urls, made: Replay, state: ReplayState, place: int) -> None:
        """The page of the list that the state asks for: the newest messages unless it says otherwise."""
        items = items_at(made, self.request)
        before = items_at(made, made.weighed.steps[place - 1].request) if place else ()
        self.n_messages, self.n_cached = len(items), common_prefix(before, items)
        gaps, self.n_dropped, self.dropped_tokens = _gaps(entered_at(made, self.request), items)
        newest = max(len(items) - 1, 0) // PAGE * PAGE
        start = newest if state.at is None else min(state.at, newest)
        shown = range(start, min(start + PAGE, len(items)))
        self.n_inserted = sum(item.inserted for item in items)
        self.n_edited = sum(item.edited and not item.inserted for item in items)
        self.n_kept = len(items) - self.n_inserted - self.n_edited
        self.rows = [StepRow(made, items[at], at, urls, n_cached=self.n_cached, gap=gaps.get(at)) for at in shown]
        self.tail = gaps.get(len(items)) if not items or shown.stop == len(items) else None
        self.pages = _pages(len(items), start, state, urls, self.request)
        self.bytes_label = bytes_label(made.weighed.transcript.format)
        self.weak_label = str(made.weighed.weak_label)


def build_step(session_id: str, replay: Replay, state: ReplayState, request: int | None) -> StepView | None:
    """The step at ``request`` (the nearest one before it on the branch); None where nothing was sent."""
    steps = replay.weighed.steps
    place = max(bisect_right(steps, request or 0, key=lambda step: step.request) - 1, 0)
    return StepView(session_urls(session_id), replay, state, place) if steps else None


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
            gaps[before] = DroppedRun(run)
            run = []
    return gaps, n, n_dropped


def _pages(n: int, start: int, state: ReplayState, urls: Urls, request: int) -> tuple[Choice, ...]:
    """Older and newer pages, and both ends, where the list is longer than a page."""
    if n <= PAGE:
        return ()
    newest = (n - 1) // PAGE * PAGE
    wanted = (("First", 0), ("Older", max(start - PAGE, 0)), ("Newer", min(start + PAGE, newest)), ("Newest", newest))
    return tuple(Choice(words, urls.to_replay(state, request=request, at=at), at == start) for words, at in wanted)
