"""What came after each recorded compaction, what became of rules at it, and what its client's policy does there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from sessions.engine.base import registry
from sessions.engine.quality.broken import RulesAfter
from sessions.engine.why.aftermath import WHEN, Aftermath
from sessions.engine.why.recorded import ComparedCompaction, Comparison, ConsistentThresholds
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import session_urls, shown_part
from sessions.pages.ui.results import gate_words
from sessions.runs.overview import Overview
from sessions.runs.replay_state import ReplayState

MOST, NAMED, SOURCES = 20, 3, 3
TARGET_CHARS = 48


class AftermathRow:
    """What came after ``one``: ``sources`` in tokens, largest first; ``again`` the first targets, and who asked."""

    def __init__(self, one: Aftermath) -> None:
        self.one, self.when = one, WHEN[one.until]
        self.minutes = None if one.minutes is None else round(one.minutes)
        self.sources = ", ".join(f"{name} {figures.count(tokens)}" for name, tokens in one.refilled[:SOURCES])
        again = sorted(one.again, key=lambda row: -row.tokens)
        self.again = [(end_of(row.target), row.message) for row in again[:NAMED]]
        self.n_more = max(0, len(again) - NAMED)


class AftermathTable:
    """One row per compaction: the window from ``start`` on, else the first few; and where the ``others`` are."""

    def __init__(self, session_id: str, view: Overview, start: int | None = None) -> None:
        url = reverse("sessions:why_aftermath", args=[session_id])
        shown, self.others = shown_part(url, view.aftermaths, MOST, start)
        self.rows, self.weak = [AftermathRow(one) for one in shown], str(view.weighed.weak_label)


def end_of(target: str) -> str:
    """The end of a long target: files differ there.  It begins with a folder where one begins early in it."""
    if len(target) <= TARGET_CHARS:
        return target
    end = target[1 - TARGET_CHARS :]
    return f"…{end[max(end.find('/', 0, TARGET_CHARS // 2), 0) :]}"


class RulesView:
    """What the pane shows: compactions before which rules were said, and the rules broken after one, by its number.

    ``steering`` are texts of tool results that address the summariser: message, text, compactions.
    """

    def __init__(self, found: Sequence[RulesAfter]) -> None:
        said: dict[tuple[int, str], list[str]] = {}
        for one in found:
            for steered in one.steering:
                said.setdefault(steered, []).append(str(one.compaction + 1))
        self.compactions = [one for one in found if one.n_rules]
        self.broken = [(one.compaction + 1, rule) for one in found for rule in one.broken]
        self.steering = [(message, text, ", ".join(numbers)) for (message, text), numbers in said.items()]


MOST_RECORDED = 20


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One recorded compaction: what the policy's trigger says there, in its own unit, and where the policy fires."""

    one: ComparedCompaction
    gate: str
    href: str


class RecordedView:
    """The comparison's window of rows from ``start`` on, else the first few; ``recall`` and ``precision`` are words.

    ``consistent`` says what settings would explain it.
    """

    def __init__(self, session_id: str, comparison: Comparison, start: int | None = None) -> None:
        state, to_replay = ReplayState(policy=comparison.policy, base="recorded"), session_urls(session_id).to_replay
        url = reverse("sessions:why_recorded", args=[session_id])
        shown, self.others = shown_part(url, comparison.compared, MOST_RECORDED, start)
        self.rows = [
            RecordedRow(
                one, "not asked" if one.gate is None else gate_words(one.gate),
                "" if one.fired_at is None else to_replay(state, request=one.fired_at),
            )
            for one in shown
        ]  # fmt: skip
        self.comparison, self.label = comparison, registry.get("policies", comparison.policy).label
        self.recall, self.precision = _share(comparison.recall), _share(comparison.precision)
        self.consistent, self.href = _consistent(comparison.consistent), to_replay(state)


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
