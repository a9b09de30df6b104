"""What one event lost, as the quality page lists it: rules, needs by kind, what to read again, files, probes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.costs.prices import PER_MILLION, Prices
from sessions.engine.quality.again_table import CHANCES_SOURCE, SOURCE
from sessions.engine.quality.doses import chance_words, result_tokens
from sessions.engine.quality.probes import QUESTIONS, Answer, Score, advice
from sessions.engine.quality.references import COMMAND, ERROR, ID, IDENTIFIER, LOCATION, NUMBER, PATH, QUOTED, URL
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, PLAIN_STATE, STATES
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Artifact, Assessment, QualityTarget
    from sessions.engine.quality.calls import ToolCall
    from sessions.engine.quality.constraints import RuleFate
    from sessions.engine.quality.needs import Need
    from sessions.engine.quality.recorded import Reread
    from sessions.pages.quality.state import QualityState

MOST_LOST, MOST_MENTIONED, MOST_CALLS, MOST_FILES, MOST_RULES = 40, 20, 12, 40, 60
KINDS = {
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
    rows = [(KINDS.get(kind, kind), chance_words(kind), counts) for kind, counts in by_kind.items()]
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
