"""Where the measured context fell and nothing says why (verdicts 3.29), or only a server's room (verdicts 3.33)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sessions.engine.transcript.recorded_events import CUTS, EventKind
from sessions.engine.transcript.types import Request, Transcript
from sessions.engine.weigh.calibration.growth import JUMP_FLOOR, Step
from sessions.engine.weigh.calibration.weighed import Weighed

SHARE = 4
"""A fall is told where it takes one in so many tokens of the context, or more."""
FULL = 2
"""A prompt can have been cut where one in so many tokens of the server's room, or more, were taken before it."""


class Fall(NamedTuple):
    """The context fell between two measured requests; ``restarted``: the client was started again there.

    ``cleared``: the record begins the conversation anew there.  ``settings`` is what a server says of its room that cut
    the prompt.
    """

    request: int
    before: int
    after: int
    restarted: bool = False
    settings: str = ""
    cleared: bool = False

    @property
    def point(self) -> str:
        """What happened, and where."""
        return f"The context fell from {self.before:,} to {self.after:,} at request {self.request:,}"

    @property
    def because(self) -> str:
        """What the file tells of why."""
        if self.settings:
            return f"the prompt had grown, but {self.settings}"
        if self.cleared:
            return "the conversation was cleared and begun anew there"
        return "the client was started again there" if self.restarted else "nothing in the file says why"


def falls_of(weighed: Weighed, spikes: frozenset[int]) -> tuple[Fall, ...]:
    """Falls of a quarter or more that last, in order; ``spikes`` are the requests whose usage cannot be right."""
    requests, messages = weighed.transcript.requests, weighed.transcript.messages
    measured = [step for step in weighed.steps if requests[step.request].usage and step.request not in spikes]
    told, settings, room = _told(weighed.transcript), cutting_room(weighed.transcript), weighed.transcript.window or 0
    found = []
    for place, (one, step) in enumerate(pairwise(measured), 1):
        before, after = _context(requests[one.request]), _context(requests[step.request])
        fall = before - after
        if SHARE * fall < before:
            continue
        if step.afresh is not None:
            found.append(Fall(step.request, before, after, cleared=True))
            continue
        if _is_told(weighed, told, one, step):
            continue
        if settings and step.stop > one.stop and FULL * before >= (requests[one.request].window or room):
            found.append(Fall(step.request, before, after, settings=settings))
            continue
        if fall < JUMP_FLOOR or step.request not in weighed.shifts:
            continue
        lasts = any(_context(requests[later.request]) < before - fall // 2 for later in measured[place + 1 : place + 2])
        if lasts:
            restarted = any(message.resumed for message in messages[step.start : step.stop])
            found.append(Fall(step.request, before, after, restarted))
    return tuple(found)


def largest_fall(falls: Sequence[Fall]) -> Fall | None:
    """The one that is told; None without any."""
    return max(falls, key=lambda fall: fall.before - fall.after, default=None)


def falls_sentence(falls: Sequence[Fall]) -> str:
    """What is told of them in a sentence or two, "" without any."""
    largest = largest_fall(falls)
    if largest is None:
        return ""
    more = f" It fell by a quarter or more {len(falls):,} times." if len(falls) > 1 else ""
    return f"{largest.point}; {largest.because}.{more}"


def cutting_room(transcript: Transcript) -> str:
    """What a server says of its room that cuts a prompt without a word; "" where none does."""
    rooms = (event.words for event in transcript.events if event.kind == EventKind.SETTINGS and event.code == CUTS)
    return next(rooms, "")


def fall_document(fall: Fall) -> dict[str, Any]:
    """One entry of ``falls[]`` in ``ctxweb.why/1``, figures in tokens."""
    return {**fall._asdict(), "sentence": f"{fall.point}; {fall.because}."}


def _told(transcript: Transcript) -> frozenset[int]:
    """The requests before which something is recorded that makes a context smaller."""
    events = transcript.compactions, transcript.clearings, transcript.errors
    return frozenset(event.request for of_a_kind in events for event in of_a_kind)


def _is_told(weighed: Weighed, told: frozenset[int], one: Step, step: Step) -> bool:
    """Whether the file says why the context fell between two requests."""
    requests = weighed.transcript.requests
    between = range(one.request + 1, step.request + 1)
    other_model = requests[one.request].model != requests[step.request].model
    return other_model or not told.isdisjoint(between) or not all(requests[index].on_branch for index in between)


def _context(request: Request) -> int:
    return request.usage.context if request.usage else 0
