"""Recorded against replayed: what the policy of the recording's own client does, as that client's version had it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.base import registry
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Link, session_urls, shown_part
from sessions.pages.ui.results import gate_words
from sessions.runs.replay_state import ReplayState

if TYPE_CHECKING:
    from sessions.engine.why.recorded import ComparedCompaction, Comparison, ConsistentThresholds

MOST = 20


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One recorded compaction: what the policy's trigger says there, in its own unit, and where the policy fires."""

    one: ComparedCompaction
    gate: str
    href: str


@dataclass(frozen=True, slots=True)
class RecordedView:
    """The comparison; ``recall`` and ``precision`` are words, ``consistent`` says what settings would explain it."""

    comparison: Comparison
    label: str
    rows: tuple[RecordedRow, ...]
    recall: str
    precision: str
    consistent: str
    href: str
    others: tuple[Link, ...]


def build_recorded(session_id: str, comparison: Comparison | None, start: int | None = None) -> RecordedView | None:
    """The comparison's window of rows from ``start`` on, else the first few; None where there is no comparison."""
    if comparison is None:
        return None
    state = ReplayState(policy=comparison.policy, base="recorded")
    to_replay = session_urls(session_id).to_replay
    url = reverse("sessions:why_recorded", args=[session_id])
    shown, others = shown_part(url, comparison.compared, MOST, start)
    rows = tuple(
        RecordedRow(
            one, "not asked" if one.gate is None else gate_words(one.gate),
            "" if one.fired_at is None else to_replay(state, request=one.fired_at),
        )
        for one in shown
    )  # fmt: skip
    return RecordedView(
        comparison, registry.get("policies", comparison.policy).label, rows, _share(comparison.recall),
        _share(comparison.precision), _consistent(comparison.consistent), to_replay(state), others,
    )  # fmt: skip


def _share(share: float | None) -> str:
    return "none to count" if share is None else figures.percent(share, 1)


def _consistent(found: ConsistentThresholds | None) -> str:
    """Which thresholds explain the automatic compactions, in a sentence."""
    if found is None:
        return ""
    if not found.possible:
        return (
            f"No one threshold explains the recording: not compacted at {found.above:,} {found.unit}, "
            f"compacted at {found.up_to:,} {found.unit}."
        )
    known = "; ".join(f"consistent with {words}" for words, _ in found.settings)
    span = f"A threshold over {found.above:,} and up to {found.up_to:,} {found.unit} explains every automatic one"
    return f"{span}: {known}." if known else f"{span}; no setting that is known has it."
