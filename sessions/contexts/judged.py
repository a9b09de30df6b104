"""What the quality page judges: the events of a replay or of the recording, each side worked out once and kept."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sessions import selectors
from sessions.contexts import replays
from sessions.engine.quality.asked import Question, own_probes
from sessions.engine.quality.assess import assess_recorded, assess_replay, warnings_of
from sessions.engine.quality.carry import working_set
from sessions.engine.quality.recorded import rereads
from sessions.kept import Kept
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for
from sessions.urlstate.replay import ReplayState

if TYPE_CHECKING:
    from sessions.contexts.replays import Ran
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.prices import Prices
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.quality.carry import WorkingSet
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.recorded import Reread
    from sessions.models import Session
    from sessions.urlstate.quality import QualityState

KEPT = 6
RECORDED = "recorded"
MOST_HELD = 1_000_000
"""Messages in the lists of all judged events that are kept; the newest judgement is kept whatever its length."""
MOST_EVENTS = 100
"""Events of a replay that a page judges; the document has all."""


@dataclass(frozen=True)
class Judged:
    """One session under one state, each answer worked out when it is first asked for."""

    ran: Ran
    index: Index
    asked: Question
    horizon: int | None

    @property
    def weighed(self) -> Weighed:
        """The session."""
        return self.ran.replay.weighed

    @property
    def n_held(self) -> int:
        """Messages in the lists of the events that are judged already."""
        judged = [one for side in ("events", "recorded") for one in vars(self).get(side, ())]
        return sum(len(one.before.whole) + len(one.after.whole) for one in judged)

    @property
    def prices(self) -> Prices | None:
        """What a token costs here, None where no price is known."""
        return prices_for(self.weighed.model)

    @cached_property
    def events(self) -> tuple[Assessment, ...]:
        """The replay's events, the first ``MOST_EVENTS``."""
        return assess_replay(self.ran.replay, self.index, horizon=self.horizon, asked=self.asked, most=MOST_EVENTS)

    @cached_property
    def recorded(self) -> tuple[Assessment, ...]:
        """The recording's own compactions."""
        return assess_recorded(self.weighed, self.index, horizon=self.horizon, asked=self.asked)

    @cached_property
    def fetched_again(self) -> dict[int, Reread]:
        """What was really fetched again, by recorded compaction."""
        return {found.compaction: found for found in rereads(self.weighed, self.index)}

    @cached_property
    def carried(self) -> WorkingSet:
        """What was carried and needed at each request of the replay's base."""
        return working_set(self.weighed, self.index, base=self.ran.replay.base)

    @cached_property
    def carried_as_recorded(self) -> WorkingSet:
        """The same along the recording's own lists."""
        return (
            self.carried if self.ran.replay.base == RECORDED else working_set(self.weighed, self.index, base=RECORDED)
        )

    def warnings(self, *, recorded: bool) -> tuple[str, ...]:
        """What a reader must know before believing one side's counts."""
        if recorded:
            return warnings_of(self.recorded, self.index, "recorded")
        return warnings_of(self.events, self.index, self.ran.replay.summarizer)


_Key = tuple[str, ReplayState, int | None, tuple[str, ...], frozenset[str]]
_held: Kept[_Key, Judged] = Kept(
    lambda held: len(held) > KEPT or sum(one.n_held for one in held) > MOST_HELD
)  # fmt: skip


def is_judged(session: Session, state: QualityState) -> bool:
    """Whether the answers of a state are at hand, so that a page of them costs nothing."""
    found = _held.find(_key(session, state))
    if found is None or found.weighed is not selectors.load_weighed(session.pk):
        return False
    done = vars(found)
    return "recorded" in done and (state.of == "recorded" or "events" in done or not found.ran.replay.events)


def _key(session: Session, state: QualityState) -> _Key:
    looked_at = replace(state.replay, event=None, request=None, gate="", layout="", rows=None)
    return session.pk, looked_at, state.horizon, state.ask, state.kinds


def judge(session: Session, state: QualityState) -> Judged:
    """The judgement of a state, from this process's cache while replay and index are the same."""
    ran, index = replays.run(session.pk, state.replay), index_of(session)
    key = _key(session, state)
    held = _held.find(key)
    if held is not None and held.ran is ran and held.index is index:
        return held
    return _held.keep(key, Judged(ran, index, asked_for(session, state), state.horizon))


def asked_for(session: Session, state: QualityState) -> Question:
    """The probes of a state; a reader's own are looked for in every message."""
    if not state.ask:
        return Question((), state.kinds)
    with contextlib.closing(selectors.load_texts(session)) as texts:
        own = own_probes(state.ask, selectors.load_weighed(session.pk).transcript, texts.of)
    return Question(own, state.kinds)
