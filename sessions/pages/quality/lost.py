"""What one event lost, as the quality page lists it, and what is left after each of several compactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sessions.engine.base.words import counted
from sessions.engine.costs.prices import PER_MILLION, Prices
from sessions.engine.quality.again_table import CHANCES_SOURCE, SOURCE
from sessions.engine.quality.assess import Assessment
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.doses import chance_words, result_tokens
from sessions.engine.quality.generations import (
    FEWEST,
    KINDS,
    LEFT,
    RULE,
    Generations,
    KindLeft,
    Traced,
    generations_assessed,
)
from sessions.engine.quality.index import Index
from sessions.engine.quality.needs import Need
from sessions.engine.quality.probes import QUESTIONS, advice
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


class Course:
    """One kind's curve: its path, its points, and its words at the height ``y``."""

    def __init__(self, one: KindLeft, n: int, height: float) -> None:
        self.points = [(_x(at, n), _y(share)) for at, share in enumerate((1.0, *one.shares))]
        self.path = "M" + "L".join(f"{x:g} {y:g}" for x, y in self.points)
        self.words = f"{WORDS[one.kind]}s {one.shares[-1]:.0%}"
        self.line, self.y = LINES[one.kind], round(height + 4, 1)


class ValueRow:
    """One value: its state in each column, "" where it was lost before and still is, and what became of it."""

    def __init__(self, value: Traced, columns: Sequence[int]) -> None:
        self.text, self.used = value.text[:MOST_TEXT], value.used_at
        self.states = [
            "" if at > 1 and value.states[at - 1] == value.states[at - 2] == GONE else value.states[at - 1]
            for at in columns
        ]
        self.alarm = value.kind == RULE and value.used_at is not None
        if value.used_at is not None:
            self.later = "broken later" if self.alarm else "used later"
        elif value.lost_at is not None:
            self.later = "not seen broken" if value.kind == RULE else "not used again"
        else:
            self.later = "left to the end" if value.states[-1] in LEFT else "depends on the summary"


class KindRows:
    """The values of one kind, the first ``MOST_ROWS`` of ``n``."""

    def __init__(self, one: KindLeft, values: Sequence[Traced], columns: Sequence[int], n: int) -> None:
        self.title, self.n, self.is_rule = f"{WORDS[one.kind]}s".capitalize(), one.n, one.kind == RULE
        self.half_life, self.chance = _half_life(one.half_life, n), chance_words(one.kind)
        self.rows = [ValueRow(value, columns) for value in [v for v in values if v.kind == one.kind][:MOST_ROWS]]


class Left:
    """The panel of ``n`` compactions: ``columns`` are those shown, ``marks`` the axis under the curves."""

    size = SIZE

    def __init__(self, made: Generations, n: int) -> None:
        parts = [f"{one.shares[-1]:.0%} of {WORDS[one.kind]}s" for one in made.kinds]
        self.headline = f"After {counted(n, 'compaction')}, {figures.listed(parts)} are left"
        self.half_life, self.n_values = _half_life(made.half_life, n), len(made.values)
        self.columns = shown_columns(n)
        self.marks = [(_x(at, n), "start" if not at else str(at)) for at in (0, *self.columns)]
        self.courses = _courses(made.kinds, n)
        self.kinds = [KindRows(one, made.values, self.columns, n) for one in made.kinds]


def build_left(index: Index, found: Sequence[Assessment]) -> Left | None:
    """The panel of compactions that were judged; None for fewer than two, or where nothing stood before the first."""
    if len(found) < FEWEST:
        return None
    made = generations_assessed(index, found)
    return Left(made, len(found)) if made.values else None


def shown_columns(n: int) -> tuple[int, ...]:
    """The compactions that have a column, from 1: all, or as many as fit, the first and the last among them."""
    if n <= MOST_COLUMNS:
        return tuple(range(1, n + 1))
    return tuple(1 + round(k * (n - 1) / (MOST_COLUMNS - 1)) for k in range(MOST_COLUMNS))


def _half_life(half: float | None, n: int) -> str:
    return f"above {counted(n, 'compaction')}" if half is None else f"{half:.1f} compactions"


def _x(at: int, n: int) -> float:
    return round(LEFT_EDGE + (RIGHT_EDGE - LEFT_EDGE) * at / n, 1)


def _courses(kinds: Sequence[KindLeft], n: int) -> list[Course]:
    """The curves; words that would stand on each other move down, or up from the foot."""
    ends = sorted(kinds, key=lambda one: -one.shares[-1])
    heights: dict[str, float] = {}
    lowest = FOOT - GAP * (len(ends) - 1)
    above = float(TOP - GAP)
    for rank, one in enumerate(ends):
        above = min(max(_y(one.shares[-1]), above + GAP), lowest + GAP * rank)
        heights[one.kind] = above
    return [Course(one, n, heights[one.kind]) for one in kinds]


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


