"""What the quality page judges: the events of a replay or of the recording, each side worked out once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from django.conf import settings

from sessions import selectors
from sessions.engine.base.session_cache import Remembered
from sessions.engine.costs.prices import Prices
from sessions.engine.quality.assess import Assessment, assess_recorded, assess_replay, warnings_of
from sessions.engine.quality.carry import WorkingSet, working_set
from sessions.engine.quality.index import Index
from sessions.engine.quality.oracle import Oracle, oracle
from sessions.engine.quality.probes import Question, own_probes
from sessions.engine.quality.recorded import Reread, recorded_events, rereads
from sessions.engine.quality.survival import Survival, survival
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.runs import replay_state, replays
from sessions.runs.losses import Counted
from sessions.services import indexed, judging, summary_jobs
from sessions.services.gradually import SECONDS, Gradual, Progress, all_on, clock
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for

KEPT = 6
RECORDED = "recorded"
MOST_HELD = 1_000_000
"""Messages in the lists of all judged events that are kept; the newest judgement is kept whatever its length."""
MOST_EVENTS = 100
"""Events of a replay that a page judges; the document has all."""


@dataclass(frozen=True, slots=True)
class QualityAsked:
    """What is judged: the events of a replay, ``horizon`` requests ahead, with a reader's own probes ``ask``.

    ``kinds`` are those of probes whose failure is never accepted.
    """

    replay: replay_state.ReplayState
    horizon: int | None
    ask: tuple[str, ...]
    kinds: frozenset[str]


@dataclass(frozen=True)
class QualityRun:
    """One session under one state, each answer worked out when it is first asked for."""

    ran: replays.ReplayRun
    index: Index
    asked: Question
    horizon: int | None

    @property
    def weighed(self) -> Weighed:
        return self.ran.replay.weighed

    @property
    def n_held(self) -> int:
        """Messages in the lists of the events that are judged already."""
        judged = [one for side in ("events", "recorded") for one in vars(self).get(side, ())]
        return sum(len(one.before.whole) + len(one.after.whole) for one in judged)

    @property
    def prices(self) -> Prices | None:
        return prices_for(self.weighed.model)

    @cached_property
    def sides(self) -> tuple[Gradual[Assessment], Gradual[Assessment]]:
        """Events of the replay and compactions of the recording as far as they are judged."""
        replay, horizon, asked = self.ran.replay, self.horizon, self.asked
        judged = partial(assess_replay, replay, self.index, horizon=horizon, asked=asked, most=MOST_EVENTS)
        recorded = partial(assess_recorded, self.weighed, self.index, horizon=horizon, asked=asked)
        return (
            Gradual(min(len(replay.events), MOST_EVENTS), judged),
            Gradual(len(recorded_events(self.weighed)), recorded),
        )

    @cached_property
    def events(self) -> tuple[Assessment, ...]:
        """The replay's events, the first ``MOST_EVENTS``."""
        return self.sides[0].whole()

    @cached_property
    def recorded(self) -> tuple[Assessment, ...]:
        return self.sides[1].whole()

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


JUDGED: Remembered[QualityRun] = Remembered("judged", MOST_HELD, lambda one: max(one.n_held, MOST_HELD // KEPT))


def is_judged(session: Session, wanted: QualityAsked, of: str) -> bool:
    """Whether the answers for a side are at hand, so that a page of them costs nothing."""
    found = selectors.load_weighed(session.pk).cache.find(JUDGED, _key(wanted))
    if found is None:
        return False
    done = vars(found)
    return "recorded" in done and (of == "recorded" or "events" in done or not found.ran.replay.events)


def _key(wanted: QualityAsked) -> QualityAsked:
    return replace(wanted, replay=replay_state.only_replayed(wanted.replay))


def judge(session: Session, wanted: QualityAsked) -> QualityRun:
    """The judgement, remembered while replay and index are the same."""
    ran, index = replays.run(session.pk, wanted.replay), index_of(session)
    key, cache = _key(wanted), ran.replay.weighed.cache
    held = cache.find(JUDGED, key)
    if held is not None and held.ran is ran and held.index is index:
        return held
    return cache.put(JUDGED, QualityRun(ran, index, asked_for(session, wanted), wanted.horizon), key)


def judge_on(session: Session, wanted: QualityAsked) -> Counted:
    """Judge both sides for as long as one request may, and say how far they are; raises as ``judge``."""
    until = clock() + SECONDS
    read = indexed.go_on(session, until)
    if not read.is_done:
        return Counted(read, Progress(0, 0))
    sides = judge(session, wanted).sides
    all_on(sides, until)
    return Counted(read, sides[0].progress.and_then(sides[1].progress))


def asked_for(session: Session, wanted: QualityAsked) -> Question:
    """The probes asked for; a reader's own are looked for in every message."""
    if not wanted.ask:
        return Question((), wanted.kinds)
    with selectors.load_texts(session) as texts:
        own = own_probes(wanted.ask, selectors.load_weighed(session.pk).transcript, texts.of)
    return Question(own, wanted.kinds)


def hand_off(session: Session, judged: QualityRun, one: Assessment) -> Oracle:
    """What a hand-over written with the future in sight would have said at an event."""
    with selectors.load_texts(session) as texts:
        return oracle(one, judged.weighed, judged.index, texts.of)


def followed(session: Session, judged: QualityRun, text: str, found: Sequence[Assessment]) -> Survival:
    """Where a text stands and which event lost it."""
    with selectors.load_texts(session) as texts:
        return survival(text, judged.weighed.transcript, texts.of, found)


def judging_options(wanted: QualityAsked, found: Assessment, *, recorded: bool) -> judging.JudgingOptions:
    """What is judged, as JSON: the event and everything of the address that changes what is asked."""
    return {
        "recorded": recorded,
        "event": found.number,
        "horizon": wanted.horizon,
        "ask": list(wanted.ask),
        "critical": sorted(wanted.kinds),
        "replay": {} if recorded else replays.options(wanted.replay),
        "summarizer": "" if recorded else wanted.replay.summarizer,
    }


class JudgeView:
    """``found`` is what is kept, else ``estimate`` what asking takes; ``job`` is one under way, "" where there is none.

    Of ``n_questions`` some are graded correct, partial and wrong, which are not added up either.  Two queries.
    """

    def __init__(self, session: Session, wanted: QualityAsked, one: Assessment, *, recorded: bool) -> None:
        model, asked = settings.ANTHROPIC_MODEL, judging_options(wanted, one, recorded=recorded)
        self.found = kept = judging.kept_judgement(judging.judgement_key(session, asked, model))
        job = summary_jobs.running(session)
        self.estimate, self.job = judging.judging_estimate(model, one), str(job.pk) if job else ""
        self.n_questions = len(kept.answers) if kept else len(judging.chosen_probes(one))
        grades = ("correct", "partial", "wrong")
        self.n_correct, self.n_partial, self.n_wrong = (kept.count(grade) if kept else 0 for grade in grades)
