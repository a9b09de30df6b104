"""Recorded against replayed: what the policy of the recording's own client does, as that client's version had it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.base import registry
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.results import gate_words
from sessions.pages.ui.windows import WINDOW, first_link, window_links
from sessions.runs.replay_state import ReplayState

if TYPE_CHECKING:
    from sessions.engine.why.recorded import ComparedCompaction, Comparison, ConsistentThresholds
    from sessions.pages.ui.windows import WindowLink

MOST = 20
BADGES = {"early": "badge-warn", "missed": "badge-warn"}


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One recorded compaction; ``before`` in tokens, None where the recorder gives none; ``gate`` in its own unit."""

    index: int
    request: int
    trigger: str
    before: int | None
    gate: str
    outcome: str
    badge: str
    fired_at: int | None
    href: str
    kept: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedView:
    """The comparison; ``recall`` and ``precision`` are words, ``consistent`` says what settings would explain it."""

    policy: str
    label: str
    window: int
    rows: tuple[RecordedRow, ...]
    recall: str
    precision: str
    n_false_alarms: int
    n_by_hand: int
    consistent: str
    href: str
    others: tuple[WindowLink, ...]


def build_recorded(
    session_id: str, comparison: Comparison | None, start: int | None = None
) -> RecordedView | None:  # fmt: skip
    """The comparison's window of rows from ``start`` on, else the first few; None where there is no comparison."""
    if comparison is None:
        return None
    state = ReplayState(policy=comparison.policy, base="recorded")
    to_replay = session_urls(session_id).to_replay
    url, every = reverse("sessions:why_recorded", args=[session_id]), comparison.compared
    shown = every[:MOST] if start is None else every[start : start + WINDOW]
    rows = tuple(_row(one, to_replay(state, request=one.fired_at) if one.fired_at is not None else "") for one in shown)
    return RecordedView(
        comparison.policy, registry.get("policies", comparison.policy).label, comparison.window, rows,
        _share(comparison.recall), _share(comparison.precision), comparison.n_false_alarms, comparison.n_by_hand,
        _consistent(comparison.consistent), to_replay(state),
        first_link(url, len(rows), len(every)) if start is None else window_links(url, start, len(every)),
    )  # fmt: skip


def _row(one: ComparedCompaction, href: str) -> RecordedRow:
    asked = "not asked" if one.gate is None else gate_words(one.gate)
    kept = ""
    if one.after is not None:
        after = one.after
        kept = f"{after.kept_by_both:,} kept by both, {after.kept_by_recording:,} by the recording, "
        kept += f"{after.kept_by_policy:,} by the policy"
    return RecordedRow(
        one.index, one.request, one.trigger or "not said", one.recorded_before, asked, one.outcome,
        BADGES.get(one.outcome, ""), one.fired_at, href, kept, one.reasons,
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
