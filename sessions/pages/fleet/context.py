"""What the fleet page shows: sums by group, each figure with the sessions behind it, and what thresholds cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlencode

from django.urls import reverse

from sessions.engine.sweeps.advice import most_compactions
from sessions.engine.sweeps.fleet.groups import COUNTS, Group, Threshold
from sessions.engine.sweeps.fleet.values import BY, NOT_RECORDED, RECORDED
from sessions.pages.fleet import state as urlstate
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Choice
from sessions.runs.fleet import Fleet

WORDS = {"agent": "Agent", "client": "Version", "model": "Model", "project": "Project", "week": "Week"}
ONLY = {
    "n_compactions": "compacted", "n_false": "false", "n_refused": "refused", "n_missed": "missed",
    "n_thrash": "thrashing", "n_overcounted": "overcount", "tokens_again": "again",
}  # fmt: skip
"""The library's filter that shows the sessions behind a figure."""
HEADS = (
    ("Compactions", "recorded in the transcripts"),
    ("False alarms", "a counter was wrong: the context was under the threshold"),
    ("Refused", "requests that the provider refused for their size"),
    ("Missed", "compactions that did not come at the threshold"),
    ("Thrashing", "compacted again within 3 requests"),
    ("Overcounted", "messages with an image of 10 × its tokens or more"),
    ("Re-read", "tokens of re-read results that a compaction had dropped"),
)
NOT_SAID = "not recorded"
MOST = 200


@dataclass(frozen=True, slots=True)
class FleetCell:
    """One sum, in how many sessions it occurs, and where they are listed ("" where it occurs in none)."""

    value: int
    n_sessions: int
    href: str
    is_bad: bool


class FleetRow:
    """One group: ``href`` lists its sessions, ``inside`` shows it alone, grouped by something else."""

    def __init__(self, group: Group, state: urlstate.FleetState, alike: Mapping[str, str], name: str) -> None:
        following = BY[(BY.index(state.by) + 1) % len(BY)]
        self.name, self.title, self.n_sessions = name, group.key, group.n_sessions
        self.href = _library(alike, "")
        self.inside = reverse("sessions:fleet") + urlstate.query(following, alike)
        self.cells = [
            FleetCell(
                group.sums[key], group.sessions_with[key],
                _library(alike, ONLY[key]) if group.sums[key] else "", key in ("n_false", "n_refused", "n_missed"),
            )
            for key in COUNTS
        ]  # fmt: skip
        self.cost = "unknown" if group.dollars is None else f"${group.dollars:,.2f}"
        self.share = "unknown" if group.share_above is None else f"{100 * group.share_above:.0f}%"
        self.share_href = _library(alike, "above") if group.dollars_above else ""


class FleetView:
    """Everything that the page shows; ``narrowed`` are what the sessions have in common, with the way back."""

    def __init__(self, state: urlstate.FleetState, fleet: Fleet) -> None:
        alike, here = dict(state.alike), reverse("sessions:fleet")
        self.fleet, self.heads, self.column = fleet, HEADS, WORDS[state.by]
        self.tabs = [Choice(WORDS[by], here + urlstate.query(by, alike), by == state.by) for by in BY]
        self.narrowed = [
            Choice(
                f"{WORDS[name]}: {NOT_SAID if value == NOT_RECORDED else value}",
                here + urlstate.query(state.by, {**alike, name: ""}), True,
            )
            for name, value in alike.items()
        ]  # fmt: skip
        total, groups = fleet.sums.total, fleet.sums.groups
        self.total = FleetRow(total, state, alike, "All sessions")
        self.rows = [_group(group, state, alike) for group in groups[:MOST]]
        self.n_more = max(0, len(groups) - MOST)
        self.thresholds = _thresholds(fleet.sums.thresholds)
        recorded = fleet.sums.thresholds[:1]
        most = most_compactions(recorded[0].compactions) if recorded else 0
        self.mark = f"cheapest with at most {figures.plural(most, 'compaction')}"
        self.n_unpriced = total.n_sessions - total.n_priced


def _group(group: Group, state: urlstate.FleetState, alike: Mapping[str, str]) -> FleetRow:
    value = group.key or NOT_RECORDED
    name = PurePosixPath(group.key).name or group.key if state.by == "project" else group.key
    return FleetRow(group, state, {**alike, state.by: value}, name or NOT_SAID)


def _library(alike: Mapping[str, str], only: str) -> str:
    pairs = [("only", only)] if only else []
    pairs += [(name, value) for name, value in alike.items() if value]
    return reverse("sessions:library") + (f"?{urlencode(pairs)}" if pairs else "")


def _thresholds(found: Sequence[Threshold]) -> list[tuple[Threshold, str, str, str]]:
    """All sessions at each threshold, with its words, the cost, and how far that is from the recorded cost."""
    held, rows = found[0].low if found else None, []
    for row in found:
        middle = None if row.low is None else (row.low + (row.high or 0)) / 2
        change = "" if middle is None or not held or row.tokens == RECORDED else f"{100 * (middle / held - 1):+,.0f}%"
        cost = _range(row.low, row.high)
        words = "As recorded" if row.tokens == RECORDED else figures.count(row.tokens)
        rows.append((row, "Never" if row.tokens is None else words, cost, change.replace("-", figures.MINUS)))
    return rows


def _range(low: float | None, high: float | None) -> str:
    """A cost range with its ends, one figure where they are equal as written."""
    if low is None or high is None:
        return "unknown"
    first, last = f"{low:,.2f}", f"{high:,.2f}"
    return f"${first}" if first == last else f"${first}–{last}"
