"""What the compactions of a replay lose, where one tunes: rules, and what is used later and gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import selectors
from sessions.adapters.cache import Cache
from sessions.engine.errors import UnreadableInput
from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.constraints import constraints_at
from sessions.engine.quality.doses import NOTHING as NOTHING_LIKELY
from sessions.engine.quality.needs import needs_of
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.standing import GONE, OPEN
from sessions.services import indexed
from sessions.services.prices import prices_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.events import Event
    from sessions.engine.extracting import Sketch
    from sessions.engine.quality.constraints import RuleFate
    from sessions.engine.quality.doses import Likely
    from sessions.engine.quality.needs import Need
    from sessions.engine.replay import Replay
    from sessions.engine.types import Message
    from sessions.models import Session

    Wording = Callable[[Callable[[Message], Sketch]], Mapping[str, str]]

KEPT = 24
AT_ONCE = 3_000
"""Messages of a session that is indexed while its page waits; a longer one is judged once its index is at hand."""
MOST_EVENTS = 60


@dataclass(frozen=True, slots=True)
class EventLoss:
    """One compaction: rules that it lost and that were not lost before, everything used later with its state.

    ``broken`` are the requests at which a lost rule is broken.  ``open_rules`` depend on a summary without text, and so
    does ``open``: neither is known to be lost.  ``likely`` are dropped results that may be fetched again.
    """

    number: int
    rules: tuple[RuleFate, ...]
    open_rules: tuple[RuleFate, ...]
    needs: tuple[Need, ...]
    broken: tuple[int, ...]
    likely: Likely = NOTHING_LIKELY

    @property
    def gone(self) -> tuple[Need, ...]:
        """What is used later and gone."""
        return tuple(need for need in self.needs if need.state == GONE)

    @property
    def open(self) -> tuple[Need, ...]:
        """What is used later and depends on a summary without text."""
        return tuple(need for need in self.needs if need.state == OPEN)

    @property
    def n_open(self) -> int:
        """Rules and things used later that depend on a summary without text."""
        return len(self.open_rules) + len(self.open)


@dataclass(frozen=True, slots=True)
class Losses:
    """Those of a list of compactions; ``n_left`` further ones are not judged."""

    events: tuple[EventLoss, ...]
    n_left: int = 0

    @property
    def n_rules(self) -> int:
        """Rules lost, each once."""
        return len({rule.text for event in self.events for rule in event.rules})

    @property
    def n_gone(self) -> int:
        """Things used later and gone, over all compactions."""
        return sum(len(event.gone) for event in self.events)

    @property
    def n_open(self) -> int:
        """Rules, each once, and things used later that depend on summaries without text."""
        rules = {rule.text for event in self.events for rule in event.open_rules}
        return len(rules) + sum(len(event.open) for event in self.events)

    def of(self, number: int) -> EventLoss | None:
        """The compaction of this number, from 0."""
        return next((event for event in self.events if event.number == number), None)


NOTHING = Losses(())
_cache: Cache[tuple[str, int], tuple[object, Losses]] = Cache(lambda held: len(held) > KEPT)


def is_ready(session: Session) -> bool:
    """Whether losses can be told without making the page wait for an index of a long session."""
    weighed = selectors.load_weighed(session.pk)
    return len(weighed.transcript.messages) <= AT_ONCE or indexed.is_indexed(session)


def of_replay(session: Session, replay: Replay) -> Losses | None:
    """What a replay loses; None where that is not at hand."""
    if not replay.events:
        return NOTHING
    return _kept(session, replay, lambda: list(enumerate(replay.events)), replay.wording)


def of_recording(session: Session) -> Losses | None:
    """What the recorded compactions lost; None where that is not at hand."""
    weighed = selectors.load_weighed(session.pk)
    return _kept(session, weighed, lambda: list(recorded_events(weighed)), lambda _sketch_of: {})


def _kept(
    session: Session, of: object, events: Callable[[], list[tuple[int, Event]]], wording: Wording
) -> Losses | None:
    """The answer for ``of``, worked out once while it is kept."""
    key = (session.pk, id(of))
    held = _cache.find(key)
    if held is not None and held[0] is of:
        return held[1]
    if not is_ready(session):
        return None
    try:
        assessor = Assessor(selectors.load_weighed(session.pk), indexed.index_of(session))
    except (UnreadableInput, OSError):
        return None
    return _cache.keep(key, (of, judged(assessor, events(), wording(assessor.index.sketch_of), MOST_EVENTS)))[1]


def likely_words(weighed: Weighed, loss: EventLoss | None) -> str:
    """What of a compaction may be read again, with its cost at this installation's prices; "" for nothing."""
    return loss.likely.words(prices_for(weighed.model)) if loss else ""


def judged(assessor: Assessor, events: Sequence[tuple[int, Event]], texts: Mapping[str, str], most: int) -> Losses:
    """What the first ``most`` of numbered events in order lost; ``texts`` are those of what they inserted, by id."""
    found = tuple(_judged(assessor, number, event, texts) for number, event in events[:most])
    return Losses(found, max(len(events) - most, 0))


def _judged(assessor: Assessor, number: int, event: Event, texts: Mapping[str, str]) -> EventLoss:
    before, after = assessor.look(event, texts)
    timeline, index = assessor.timeline, assessor.index
    fates = [rule for rule in constraints_at(before, after, index, timeline.n_messages) if not rule.lost_before]
    rules = tuple(rule for rule in fates if rule.state == GONE)
    broken = {timeline.requests[timeline.step_of(r.broken_at)] for r in rules if r.broken_at is not None}
    needs = needs_of(event.request, before, after, index, timeline)
    return EventLoss(
        number, rules, tuple(rule for rule in fates if rule.state == OPEN), needs, tuple(sorted(broken)),
        assessor.doses.likely(before, after),
    )  # fmt: skip
