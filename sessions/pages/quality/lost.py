"""What one event lost, as the quality page lists it: rules, needs by kind, what to read again, files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.base.words import counted
from sessions.engine.quality.again_table import CHANCES_SOURCE, SOURCE
from sessions.engine.quality.doses import chance_words, result_tokens
from sessions.engine.quality.references import COMMAND, ERROR, ID, IDENTIFIER, LOCATION, NUMBER, PATH, QUOTED, URL
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, PLAIN_STATE, STATES, VERBATIM
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.costs.prices import Prices
    from sessions.engine.quality.assess import Artifact, Assessment
    from sessions.engine.quality.calls import ToolCall
    from sessions.engine.quality.constraints import RuleFate
    from sessions.engine.quality.needs import Need
    from sessions.engine.quality.recorded import Reread

    Link = Callable[[int], str]

MOST_LOST, MOST_MENTIONED, MOST_CALLS, MOST_FILES, MOST_RULES = 40, 20, 12, 40, 60
MOST_TEXT = 140
PER_MILLION = 1_000_000
KINDS = {
    PATH: "paths", LOCATION: "places in files", URL: "addresses", IDENTIFIER: "names in code", COMMAND: "commands",
    ERROR: "errors", NUMBER: "numbers with a unit", QUOTED: "quoted words", ID: "ids",
}  # fmt: skip
HOWS = {"summary": "in the summary", "re-attached": "put back by the agent", "returned": "given again before its use"}


@dataclass(frozen=True, slots=True)
class Place:
    """A message and where its link leads; ``message`` None where there is none."""

    message: int | None
    href: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: its state of the three, how it is mentioned, what happened later."""

    text: str
    state: str
    how: str
    source: str
    said: Place
    broken: Place
    broken_by: str
    broken_before: bool
    restated: Place
    lost_before: bool


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind of reference and the number in each state, which are never added up; ``chance`` as ``chance_words``."""

    name: str
    chance: str
    n_verbatim: int
    n_mentioned: int
    n_open: int
    n_gone: int


@dataclass(frozen=True, slots=True)
class NeedRow:
    """Something that was used later: where it stood, where it was needed."""

    kind: str
    text: str
    how: str
    stood: Place
    needed: Place
    distance: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """A tool call whose result is read again, or would have to be."""

    tool: str
    target: str
    place: Place
    again: Place
    tokens: int


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
    likely_source: str
    likely_calls: tuple[CallRow, ...]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the artifact trail."""

    path: str
    done: str
    state: str
    place: Place


@dataclass(frozen=True, slots=True)
class Losses:
    """One event's losses; ``counts`` are needs by state, rules apart."""

    rules: tuple[RuleRow, ...]
    n_rules: int
    n_rules_gone: int
    n_rules_open: int
    kinds: tuple[KindRow, ...]
    n_verbatim: int
    n_mentioned: int
    n_open: int
    n_gone: int
    open: tuple[NeedRow, ...]
    gone: tuple[NeedRow, ...]
    mentioned: tuple[NeedRow, ...]
    again: ReadAgain
    files: tuple[FileRow, ...]
    n_files: int
    n_files_gone: int
    chances_source: str = CHANCES_SOURCE


def build_lost(found: Assessment, weighed: Weighed, prices: Prices | None, link: Link, really: Reread | None) -> Losses:
    """The lists of one event; ``link`` gives a message's address, ``really`` what was fetched again."""
    states = [need.state for need in found.needs]
    rules = sorted(found.constraints, key=lambda kept: STATES[::-1].index(PLAIN_STATE[kept.state]))
    files = sorted(found.artifacts, key=lambda file: (STATES[::-1].index(file.state), -file.source_message))
    gone = [need for need in found.needs if need.state == GONE]
    unknown = [need for need in found.needs if need.state == OPEN]
    mentioned = [need for need in found.needs if need.state == MENTIONED]
    return Losses(
        rules=tuple(_rule(kept, link) for kept in rules[:MOST_RULES]),
        n_rules=len(rules),
        n_rules_gone=sum(kept.state == GONE for kept in rules),
        n_rules_open=sum(kept.state == OPEN for kept in rules),
        kinds=_kinds(found),
        n_verbatim=states.count(VERBATIM),
        n_mentioned=len(mentioned),
        n_open=len(unknown),
        n_gone=len(gone),
        open=tuple(_need(need, link) for need in unknown[:MOST_LOST]),
        gone=tuple(_need(need, link) for need in gone[:MOST_LOST]),
        mentioned=tuple(_need(need, link) for need in mentioned[:MOST_MENTIONED]),
        again=_again(found, weighed, prices, link, really),
        files=tuple(_file(file, link) for file in files[:MOST_FILES]),
        n_files=len(files),
        n_files_gone=sum(file.state == GONE for file in files),
    )


def dollars_of(tokens: int, prices: Prices | None) -> float | None:
    """Tokens sent once at the price of input, in US dollars; None without a price."""
    return None if prices is None else tokens * prices.input / PER_MILLION


def later(distance: int) -> str:
    """How many requests after the event: "at once", "1 request later"."""
    if distance <= 0:
        return "at once"
    return f"{counted(distance, 'request')} later"


def _place(message: int | None, link: Link) -> Place:
    return Place(message, "" if message is None else link(message))


def _rule(kept: RuleFate, link: Link) -> RuleRow:
    state = PLAIN_STATE[kept.state]
    return RuleRow(
        kept.text, state, "put back by the agent" if kept.state != state else "", kept.source,
        _place(kept.source_message, link), _place(kept.broken_at, link), kept.broken_by[:MOST_TEXT],
        kept.broken_before, _place(kept.restated_at, link), kept.lost_before,
    )  # fmt: skip


def _kinds(found: Assessment) -> tuple[KindRow, ...]:
    by_kind: dict[str, list[str]] = {}
    for need in found.needs:
        by_kind.setdefault(need.reference.kind, []).append(need.state)
    rows = [
        KindRow(KINDS.get(kind, kind), chance_words(kind), *(states.count(state) for state in STATES))
        for kind, states in by_kind.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.n_gone, -row.n_mentioned, row.name)))


def _need(need: Need, link: Link) -> NeedRow:
    return NeedRow(
        need.reference.kind, need.reference.text[:MOST_TEXT], HOWS.get(need.how, need.how),
        _place(need.source_message, link), _place(need.needed_at, link), later(need.distance),
    )  # fmt: skip


def _again(
    found: Assessment, weighed: Weighed, prices: Prices | None, link: Link, really: Reread | None
) -> ReadAgain:  # fmt: skip
    refetch = found.refetch
    pairs = really.again if really else ()
    return ReadAgain(
        refetch.tokens,
        dollars_of(refetch.tokens, prices),
        tuple(_call(call, None, weighed, link) for call in refetch.calls[:MOST_CALLS]),
        len(refetch.calls),
        refetch.n_elsewhere,
        really,
        tuple(_call(old, new, weighed, link) for old, new in pairs[:MOST_CALLS]),
        found.likely.words(prices),
        SOURCE,
        tuple(_call(call, None, weighed, link) for call in found.likely.calls[:MOST_CALLS]),
    )


def _call(call: ToolCall, new: ToolCall | None, weighed: Weighed, link: Link) -> CallRow:
    shown = call.result[0] if call.result else call.message
    return CallRow(
        call.name,
        call.key[:MOST_TEXT],
        _place(shown, link),
        _place(new.message if new else None, link),
        result_tokens(weighed, call),
    )


def _file(file: Artifact, link: Link) -> FileRow:
    return FileRow(file.path, file.done, file.state, _place(file.source_message, link))
