"""A reply beside the link it answers: both settings, their charts on the same axes, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from sessions.pages.ab.context import Difference, build_ab
from sessions.pages.ab.state import AbState
from sessions.pages.links.redaction import cleaned, cleaned_figure
from sessions.pages.ui import figures
from sessions.pages.ui.results import Cell, loss_cells
from sessions.runs import losses, replays
from sessions.runs.ranges import gate_of
from sessions.runs.replay_state import ReplayState, only_replayed

if TYPE_CHECKING:
    from sessions.pages.links.opened import Opened

SHOWN = ("Cost", "Compactions", "First compaction at request", "Peak context", "Requests over the window")


@dataclass(frozen=True, slots=True)
class SharedSide:
    """One of the two: whose it is, where it compacts, its chart."""

    letter: str
    whose: str
    at: str
    figure: SafeString
    label: str
    says: str


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both sides and the rows of the table."""

    sides: tuple[SharedSide, SharedSide]
    rows: tuple[Difference, ...]


def side_by_side(opened: Opened, first: ReplayState, second: ReplayState, whose: tuple[str, str]) -> SideBySide:
    """Two settings of the link's session; ``whose`` they are is said over their charts."""
    session, choice = opened.session, opened.choice
    states = (only_replayed(first), only_replayed(second))
    ab = build_ab(session, session, AbState(*states))
    sides = [
        SharedSide(side.letter, name, _at(opened, state), cleaned_figure(side.figure, choice), side.label, side.says)
        for side, name, state in zip(ab.sides, whose, states, strict=True)
    ]
    rows = [row for row in ab.rows if row.name in SHOWN]
    rows[1:1] = _losses(opened, states)
    return SideBySide((sides[0], sides[1]), cleaned(tuple(rows), choice))


def _at(opened: Opened, state: ReplayState) -> str:
    gate = gate_of(opened.weighed, state, {})
    return f"compacts at {gate.threshold:,} {gate.unit}" if gate is not None else "no trigger"


def _losses(opened: Opened, states: tuple[ReplayState, ReplayState]) -> list[Difference]:
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
