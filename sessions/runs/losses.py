"""What compactions lose: of a replay, where one tunes, what is used later and gone; of a recording, its rules, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.session_cache import Remembered, Same
from sessions.engine.policies.extracting import Sketch
from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.broken import RulesAfter, rules_after
from sessions.engine.quality.constraints import RuleFate, constraints_at
from sessions.engine.quality.doses import Likely
from sessions.engine.quality.needs import Need, gone_of, needs_of, used_later
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.standing import GONE, OPEN
from sessions.engine.replays.events import Event
from sessions.engine.replays.replay import Replay
from sessions.engine.transcript.types import Message
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.runs.overview import overview
from sessions.services import indexed
from sessions.services.gradually import SECONDS, Gradual, Progress, all_on, clock
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for

Wording = Callable[[Callable[[Message], Sketch]], Mapping[str, str]]


KEPT = 24
AT_ONCE = 3_000
"""Messages of a session that is judged while its page waits; of a longer one it is counted behind the page."""
MOST_EVENTS = 60
"""Compactions that are judged while a page waits; behind it all are."""


@dataclass(frozen=True)
class EventLoss:
    """One compaction: rules that it lost and that were not lost before, and how much that is used later it lost.

    ``broken`` are the requests at which a lost rule is broken.  ``open_rules`` depend on a summary without text;
    ``is_open``: so does all that is used later and stands nowhere, and none of it is known to be lost.  ``uses`` are
    the requests that use first what stands nowhere.  What it is, and what may be read again, is worked out when asked.
    """

    number: int
    rules: tuple[RuleFate, ...]
    open_rules: tuple[RuleFate, ...]
    broken: tuple[int, ...]
    uses: tuple[int, ...]
    is_open: bool
    look: Callable[[], tuple[tuple[Need, ...], Likely]] = field(repr=False, compare=False)

    @property
    def n_gone(self) -> int:
        return 0 if self.is_open else len(self.uses)

    @property
    def n_open(self) -> int:
        """Rules and things used later that depend on a summary without text."""
        return len(self.open_rules) + (len(self.uses) if self.is_open else 0)

    @cached_property
    def _whole(self) -> tuple[tuple[Need, ...], Likely]:
        return self.look()

    @property
    def needs(self) -> tuple[Need, ...]:
        """Everything used later with its state."""
        return self._whole[0]

    @property
    def likely(self) -> Likely:
        """Dropped results that may be fetched again."""
        return self._whole[1]

    @property
    def gone(self) -> tuple[Need, ...]:
        return tuple(need for need in self.needs if need.state == GONE)

    @property
    def open(self) -> tuple[Need, ...]:
        return tuple(need for need in self.needs if need.state == OPEN)


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
        return sum(event.n_gone for event in self.events)

    @property
    def n_open(self) -> int:
        """Rules, each once, and things used later that depend on summaries without text."""
        lost = {rule.text for event in self.events for rule in event.rules}
        rules = {rule.text for event in self.events for rule in event.open_rules}
        return len(rules - lost) + sum(len(event.uses) for event in self.events if event.is_open)

    def of(self, number: int) -> EventLoss | None:
        return next((event for event in self.events if event.number == number), None)


NOTHING = Losses(())
LOSSES: Remembered[Losses] = Remembered("losses", KEPT)
"""By the replay; those of the recording by none."""


@dataclass(frozen=True, slots=True)
class Side:
    """Compactions whose losses are told beside each other: those of a replay by itself, the recording's by none."""

    key: Same | None
    events: Callable[[], list[tuple[int, Event]]]
    wording: Wording


def _replayed(replay: Replay) -> Side:
    return Side(Same(replay), lambda: list(enumerate(replay.events)), replay.wording)


def _recorded(weighed: Weighed) -> Side:
    return Side(None, lambda: list(recorded_events(weighed)), lambda _sketch_of: {})


def of_replay(session: Session, replay: Replay) -> Losses | None:
    """What a replay loses; None where that is not at hand."""
    return _kept(session, _replayed(replay)) if replay.events else NOTHING


def of_recording(session: Session) -> Losses | None:
    """What the recorded compactions lost; None where that is not at hand."""
    return _kept(session, _recorded(selectors.load_weighed(session.pk)))


