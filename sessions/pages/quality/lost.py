"""What one event lost, as the quality page lists it, and what is left after each of several compactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.base.words import counted
from sessions.engine.costs.prices import PER_MILLION, Prices
from sessions.engine.quality.again_table import CHANCES_SOURCE, SOURCE
from sessions.engine.quality.assess import Artifact, Assessment, QualityTarget
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.constraints import RuleFate
from sessions.engine.quality.doses import chance_words, result_tokens
from sessions.engine.quality.generations import FEWEST, KINDS, LEFT, RULE, KindLeft, Traced, generations_assessed
from sessions.engine.quality.index import Index
from sessions.engine.quality.needs import Need
from sessions.engine.quality.probes import QUESTIONS, Answer, Score, advice
from sessions.engine.quality.recorded import Reread
from sessions.engine.quality.references import COMMAND, ERROR, ID, IDENTIFIER, LOCATION, NUMBER, PATH, QUOTED, URL
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, PLAIN_STATE, STATES
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.pages.quality.state import QualityState
from sessions.pages.ui import figures

MOST_COLUMNS, MOST_ROWS, MOST_TEXT = 6, 8, 140
WORDS = {RULE: "rule", PATH: "path", IDENTIFIER: "identifier"}
LINES = dict(zip(KINDS, ("c-ink", "c-rec", "c-ghost2"), strict=True))
SIZE, LEFT_EDGE, RIGHT_EDGE, TOP, FOOT, GAP = (380, 170), 44, 268, 18, 144, 15


@dataclass(frozen=True, slots=True)
class Course:
    """One kind's curve: its path, its points, and its words at the height ``y``."""

    line: str
    path: str
    points: tuple[tuple[float, float], ...]
    words: str
    y: float


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value: its state in each column, "" where it was lost before and still is, and what became of it."""

    text: str
    states: tuple[str, ...]
    later: str
    used: int | None
    alarm: bool


@dataclass(frozen=True, slots=True)
class KindRows:
    """The values of one kind, the first ``MOST_ROWS`` of ``n``."""

    title: str
    n: int
    half_life: str
    chance: str
    is_rule: bool
    rows: tuple[ValueRow, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """The panel: ``columns`` are the compactions shown, ``marks`` the axis under the curves."""

    headline: str
    half_life: str
    columns: tuple[int, ...]
    marks: tuple[tuple[float, str], ...]
    courses: tuple[Course, ...]
    kinds: tuple[KindRows, ...]
    n_values: int
    size: tuple[int, int] = SIZE


def build_left(index: Index, found: Sequence[Assessment]) -> Left | None:
    """The panel of compactions that were judged; None for fewer than two, or where nothing stood before the first."""
    if len(found) < FEWEST:
        return None
    made, n = generations_assessed(index, found), len(found)
    if not made.values:
        return None
    columns = shown_columns(n)
    kinds = tuple(
        KindRows(
            f"{WORDS[one.kind]}s".capitalize(), one.n, _half_life(one.half_life, n), chance_words(one.kind),
            one.kind == RULE,
            tuple(_row(value, columns) for value in [v for v in made.values if v.kind == one.kind][:MOST_ROWS]),
        )
        for one in made.kinds
    )  # fmt: skip
    parts = [f"{one.shares[-1]:.0%} of {WORDS[one.kind]}s" for one in made.kinds]
    marks = tuple((_x(at, n), "start" if not at else str(at)) for at in (0, *columns))
    headline = f"After {counted(n, 'compaction')}, {figures.listed(parts)} are left"
    return Left(
        headline, _half_life(made.half_life, n), columns, marks, _courses(made.kinds, n), kinds, len(made.values)
    )


def shown_columns(n: int) -> tuple[int, ...]:
    """The compactions that have a column, from 1: all, or as many as fit, the first and the last among them."""
    if n <= MOST_COLUMNS:
        return tuple(range(1, n + 1))
    return tuple(1 + round(k * (n - 1) / (MOST_COLUMNS - 1)) for k in range(MOST_COLUMNS))


def _half_life(half: float | None, n: int) -> str:
    return f"above {counted(n, 'compaction')}" if half is None else f"{half:.1f} compactions"


def _row(value: Traced, columns: Sequence[int]) -> ValueRow:
    states = tuple(
        "" if at > 1 and value.states[at - 1] == value.states[at - 2] == GONE else value.states[at - 1]
        for at in columns
    )
    alarm = value.kind == RULE and value.used_at is not None
    if value.used_at is not None:
        later = "broken later" if alarm else "used later"
    elif value.lost_at is not None:
        later = "not seen broken" if value.kind == RULE else "not used again"
    else:
        later = "left to the end" if value.states[-1] in LEFT else "depends on the summary"
    return ValueRow(value.text[:MOST_TEXT], states, later, value.used_at, alarm)


def _x(at: int, n: int) -> float:
    return round(LEFT_EDGE + (RIGHT_EDGE - LEFT_EDGE) * at / n, 1)


def _courses(kinds: Sequence[KindLeft], n: int) -> tuple[Course, ...]:
    """The curves; words that would stand on each other move down, or up from the foot."""
    ends = sorted(kinds, key=lambda one: -one.shares[-1])
    heights: dict[str, float] = {}
    lowest = FOOT - GAP * (len(ends) - 1)
    above = float(TOP - GAP)
    for rank, one in enumerate(ends):
        above = min(max(_y(one.shares[-1]), above + GAP), lowest + GAP * rank)
        heights[one.kind] = above
    found = []
    for one in kinds:
        points = tuple((_x(at, n), _y(share)) for at, share in enumerate((1.0, *one.shares)))
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        words = f"{WORDS[one.kind]}s {one.shares[-1]:.0%}"
        found.append(Course(LINES[one.kind], path, points, words, round(heights[one.kind] + 4, 1)))
    return tuple(found)


def _y(share: float) -> float:
    return round(FOOT - (FOOT - TOP) * share, 1)


MOST_LOST, MOST_MENTIONED, MOST_CALLS, MOST_FILES, MOST_RULES = 40, 20, 12, 40, 60
KIND_WORDS = {
    PATH: "paths", LOCATION: "places in files", URL: "addresses", IDENTIFIER: "names in code", COMMAND: "commands",
    ERROR: "errors", NUMBER: "numbers with a unit", QUOTED: "quoted words", ID: "ids",
}  # fmt: skip
HOWS = {"summary": "in the summary", "re-attached": "put back by the agent", "returned": "given again before its use"}
WORST_FIRST = STATES[::-1].index
PROBES = {kind: kind.replace("_", " ") for kind in QUESTIONS} | {"constraint": "rule", "own": "your own"}


@dataclass(frozen=True, slots=True)
class CallRow:
    """A tool call whose result is read again, or would have to be: the message of the result, its tokens.

    ``again`` is the message of the call that read it again, None where none did.
    """

    call: ToolCall
    message: int
    tokens: int
    again: int | None = None


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """The upper end of what has to be read again, what may be by ``likely_source``, and what really was."""

    tokens: int
    dollars: float | None
    calls: tuple[CallRow, ...]
    n_calls: int
    n_elsewhere: int
    really: Reread | None
    really_calls: tuple[CallRow, ...]
    likely: str
    likely_calls: tuple[CallRow, ...]
    likely_source: str = SOURCE


@dataclass(frozen=True, slots=True)
class Losses:
    """One event's losses; ``counts`` are needs by state, ``rule_counts`` rules; mentioned ones with how they are.

    ``kinds`` of reference have their chance (``chance_words``) and the number in each state, which are never added up.
    """

    rules: tuple[tuple[str, RuleFate], ...]
    n_rules: int
    rule_counts: Counter[str]
    kinds: tuple[tuple[str, str, Counter[str]], ...]
    counts: Counter[str]
    open: tuple[Need, ...]
    gone: tuple[Need, ...]
    mentioned: tuple[tuple[str, Need], ...]
    again: ReadAgain
    files: tuple[Artifact, ...]
    n_files: int
    n_files_gone: int
    chances_source: str = CHANCES_SOURCE


def build_lost(found: Assessment, weighed: Weighed, prices: Prices | None, really: Reread | None) -> Losses:
    """The lists of one event; ``really`` is what was fetched again."""
    rules = sorted(
        ((PLAIN_STATE[kept.state], kept) for kept in found.constraints), key=lambda pair: WORST_FIRST(pair[0])
    )
    files = sorted(found.artifacts, key=lambda file: (WORST_FIRST(file.state), -file.source_message))

    def needs(state: str, most: int) -> list[Need]:
        return [need for need in found.needs if need.state == state][:most]

    return Losses(
        rules=tuple(rules[:MOST_RULES]),
        n_rules=len(rules),
        rule_counts=Counter(kept.state for kept in found.constraints),
        kinds=_kinds(found),
        counts=Counter(need.state for need in found.needs),
        open=tuple(needs(OPEN, MOST_LOST)),
        gone=tuple(needs(GONE, MOST_LOST)),
        mentioned=tuple((HOWS.get(need.how, need.how), need) for need in needs(MENTIONED, MOST_MENTIONED)),
        again=_again(found, weighed, prices, really),
        files=tuple(files[:MOST_FILES]),
        n_files=len(files),
        n_files_gone=sum(file.state == GONE for file in files),
    )


def dollars_of(tokens: int, prices: Prices | None) -> float | None:
    """Tokens sent once at the price of input, in US dollars; None without a price."""
    return None if prices is None else tokens * prices.input / PER_MILLION


def _kinds(found: Assessment) -> tuple[tuple[str, str, Counter[str]], ...]:
    by_kind: dict[str, Counter[str]] = {}
    for need in found.needs:
        by_kind.setdefault(need.reference.kind, Counter())[need.state] += 1
    rows = [(KIND_WORDS.get(kind, kind), chance_words(kind), counts) for kind, counts in by_kind.items()]
    return tuple(sorted(rows, key=lambda row: (-row[2][GONE], -row[2][MENTIONED], row[0])))


def _again(found: Assessment, weighed: Weighed, prices: Prices | None, really: Reread | None) -> ReadAgain:
    refetch = found.refetch
    pairs = really.again if really else ()
    return ReadAgain(
        refetch.tokens,
        dollars_of(refetch.tokens, prices),
        tuple(_call(call, weighed) for call in refetch.calls[:MOST_CALLS]),
        len(refetch.calls),
        refetch.n_elsewhere,
        really,
        tuple(_call(old, weighed, new) for old, new in pairs[:MOST_CALLS]),
        found.likely.words(prices),
        tuple(_call(call, weighed) for call in found.likely.calls[:MOST_CALLS]),
    )


def _call(call: ToolCall, weighed: Weighed, new: ToolCall | None = None) -> CallRow:
    message = call.result[0] if call.result else call.message
    return CallRow(call, message, result_tokens(weighed, call), new.message if new else None)


@dataclass(frozen=True, slots=True)
class Probing:
    """Everything about the probes of one event; ``percent`` is the skill's score, ``kinds`` what may be critical."""

    answers: tuple[tuple[str, Answer], ...]
    score: Score
    percent: float | None
    advice: str
    targets: tuple[tuple[QualityTarget, float | None], ...]
    kinds: tuple[tuple[str, str, bool], ...]
    own: str
    n_unsaid: int


def build_probing(found: Assessment, state: QualityState, n_own: int) -> Probing:
    """The probes of one event; ``n_own`` of the reader's own are said anywhere."""
    order = sorted(found.answers, key=lambda a: (WORST_FIRST(a.state), not a.probe.critical, a.probe.source_message))
    return Probing(
        answers=tuple((PROBES[answer.probe.kind], answer) for answer in order),
        score=found.score,
        percent=percent(found.score.score),
        advice=advice(found.score),
        targets=tuple((target, percent(target.value)) for target in found.targets),
        kinds=tuple((kind, PROBES[kind], kind in state.kinds) for kind in QUESTIONS),
        own="\n".join(state.ask),
        n_unsaid=len(state.ask) - n_own,
    )


def percent(share: float | None) -> float | None:
    """A share from 0 to 1 as a percentage."""
    return None if share is None else 100 * share
