"""What is left after several compactions: each rule, path and identifier followed through every summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from sessions.engine.quality.assess import Assessment, Assessor
from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.index import Index
from sessions.engine.quality.references import IDENTIFIER, PATH
from sessions.engine.quality.standing import GONE, MENTIONED, OPEN, PLAIN_STATE, VERBATIM, Standing
from sessions.engine.replays.events import Event
from sessions.engine.weigh.calibration.weighed import Weighed

Look = tuple[Standing, Standing]
Looked = tuple[int, Event, Standing, Standing]

FEWEST = 2
"""Compactions of which a course can be told on a page."""
RULE = "rule"
KINDS = (RULE, PATH, IDENTIFIER)
LEFT = (VERBATIM, MENTIONED)
"""The states of a value that is left."""


@dataclass(frozen=True, slots=True)
class Traced:
    """One value that stood before the first compaction, and its state after each one.

    ``lost_at`` is the first compaction after which it stood nowhere, from 0, None where it always stood somewhere;
    ``used_at`` the first message that names it from then on, a rule's first call that breaks it, None for never.
    """

    kind: str
    text: str
    states: tuple[str, ...]
    lost_at: int | None
    used_at: int | None


@dataclass(frozen=True, slots=True)
class Generation:
    """What is left after one compaction, by state (given again is left), and ``summary_tokens`` of what it wrote."""

    number: int
    request: int
    summary_tokens: int
    counts: dict[str, int]

    @property
    def share(self) -> float:
        """The part of the values that stands word for word or is mentioned, 0 to 1."""
        return sum(self.counts[state] for state in LEFT) / max(sum(self.counts.values()), 1)


@dataclass(frozen=True, slots=True)
class KindLeft:
    """What is left of ``n`` values of one kind: ``shares`` after each compaction, as ``Generation.share``."""

    kind: str
    n: int
    shares: tuple[float, ...]
    half_life: float | None


@dataclass(frozen=True, slots=True)
class Generations:
    """All compactions, the values (those lost and used later first), and after how many half are left, if so."""

    events: tuple[Generation, ...]
    values: tuple[Traced, ...]
    half_life: float | None

    @property
    def kinds(self) -> tuple[KindLeft, ...]:
        """The same by kind, those that occur."""
        by_kind = {kind: [one for one in self.values if one.kind == kind] for kind in KINDS}
        return tuple(_kind_left(kind, values, len(self.events)) for kind, values in by_kind.items() if values)


def generations(
    weighed: Weighed, index: Index, events: Sequence[tuple[int, Event]], texts: Mapping[str, str]
) -> Generations:
    """Follow what stood before the first of numbered ``events`` through all of them; ``texts`` as in ``standing``."""
    assessor = Assessor(weighed, index)
    return _followed(index, [(number, event, *assessor.look(event, texts)) for number, event in events])


def generations_assessed(index: Index, found: Sequence[Assessment]) -> Generations:
    """The same of compactions that were judged."""
    return _followed(index, [(one.number, one.event, one.before, one.after) for one in found])


def _followed(index: Index, looked: Sequence[Looked]) -> Generations:
    looks = [(before, after) for _, _, before, after in looked]
    if not looks:
        return Generations((), (), None)
    values = [*_rules(index, looks), *_references(index, looks)]
    found = tuple(
        Generation(number, event.request, _written(event), {
            state: sum(one.states[k] == state for one in values) for state in (VERBATIM, MENTIONED, OPEN, GONE)
        })
        for k, (number, event, _, _) in enumerate(looked)
    )  # fmt: skip
    ranked = sorted(values, key=lambda one: (one.lost_at is None, one.used_at is None, one.lost_at or 0, one.text))
    return Generations(found, tuple(ranked), half_life([1.0, *(one.share for one in found)]))


def half_life(shares: Sequence[float]) -> float | None:
    """Where a curve that starts at compaction 0 first falls to a half of its first value, in compactions."""
    half = shares[0] / 2
    for at, (before, after) in enumerate(pairwise(shares)):
        if after <= half < before:
            return at + (before - half) / (before - after)
    return None


def _kind_left(kind: str, values: Sequence[Traced], n_events: int) -> KindLeft:
    shares = tuple(sum(one.states[k] in LEFT for one in values) / len(values) for k in range(n_events))
    return KindLeft(kind, len(values), shares, half_life([1.0, *shares]))


def _written(event: Event) -> int:
    """Tokens of what the compaction put in."""
    known = {item.id for item in event.before}
    return sum(item.tokens for item in event.after if item.inserted and item.id not in known)


def _rules(index: Index, looks: Sequence[Look]) -> list[Traced]:
    """Rules that were said before the first compaction."""
    first, found = looks[0][0], []
    for rule in index.constraints:
        if rule.message > first.newest or state_of(rule, first) == GONE:
            continue
        states = tuple(PLAIN_STATE[state_of(rule, after)] for _, after in looks)
        at = _lost_at(states)
        broken = None if at is None else rule.broken_in(looks[at][0].newest, index.n_messages)
        found.append(Traced(RULE, rule.rule.text, states, at, broken.message if broken else None))
    return found


def _references(index: Index, looks: Sequence[Look]) -> list[Traced]:
    """Paths and identifiers that stood before the first compaction."""
    first, found = looks[0][0], []
    for number, reference in enumerate(index.references):
        if reference.kind not in (PATH, IDENTIFIER) or not first.has(index, number):
            continue
        states = tuple(_state(index, number, after) for _, after in looks)
        at = _lost_at(states)
        used = None if at is None else next((use for use in index.uses[number] if use > looks[at][0].newest), None)
        found.append(Traced(reference.kind, reference.text, states, at, used))
    return found


def _state(index: Index, reference: int, after: Standing) -> str:
    if after.has(index, reference):
        return VERBATIM
    return MENTIONED if reference in after.named else after.missing


def _lost_at(states: Sequence[str]) -> int | None:
    return next((at for at, state in enumerate(states) if state == GONE), None)


def generations_document(found: Generations, session: str, policy: str) -> dict[str, Any]:
    """``ctxweb.generations/1``; ``policy`` is "" for the compactions that were recorded."""
    return {
        "schema": "ctxweb.generations/1",
        "session": session,
        "policy": policy or None,
        "compactions": [
            {"number": one.number, "request": one.request, "summary_tokens": one.summary_tokens, **one.counts}
            | {"share_left": round(one.share, 4)}
            for one in found.events
        ],
        "half_life": _rounded(found.half_life),
        "kinds": [
            {
                "kind": one.kind,
                "n": one.n,
                "share_left": [round(share, 4) for share in one.shares],
                "half_life": _rounded(one.half_life),
            }
            for one in found.kinds
        ],
        "values": [asdict(one) for one in found.values],
    }


def _rounded(half: float | None) -> float | None:
    return None if half is None else round(half, 2)