class CallRow:
    """A tool call whose result is read again, or would have to be: the message of the result, its tokens.

    ``again`` is the message of the call that read it again, None where none did.
    """

    def __init__(self, call: ToolCall, weighed: Weighed, new: ToolCall | None = None) -> None:
        self.call, self.message = call, call.result[0] if call.result else call.message
        self.tokens, self.again = result_tokens(weighed, call), new.message if new else None


class ReadAgain:
    """The upper end of what has to be read again, what may be by ``likely_source``, and what ``really`` was."""

    likely_source = SOURCE

    def __init__(self, found: Assessment, weighed: Weighed, prices: Prices | None, really: Reread | None) -> None:
        refetch, likely = found.refetch, found.likely
        self.tokens, self.dollars = refetch.tokens, dollars_of(refetch.tokens, prices)
        self.calls = [CallRow(call, weighed) for call in refetch.calls[:MOST_CALLS]]
        self.n_calls, self.n_elsewhere = len(refetch.calls), refetch.n_elsewhere
        self.really = really
        self.really_calls = [CallRow(old, weighed, new) for old, new in (really.again if really else ())[:MOST_CALLS]]
        self.likely = likely.words(prices)
        self.likely_calls = [CallRow(call, weighed) for call in likely.calls[:MOST_CALLS]]


class Losses:
    """One event's losses; ``counts`` are needs by state, ``rule_counts`` rules; mentioned ones with how they are.

    ``kinds`` of reference have their chance (``chance_words``) and the number in each state, which are never added up;
    ``really`` is what was fetched again.
    """

    chances_source = CHANCES_SOURCE

    def __init__(self, found: Assessment, weighed: Weighed, prices: Prices | None, really: Reread | None) -> None:
        rules = [(PLAIN_STATE[kept.state], kept) for kept in found.constraints]
        files = sorted(found.artifacts, key=lambda file: (WORST_FIRST(file.state), -file.source_message))

        def needs(state: str, most: int) -> list[Need]:
            return [need for need in found.needs if need.state == state][:most]

        self.rules = sorted(rules, key=lambda pair: WORST_FIRST(pair[0]))[:MOST_RULES]
        self.n_rules, stood = len(rules), [kept for kept in found.constraints if not kept.lost_before]
        self.n_stood, self.rule_counts = len(stood), Counter(kept.state for kept in stood)
        self.kinds, self.counts = _kinds(found), Counter(need.state for need in found.needs)
        self.open, self.gone = needs(OPEN, MOST_LOST), needs(GONE, MOST_LOST)
        self.mentioned = [(HOWS.get(need.how, need.how), need) for need in needs(MENTIONED, MOST_MENTIONED)]
        self.again = ReadAgain(found, weighed, prices, really)
        self.files, self.n_files = files[:MOST_FILES], len(files)
        self.n_files_gone = sum(file.state == GONE for file in files)


def dollars_of(tokens: int, prices: Prices | None) -> float | None:
    """Tokens sent once at the price of input, in US dollars; None without a price."""
    return None if prices is None else tokens * prices.input / PER_MILLION


def _kinds(found: Assessment) -> tuple[tuple[str, str, Counter[str]], ...]:
    by_kind: dict[str, Counter[str]] = {}
    for need in found.needs:
        by_kind.setdefault(need.reference.kind, Counter())[need.state] += 1
    rows = [(KIND_WORDS.get(kind, kind), chance_words(kind), counts) for kind, counts in by_kind.items()]
    return tuple(sorted(rows, key=lambda row: (-row[2][GONE], -row[2][MENTIONED], row[0])))


class Probing:
    """The probes of one event; ``percent`` is the skill's score, ``kinds`` what may be critical.

    ``n_own`` of the reader's own probes are said anywhere.
    """

    def __init__(self, found: Assessment, state: QualityState, n_own: int) -> None:
        order = sorted(
            found.answers, key=lambda a: (WORST_FIRST(a.state), not a.probe.critical, a.probe.source_message)
        )
        self.answers = [(PROBES[answer.probe.kind], answer) for answer in order]
        self.score, self.percent, self.advice = found.score, percent(found.score.score), advice(found.score)
        self.targets = [(target, percent(target.value)) for target in found.targets]
        self.kinds = [(kind, PROBES[kind], kind in state.kinds) for kind in QUESTIONS]
        self.own, self.n_unsaid = "\n".join(state.ask), len(state.ask) - n_own


def percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
