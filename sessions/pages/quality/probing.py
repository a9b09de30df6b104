"""The probes of one event as the quality page lists them, the skill's verdict, and the table of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.quality.probes import QUESTIONS, advice
from sessions.engine.quality.standing import GONE, STATES
from sessions.pages.quality.lost import Place

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment, QualityTarget
    from sessions.pages.quality.lost import Link
    from sessions.pages.quality.state import QualityState

BADGES = {"green": "badge-ok", "amber": "badge-warn", "red": "badge-danger"}
WORDS = {kind: kind.replace("_", " ") for kind in QUESTIONS} | {"constraint": "rule", "own": "your own"}


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One question, its answer's state, and where the answer stood."""

    kind: str
    question: str
    keywords: str
    critical: bool
    state: str
    stood: Place


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A row of the target table; ``badge`` is the class of its colour, whose word is ``status``."""

    name: str
    percent: float | None
    target: str
    red_flag: str
    status: str
    badge: str


@dataclass(frozen=True, slots=True)
class KindChoice:
    """A kind of probe and whether failing it is never accepted."""

    value: str
    words: str
    critical: bool


@dataclass(frozen=True, slots=True)
class Probing:
    """Everything about the probes of one event; ``percent`` is the skill's score."""

    rows: tuple[ProbeRow, ...]
    n: int
    n_verbatim: int
    n_mentioned: int
    n_open: int
    n_gone: int
    n_critical_failed: int
    percent: float | None
    accepted: bool | None
    advice: str
    targets: tuple[TargetRow, ...]
    kinds: tuple[KindChoice, ...]
    own: str
    n_unsaid: int


def build_probing(found: Assessment, state: QualityState, n_own: int, link: Link) -> Probing:
    """The probes of one event; ``n_own`` of the reader's own are said anywhere."""
    order = sorted(
        found.answers, key=lambda a: (STATES[::-1].index(a.state), not a.probe.critical, a.probe.source_message)
    )
    score = found.score
    return Probing(
        rows=tuple(
            ProbeRow(
                WORDS[a.probe.kind], a.probe.question, ", ".join(a.probe.keywords), a.probe.critical, a.state,
                Place(a.probe.source_message, link(a.probe.source_message)),
            )
            for a in order
        ),
        n=score.n,
        n_verbatim=score.verbatim,
        n_mentioned=score.mentioned,
        n_open=score.open,
        n_gone=sum(a.state == GONE for a in order),
        n_critical_failed=score.critical_failed,
        percent=None if score.score is None else 100 * score.score,
        accepted=score.accepted,
        advice=advice(score),
        targets=tuple(_target(target) for target in found.targets),
        kinds=tuple(KindChoice(kind, WORDS[kind], kind in state.kinds) for kind in QUESTIONS),
        own="\n".join(state.ask),
        n_unsaid=len(state.ask) - n_own,
    )  # fmt: skip


def _target(target: QualityTarget) -> TargetRow:
    percent = None if target.value is None else 100 * target.value
    return TargetRow(
        target.name.capitalize(), percent, target.target, target.red_flag, target.status, BADGES.get(target.status, "")
    )