def _kept(session: Session, side: Side) -> Losses | None:
    weighed = selectors.load_weighed(session.pk)
    held = weighed.cache.find(LOSSES, side.key)
    if held is not None or is_counted_behind(session):
        return held
    try:
        assessor = Assessor(weighed, indexed.index_of(session))
    except (UnreadableInput, OSError):
        return None
    found = judged(assessor, side.events(), side.wording(assessor.index.sketch_of), MOST_EVENTS)
    return weighed.cache.put(LOSSES, found, side.key)


ASSESSOR: Remembered[Assessor] = Remembered("assessor", 2)
COUNTING: Remembered[Gradual[EventLoss]] = Remembered("losses being counted", KEPT)
"""By what they are losses of, as the others."""


def is_counted_behind(session: Session) -> bool:
    """Whether a page of the session is shown before its losses are counted."""
    return session.n_messages > AT_ONCE


def is_counted(session: Session, replay: Replay) -> bool:
    """Whether nothing is left to count behind a page: of a short session all is told at once, or never."""
    return not is_counted_behind(session) or None not in (of_replay(session, replay), of_recording(session))


@dataclass(frozen=True, slots=True)
class Counted:
    """How far the losses of a long session are: messages read, then compactions judged."""

    read: Progress
    judged: Progress

    @property
    def is_done(self) -> bool:
        return self.read.is_done and self.judged.is_done


def counted(session: Session, replay: Replay) -> Counted:
    """How far the losses of a replay and of the recording are counted in this process."""
    weighed = selectors.load_weighed(session.pk)
    mine, kept = (weighed.cache.find(COUNTING, key) for key in (Same(replay), None))
    recorded = kept.progress if kept else Progress(0, len(weighed.transcript.compactions))
    replayed = mine.progress if mine else Progress(0, len(replay.events))
    return Counted(indexed.progress(session), replayed.and_then(recorded))


def count_on(session: Session, replay: Replay) -> Counted:
    """Count losses for as long as one request may; raises UnreadableInput and OSError without the upload."""
    until = clock() + SECONDS
    weighed = selectors.load_weighed(session.pk)
    if indexed.go_on(session, until).is_done:
        index = indexed.index_of(session)
        assessor = weighed.cache.value(ASSESSOR, lambda: Assessor(weighed, index))
        sides = (_replayed(replay), _recorded(weighed))
        counting = [weighed.cache.value(COUNTING, partial(_counting, assessor, side), side.key) for side in sides]
        all_on(counting, until)
        for side, one in zip(sides, counting, strict=True):
            if one.progress.is_done and weighed.cache.find(LOSSES, side.key) is None:
                weighed.cache.put(LOSSES, Losses(one.whole()), side.key)
    return counted(session, replay)


def _counting(assessor: Assessor, side: Side) -> Gradual[EventLoss]:
    events, texts = side.events(), side.wording(assessor.index.sketch_of)
    return Gradual(len(events), lambda: (_judged(assessor, number, event, texts) for number, event in events))


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
    rules = tuple(rule for rule in fates if rule.is_lost)
    broken = {timeline.requests[timeline.step_of(r.broken_at)] for r in rules if r.broken_at is not None}
    used = gone_of(used_later(before, index), after, index)
    uses = tuple(timeline.requests[timeline.step_of(first)] for first, _ in used)

    def look() -> tuple[tuple[Need, ...], Likely]:
        stood, stands = assessor.look(event, texts)
        return needs_of(event.request, stood, stands, index, timeline), assessor.doses.likely(stood, stands)

    still_open = tuple(rule for rule in fates if rule.state == OPEN)
    return EventLoss(number, rules, still_open, tuple(sorted(broken)), uses, after.missing == OPEN, look)


BY_ITSELF = 5_000
"""Messages of a session up to which a page reads them unasked: it reads every text."""


def rules_of(session: Session) -> tuple[RulesAfter, ...]:
    """One entry for each recorded compaction whose originals are in the session; raises UnreadableInput."""
    return overview(session.pk).once("rules", lambda: _read(session))


def _read(session: Session) -> tuple[RulesAfter, ...]:
    weighed = selectors.load_weighed(session.pk)
    if not weighed.transcript.compactions:
        return ()
    with selectors.load_texts(session) as texts:
        return rules_after(weighed, texts.of, index_of(session))
