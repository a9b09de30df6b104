"""Needed and lost: what is used after an event, and what became of it (decision "What counts as lost")."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.quality.index import Gap, Index
from sessions.engine.quality.references import Reference
from sessions.engine.quality.standing import MENTIONED, RE_ATTACHED, RETURNED, SUMMARY, VERBATIM, Standing
from sessions.engine.weigh.calibration.weighed import Weighed


@dataclass(frozen=True, slots=True)
class Need:
    """A reference that is used again after an event.

    ``source_message`` is the newest message before the event in which it stood, ``needed_at`` the reply that names it
    first afterwards, both message indices; ``needed_request`` is that reply's request, ``distance`` how many requests
    after the event that is (0: the first one).  ``how`` says where a mentioned one is: "summary", "re-attached" or
    "returned" by the user or a tool; "" otherwise.
    """

    id: int
    reference: Reference
    state: str
    how: str
    source_message: int
    needed_at: int
    needed_request: int
    distance: int


class Timeline:
    """When messages were sent: which request a message answers, and where a horizon ends.  Made once per session."""

    def __init__(self, weighed: Weighed) -> None:
        """``weighed`` is the session; only requests of its branch count."""
        transcript = weighed.transcript
        self.requests = [step.request for step in weighed.steps]
        self.order = {request: k for k, request in enumerate(self.requests)}
        self.replies = [transcript.requests[r].message for r in self.requests]
        self.n_messages = len(transcript.messages)
        self._starts = [(m, k) for k, m in enumerate(self.replies) if m is not None]
        self._messages = [m for m, _ in self._starts]

    def step_of(self, message: int) -> int:
        """Position, among the branch's requests, of the one whose reply ``message`` is part of."""
        at = bisect_right(self._messages, message) - 1
        return self._starts[at][1] if at >= 0 else 0

    def end_of(self, request: int, horizon: int | None) -> int:
        """The message before which the ``horizon`` requests from ``request`` on end; None: the session's end."""
        if horizon is None or request not in self.order:
            return self.n_messages
        last = self.order[request] + horizon
        return next((m for m in self.replies[last:] if m is not None), self.n_messages)


def needs_of(
    request: int, before: Standing, after: Standing, index: Index, timeline: Timeline, *, horizon: int | None = None
) -> tuple[Need, ...]:
    """Everything needed after the event at ``request`` within ``horizon`` requests (None: all), by first use."""
    start = before.newest
    stop = timeline.end_of(request, horizon)
    found: list[Need] = []
    for reference, first in _used(index, start, stop):
        places = index.places[reference]
        source = places[bisect_right(places, start) - 1]
        if not (before.has(index, reference) or reference in before.named):
            continue
        state, how = _state(index, after, reference, start, first)
        step = timeline.step_of(first)
        distance = step - timeline.order.get(request, step)
        found.append(
            Need(reference, index.references[reference], state, how, source, first, timeline.requests[step], distance)
        )
    return tuple(sorted(found, key=lambda need: (need.needed_at, need.id)))


def used_later(before: Standing, index: Index) -> list[Gap]:
    """What stands before a compaction and is used after it, to the end, without a tool saying it again first."""
    newest, held, told = before.newest, before.whole, before.named
    # In no order: this loop runs over a thousand gaps for every compaction while one tunes.
    return [
        gap
        for gap in index.gaps.near(newest)
        if gap.start <= newest < gap.stop
        and (gap.start in held or gap.reference in told or before.has(index, gap.reference))
    ]


def gone_of(used: Sequence[Gap], after: Standing, index: Index) -> list[tuple[int, int]]:
    """Of what is used later, what is gone (or open): the message of its first use, and its id, in order."""
    return sorted(
        (first, reference)
        for first, reference, place in used
        if place not in after.whole and reference not in after.named and not after.has(index, reference)
    )


def _used(index: Index, start: int, stop: int) -> list[tuple[int, int]]:
    """References that stood up to message ``start`` and are named before ``stop``, with the first message that does."""
    found: list[tuple[int, int]] = []
    for last, reference in index.used_again:
        if last <= start:
            break
        if index.places[reference][0] <= start:
            uses = index.uses[reference]
            first = uses[bisect_right(uses, start)]
            if first < stop:
                found.append((reference, first))
    return found


def _state(index: Index, after: Standing, reference: int, start: int, first: int) -> tuple[str, str]:
    if after.has(index, reference):
        return VERBATIM, ""
    mention = after.mentions(reference)
    if mention:
        return MENTIONED, SUMMARY if mention.is_summary else RE_ATTACHED
    given = index.given[reference]
    at = bisect_right(given, start)
    if at < len(given) and given[at] < first:
        return MENTIONED, RETURNED
    return after.missing, ""
