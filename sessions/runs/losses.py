"""What compactions lose: of a replay, where one tunes, what is used later and gone; of a recording, its rules, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for

Wording = Callable[[Callable[[Message], Sketch]], Mapping[str, str]]


KEPT = 24
AT_ONCE = 3_000
"""Messages of a session that is indexed while its page waits; a longer one is judged once its index is at hand."""
MOST_EVENTS = 60


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
        """How much is used later and gone."""
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
        """What is used later and gone."""
        return tuple(need for need in self.needs if need.state == GONE)

    @property
    def open(self) -> tuple[Need, ...]:
        """What is used later and depends on a summary without text."""
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
        """The compaction of this number, from 0."""
        return next((event for event in self.events if event.number == number), None)


NOTHING = Losses(())
LOSSES: Remembered[Losses] = Remembered("losses", KEPT)
"""By the replay; those of the recording by none."""


def is_ready(session: Session) -> bool:
    """Whether losses can be told without making the page wait for an index of a long session."""
    return len(selectors.load_weighed(session.pk).transcript.messages) <= AT_ONCE or indexed.is_indexed(session)


def of_replay(session: Session, replay: Replay) -> Losses | None:
    """What a replay loses; None where that is not at hand."""
    if not replay.events:
        return NOTHING
    return _kept(session, Same(replay), lambda: list(enumerate(replay.events)), replay.wording)


def of_recording(session: Session) -> Losses | None:
    """What the recorded compactions lost; None where that is not at hand."""
    weighed = selectors.load_weighed(session.pk)
    return _kept(session, None, lambda: list(recorded_events(weighed)), lambda _sketch_of: {})


def _kept(
    session: Session, key: Same | None, events: Callable[[], list[tuple[int, Event]]], wording: Wording
) -> Losses | None:
    weighed = selectors.load_weighed(session.pk)
    held = weighed.cache.find(LOSSES, key)
    if held is not None:
        return held
    if not is_ready(session):
        return None
    try:
        assessor = Assessor(weighed, indexed.index_of(session))
    except (UnreadableInput, OSError):
        return None
    found = judged(assessor, events(), wording(assessor.index.sketch_of), MOST_EVENTS)
    return weighed.cache.put(LOSSES, found, key)


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
