"""Judges the events of a replay, or of the recording itself: rules, needs, probes, files, what to read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sessions.engine.quality.calls import READ, WRITE
from sessions.engine.quality.constraints import RuleFate, constraints_at
from sessions.engine.quality.doses import Doses, Likely, Refetch, Results
from sessions.engine.quality.index import Index
from sessions.engine.quality.needs import Need, Timeline, needs_of
from sessions.engine.quality.probes import AS_GENERATED, Answer, Probe, Question, Score, answers, score_of
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.quality.rules import MAX_RULES, MEMORY
from sessions.engine.quality.standing import GONE, MENTIONED, PLAIN_STATE, STATES, VERBATIM, Known, Standing, standing
from sessions.engine.replays.events import Event
from sessions.engine.replays.replay import Replay
from sessions.engine.weigh.calibration.weighed import Weighed

GREEN, AMBER, RED, UNKNOWN = "green", "amber", "red", "not measured"


class QualityTarget(NamedTuple):
    """One row: ``value`` is a share from 0 to 1, None where a replay cannot know it; ``status`` a colour's name."""

    name: str
    value: float | None
    target: str
    red_flag: str
    status: str


def targets(event: Event, overhead: int, score: Score) -> tuple[QualityTarget, ...]:
    """Pass rate, compression of the messages (overhead in tokens left out), what no replay measures (seeds 3.5)."""
    before = event.before_tokens - overhead
    rate, ratio = score.score, 1 - (event.after_tokens - overhead) / before if before > 0 else None
    passed = UNKNOWN if rate is None else GREEN if rate > 0.9 else RED if rate < 0.7 else AMBER
    squeezed = UNKNOWN if ratio is None else GREEN if 0.6 <= ratio <= 0.8 else RED if ratio > 0.95 else AMBER
    return (
        QualityTarget("probe pass rate", rate, "> 90%", "< 70%", passed),
        QualityTarget("compression ratio", ratio, "60–80%", "> 95%", squeezed),
        QualityTarget("task completion", None, "same as uncompressed", "degraded", UNKNOWN),
        QualityTarget("latency overhead", None, "< 2 s", "> 5 s", UNKNOWN),
    )


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file: what was done to it ("read", "written" or "created"), where last, and its path's state after an event."""

    path: str
    done: str
    source_message: int
    state: str


def trail(index: Index, newest: int, after: Standing) -> tuple[Artifact, ...]:
    """Files of the calls up to message ``newest``, as first touched: "created" where the first call writes it."""
    done: dict[str, str] = {}
    last: dict[str, int] = {}
    for call in index.calls:
        if call.message > newest or call.verb not in {READ, WRITE} or not call.key or " " in call.key:
            continue
        if call.verb == WRITE:
            done[call.key] = "written" if done.get(call.key, "created") in {"read", "written"} else "created"
        else:
            done.setdefault(call.key, "read")
        last[call.key] = call.message
    return tuple(Artifact(path, what, last[path], _state(index, path, after)) for path, what in done.items())


def _state(index: Index, path: str, after: Standing) -> str:
    known = index.id_of(path)
    if known is not None and after.has(index, known):
        return VERBATIM
    if known is not None and after.mentions(known):
        return MENTIONED
    return MENTIONED if any(path in inserted.text for inserted in after.inserted) else after.missing


@dataclass(frozen=True)
class Assessment:
    """What one event lost.

    ``number`` is the event's (of the recording: the recorded compaction's).  ``constraints`` are all rules said so far,
    ``needs`` what the agent used afterwards, ``answers`` the probes; ``telephone`` is the score of the probes that the
    first event was asked, asked again here.  ``before`` and ``after`` say what stood.  ``likely`` are dropped results
    that may be fetched again, as far as a study bears it out.
    """

    number: int
    event: Event
    before: Standing
    after: Standing
    constraints: tuple[RuleFate, ...]
    needs: tuple[Need, ...]
    answers: tuple[Answer, ...]
    score: Score
    telephone: Score
    artifacts: tuple[Artifact, ...]
    refetch: Refetch
    likely: Likely
    targets: tuple[QualityTarget, ...]

    def count(self, state: str) -> int:
        """Rules and needs in a state: "verbatim", "mentioned" (rules put back included), "open" or "gone"."""
        return sum(n.state == state for n in self.needs) + sum(PLAIN_STATE[c.state] == state for c in self.constraints)

    @property
    def needed(self) -> int:
        """Rules and needs: the states add up to it."""
        return len(self.needs) + len(self.constraints)

    def by_kind(self) -> dict[str, dict[str, int]]:
        """Counts of each state by kind of reference, rules under "constraint"; only kinds that are needed."""
        found: dict[str, dict[str, int]] = {}
        pairs = [(n.reference.kind, n.state) for n in self.needs]
        pairs += [("constraint", PLAIN_STATE[c.state]) for c in self.constraints]
        for kind, state in pairs:
            found.setdefault(kind, dict.fromkeys(STATES, 0))[state] += 1
        return found


