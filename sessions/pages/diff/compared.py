"""Which two message lists a diff sets against each other: those of an event, of two requests, or of two replays."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from sessions.engine.base.words import no_compaction
from sessions.engine.policies.policy import Item
from sessions.engine.replays.events import Event
from sessions.engine.replays.lists import items_at
from sessions.engine.replays.replay import Replay
from sessions.engine.transcript.types import Label
from sessions.pages.ui import figures
from sessions.pages.ui.results import gate_words, weakest_label
from sessions.runs import replays
from sessions.runs.replay_state import ReplayState


@dataclass(frozen=True, slots=True)
class Heading:
    """What is compared in words: ``heads`` of both lists, and why (``fires``, ``reason``) under the word ``why``."""

    title: str
    heads: tuple[str, str]
    why: str
    fires: str
    reason: str


@dataclass(frozen=True, slots=True)
class ListPair:
    """Two lists: ``first`` and ``second`` are the replays they come from.

    ``event`` is None where the comparison is not of one.  Tokens are display tokens with overhead.
    """

    before: tuple[Item, ...]
    after: tuple[Item, ...]
    first: Replay
    second: Replay
    event: Event | None
    request: int
    heading: Heading
    tokens_before: int
    tokens_after: int
    label: str
    error: str = ""


def compared(session_id: str, state: ReplayState, b: ReplayState | None = None) -> ListPair | None:
    """What the state asks for, event 0 unless it says otherwise; None where nothing was sent or no event is there."""
    ran = replays.run(session_id, state)
    if not ran.replay.weighed.steps:
        return None
    if b is not None:
        return _of_two(ran.replay, replays.run(session_id, b).replay, state, ran.error)
    if state.between is not None:
        return _between(ran.replay, state.between, ran.error)
    if not ran.replay.events:
        return None
    wanted = state.event or 0
    number = min(wanted, len(ran.replay.events) - 1)
    error = ran.error
    if wanted != number:
        error = f"{no_compaction(wanted, len(ran.replay.events))}. Compaction {number + 1:,} is shown."
    return _of_event(ran.replay, number, error)


def _of_event(replay: Replay, number: int, error: str) -> ListPair:
    event = replay.events[number]
    return ListPair(
        event.before, event.after, replay, replay, event, event.request,
        Heading(
            f"compaction {number + 1}, request {event.request:,}",
            (f"what request {event.request:,} would have sent", f"what {replay.policy.label} sends"),
            "Why it fired", gate_words(event.gate), event.gate.reason,
        ),
        tokens_before=event.before_tokens, tokens_after=event.after_tokens,
        label=str(replay.labels[event.request] or Label.ESTIMATED), error=error,
    )  # fmt: skip


def _between(replay: Replay, between: tuple[int, int], error: str) -> ListPair:
    places = [_nearest(replay, request) for request in between]
    if tuple(places) != between:
        error = (
            f"This branch has no request {between[0]:,} or {between[1]:,}: {places[0]:,} and {places[1]:,} are shown."
        )
    events = [event for event in replay.events if min(places) < event.request <= max(places)]
    tokens = [replay.context_tokens[place] or 0 for place in places]
    said = f"{figures.plural(len(events), 'compaction')} between"
    return ListPair(
        items_at(replay, places[0]), items_at(replay, places[1]), replay, replay, None, places[1],
        Heading(
            f"requests {places[0]:,} and {places[1]:,}",
            (f"sent at request {places[0]:,}", f"sent at request {places[1]:,}"),
            "Between them", said, "inserted: what arrived meanwhile, and what the policy wrote",
        ),
        tokens_before=tokens[0], tokens_after=tokens[1],
        label=weakest_label([replay.labels[place] for place in places]),
        error=error,
    )  # fmt: skip


def _of_two(a: Replay, b: Replay, state: ReplayState, error: str) -> ListPair:
    wanted = state.request or 0
    place = _nearest(a, wanted)
    if place != wanted:
        error = f"This branch has no request {wanted:,}: {place:,} is shown."
    return ListPair(
        items_at(a, place), items_at(b, place), a, b, None, place,
        Heading(
            f"A against B at request {place:,}",
            (f"A: what {a.policy.name} sends", f"B: what {b.policy.name} sends"),
            "Two replays", f"{_events(a, place)} and {_events(b, place)} events by then",
            "dropped: in A alone; inserted: in B alone",
        ),
        tokens_before=a.context_tokens[place] or 0, tokens_after=b.context_tokens[place] or 0,
        label=weakest_label([a.labels[place], b.labels[place]]),
        error=error,
    )  # fmt: skip


def _events(replay: Replay, request: int) -> int:
    return sum(event.request <= request for event in replay.events)


def _nearest(replay: Replay, request: int) -> int:
    steps = replay.weighed.steps
    return steps[max(bisect_right(steps, request, key=lambda step: step.request) - 1, 0)].request
