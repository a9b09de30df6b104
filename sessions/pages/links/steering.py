"""The recipient's setting beside the sender's: the slider, what it comes to, and a reply's two charts."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.pages.ab.context import AbView, Difference, Side
from sessions.pages.ab.state import AbState
from sessions.pages.links import opened as links
from sessions.pages.links import shared_views
from sessions.pages.links.redaction import cleaned, cleaned_figure
from sessions.pages.ui import figures
from sessions.pages.ui.compact_at import CompactAt, compact_at, place_of
from sessions.pages.ui.results import Cell, Fact, cost_cell, loss_cells
from sessions.runs import losses, replays
from sessions.runs.ranges import gate_of
from sessions.runs.replay_state import ReplayState, only_replayed


@dataclass(frozen=True, slots=True)
class Steering:
    """The slider ``at`` the sender's setting, in the trigger's own unit, and the ``threshold`` that is shown."""

    at: CompactAt
    threshold: int
    share: str
    place: float
    is_moved: bool
    says: str


def steering(opened: links.Opened) -> Steering | None:
    """The slider of a link; None where the sender keeps it still, or nothing moves the trigger."""
    if not opened.moves:
        return None
    weighed, state = opened.weighed, opened.senders
    at = compact_at(weighed, state)
    if not at.param or at.threshold is None or at.high <= at.low:
        return None
    gate = gate_of(weighed, opened.setting, {})
    threshold = gate.threshold if gate is not None else at.threshold
    share = figures.percent(threshold, state.window or weighed.window) if at.unit == "tokens" else ""
    is_moved = opened.compact_at is not None and threshold != at.threshold
    says = shared_views.against(opened.session, state, opened.setting) if is_moved else ""
    return Steering(at, threshold, share, place_of(at, at.threshold), is_moved, says)


def facts(opened: links.Opened, state: ReplayState) -> tuple[Fact, ...]:
    """Rules lost, what is used later and lost, and the cost of a setting, each beside the recording's."""
    session, ran = opened.session, replays.run(opened.session.pk, state)
    found, recorded = losses.of_replay(session, ran.replay), losses.of_recording(session)
    paid = replays.recording(session.pk).totals
    cells = []
    if found is not None:
        kept = loss_cells(recorded) if recorded is not None and opened.weighed.transcript.compactions else None
        for name, cell, other in zip(("Rules lost", "Used later and lost"), loss_cells(found), kept or (None, None),
                                     strict=True):  # fmt: skip
            cells.append(Fact(name, cell, f"recorded {other.value}" if other else "no compaction recorded"))
    cost = "no price" if paid.cost is None else f"recorded {cost_cell(paid).value}"
    return (*cells, Fact("Cost", cost_cell(ran.totals), cost))


SHOWN = ("Cost", "Compactions", "First compaction at request", "Peak context", "Requests over the window")


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both sides, each with its chart, whose it is and where it compacts, and the rows of the table."""

    sides: tuple[tuple[Side, SafeString, str, str], ...]
    rows: tuple[Difference, ...]


def side_by_side(opened: links.Opened, first: ReplayState, second: ReplayState, whose: tuple[str, str]) -> SideBySide:
    """Two settings of the link's session; ``whose`` they are is said over their charts."""
    session, choice = opened.session, opened.choice
    states = (only_replayed(first), only_replayed(second))
    ab = AbView(session, session, AbState(*states))
    sides = tuple(
        (side, cleaned_figure(side.figure, choice), name, _at(opened, state))
        for side, name, state in zip(ab.sides, whose, states, strict=True)
    )
    rows = [row for row in ab.rows if row.name in SHOWN]
    rows[1:1] = _losses(opened, states)
    return SideBySide(sides, cleaned(tuple(rows), choice))


def _at(opened: links.Opened, state: ReplayState) -> str:
    gate = gate_of(opened.weighed, state, {})
    return f"compacts at {gate.threshold:,} {gate.unit}" if gate is not None else "no trigger"


def _losses(opened: links.Opened, states: tuple[ReplayState, ReplayState]) -> list[Difference]:
    """Rules lost, and what is used later and lost; nothing where that is not at hand."""
    a, b = (losses.of_replay(opened.session, replays.run(opened.session.pk, state).replay) for state in states)
    if a is None or b is None:
        return []
    deltas = (b.n_rules - a.n_rules, b.n_gone - a.n_gone)
    known = not (a.n_open or b.n_open)
    cells = zip(("Rules lost", "Used later and lost"), loss_cells(a), loss_cells(b), deltas, strict=True)
    return [
        Difference(name, (one, two, Cell(figures.signed(delta) if known else "unknown")))
        for name, one, two, delta in cells
    ]
