"""What the Why page shows of a session, worked out once per process and weighed session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sessions.contexts.fit import FitView, build_fit
from sessions.contexts.over_counts import OverCountView, build_over_counts
from sessions.contexts.overview import overview
from sessions.contexts.recorded import RecordedView, build_recorded
from sessions.contexts.verdict_cards import Card, build_cards
from sessions.engine.why.document import why_of
from sessions.engine.why.overcount import over_count
from sessions.engine.why.verdicts import headline, verdicts_of
from sessions.kept import Kept

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.why.overcount import OverCount
    from sessions.engine.why.verdicts import Verdict

KEPT = 12


@dataclass(frozen=True)
class Reasons:
    """What the engine says of a session, each answer worked out when it is first asked for."""

    session_id: str
    weighed: Weighed

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One for every recorded, refused or missing compaction."""
        return verdicts_of(self.weighed)

    @cached_property
    def headline(self) -> str:
        """The first thing said of the session."""
        return headline(self.weighed, self.verdicts)

    @cached_property
    def gates(self) -> OverCount:
        """The gates of known harnesses on it."""
        return over_count(self.weighed)

    @cached_property
    def page(self) -> WhyView:
        """The page's content."""
        view = overview(self.session_id)
        return WhyView(
            headline=self.headline,
            cards=build_cards(self.session_id, self.weighed.transcript, self.verdicts),
            n_verdicts=len(self.verdicts),
            n_compactions=len(self.weighed.transcript.compactions),
            gates=build_over_counts(self.session_id, view, self.gates),
            fit=build_fit(self.session_id, view),
            recorded=build_recorded(self.session_id, self.weighed),
        )


@dataclass(frozen=True, slots=True)
class WhyView:
    """Everything that ``sessions/why.html`` shows."""

    headline: str
    cards: tuple[Card, ...]
    n_verdicts: int
    n_compactions: int
    gates: OverCountView
    fit: FitView
    recorded: RecordedView | None


_held: Kept[str, Reasons] = Kept(lambda held: len(held) > KEPT)


def reasons(session_id: str) -> Reasons:
    """The engine's answers, from this process's cache while the weighed session is the same."""
    weighed = overview(session_id).weighed
    held = _held.find(session_id)
    if held is None or held.weighed is not weighed:
        return _held.keep(session_id, Reasons(session_id, weighed))
    return held


def why_document(session_id: str) -> dict[str, Any]:
    """``ctxweb.why/1`` of the session alone: its headline, every verdict, every gate, the fit."""
    found = reasons(session_id)
    entry = why_of(found.weighed, found.verdicts, found.gates)
    return {"schema": "ctxweb.why/1", "format": found.weighed.transcript.format, "sessions": [entry]}