class Assessor:
    """Judges events of one session; what does not depend on the event is made once."""

    def __init__(
        self, weighed: Weighed, index: Index, *, horizon: int | None = None, asked: Question = AS_GENERATED
    ) -> None:
        """``horizon`` is how many requests after an event count as later, None for all; ``asked`` are the probes."""
        self.weighed, self.index, self.horizon, self.asked = weighed, index, horizon, asked
        self.timeline = Timeline(weighed)
        self.results = Results(weighed, index)
        self.doses = Doses(index, self.results)
        self.first: tuple[Probe, ...] | None = None
        self.known: Known = {}

    def look(self, event: Event, texts: Mapping[str, str]) -> tuple[Standing, Standing]:
        """What stands before and after an event; remembers what it put back, and the probes of the first event."""
        transcript, index = self.weighed.transcript, self.index
        listed = event.before
        before = standing(listed, transcript, index, texts, known=self.known)
        after = standing(event.after, transcript, index, texts, sources=listed, known=self.known)
        if self.first is None:
            self.first = self.asked.before(index, before.newest)
        return before, after

    def assess(self, event: Event, number: int, texts: Mapping[str, str]) -> Assessment:
        """One event; ``texts`` are those of inserted items by id.  Events must come in order."""
        index = self.index
        before, after = self.look(event, texts)
        newest = before.newest
        stop = self.timeline.end_of(event.request, self.horizon)
        needs = needs_of(event.request, before, after, index, self.timeline, horizon=self.horizon)
        asked = self.asked.before(index, newest)
        found = answers(asked, after, index)
        score = score_of(found)
        return Assessment(
            number, event, before, after,
            constraints_at(before, after, index, stop),
            needs, found, score, score_of(answers(self.first or asked, after, index)),
            trail(index, newest, after),
            self.results.refetch((n.id for n in needs if n.state == GONE), newest),
            self.doses.likely(before, after),
            targets(event, self.weighed.overhead, score),
        )  # fmt: skip


def assess_replay(
    replay: Replay,
    index: Index,
    *,
    horizon: int | None = None,
    only: int | None = None,
    asked: Question = AS_GENERATED,
    most: int | None = None,
) -> Iterator[Assessment]:
    """Every event of a replay, the first ``most`` or ``only`` one; ``horizon`` in requests after each, None for all."""
    assessor = Assessor(replay.weighed, index, horizon=horizon, asked=asked)
    texts = replay.wording(index.sketch_of)
    for event in replay.events[:most]:
        if only is None or event.index == only:
            yield assessor.assess(event, event.index, texts)
        elif event.index < only:
            assessor.look(event, texts)


def assess_recorded(
    weighed: Weighed, index: Index, *, horizon: int | None = None, asked: Question = AS_GENERATED
) -> Iterator[Assessment]:
    """Every recorded compaction whose originals are in the session, numbered as recorded."""
    assessor = Assessor(weighed, index, horizon=horizon, asked=asked)
    return (assessor.assess(event, number, {}) for number, event in recorded_events(weighed))


def warnings_of(assessments: Iterable[Assessment], index: Index, summarizer: str) -> tuple[str, ...]:
    """What a reader must know before believing the counts."""
    found: list[str] = []
    several = tuple(assessments)
    silent = [a.number for a in several if a.after.n_silent]
    if silent:
        which = f"{len(silent)} of {len(several)} events"
        found.append(
            f"summaries without text at {which} (summarizer {summarizer}): what only they can keep is not called lost, "
            "it depends on the summary; `--summarizer extractive` has text"
        )
    n_unread = sum(a.after.n_unread for a in several)
    if n_unread:
        found.append(f"{n_unread:,} messages were put back cut or unknown: what they hold counts as not there")
    n_edited = sum(len(a.after.parts) for a in several)
    if n_edited:
        found.append(f"{n_edited:,} edited messages: what an edit left of a cut block counts as not there")
    if index.n_unread:
        found.append(f"{index.n_unread:,} messages have no text to read (encrypted, media)")
    if index.n_more_rules:
        found.append(f"{MAX_RULES:,} rules are followed, the first said; later ones are not looked for")
    memory = {c.text for a in several for c in a.constraints if c.state == GONE and c.source == MEMORY}
    if memory:
        found.append(
            f"lost rules of memory files: {len(memory):,}; an agent that re-reads the file keeps them, "
            "which a replay cannot see"
        )
    if several and not index.constraints:
        found.append("no rules were found in what user, memory files, skills and system messages say")
    return tuple(found)
