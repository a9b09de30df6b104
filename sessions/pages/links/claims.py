"""One line for people that says what a link shows: "At 108,000 instead of 167,000 tokens: −17% cost, 1 rule lost"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.pages.ui import figures
from sessions.pages.ui.results import share_change
from sessions.runs import losses, replays
from sessions.runs.overview import overview
from sessions.runs.ranges import gate_of, threshold_param

if TYPE_CHECKING:
    from sessions.models import Session
    from sessions.runs.replay_state import ReplayState
    from sessions.runs.replays import ReplayRun


SAME = "The same setting"
"""What a reply says that moved nothing."""


def session_claim(session: Session) -> str:
    """One line that says why a session is worth a look."""
    if session.worst_overcount is not None and session.worst_overcount >= 10:
        return f"Message {session.worst_message:,} is overcounted {figures.factor(session.worst_overcount)}"
    n = session.n_compactions
    return f"{session.n_messages:,} messages, {figures.plural(n, 'compaction')} recorded"


def replay_claim(session: Session, state: ReplayState) -> str:
    """A replay against the setting that its policy starts from here; where nothing moved, what it shows."""
    name = threshold_param(overview(session.pk).weighed, state)
    start = replace(state, params=tuple(pair for pair in state.params if pair[0] != name))
    said = against(session, start, state) if start != state else ""
    if said:
        return said
    ran = replays.run(session.pk, state)
    n = len(ran.replay.events)
    peak = max((tokens for tokens in ran.replay.context_tokens if tokens is not None), default=0)
    found = f"{figures.plural(n, 'compaction')}, {session.n_compactions:,} recorded"
    return f"{ran.replay.policy.label}: {found}, peak {figures.count(peak)} tokens"


def diff_claim(session: Session, state: ReplayState) -> str:
    """One compaction in figures; the replay's claim where it has none."""
    events = replays.run(session.pk, state).replay.events
    if not events:
        return replay_claim(session, state)
    event = events[min(state.event or 0, len(events) - 1)]
    n = f"{event.n_before:,} → {event.n_after:,} messages"
    return f"Compaction {event.index + 1}: {n}, {event.before_tokens:,} → {event.after_tokens:,} tokens"


def against(session: Session, before: ReplayState, after: ReplayState) -> str:
    """What moving the threshold from one setting to another does; "" where both fire at the same place."""
    weighed = overview(session.pk).weighed
    gates = [gate_of(weighed, state, {}) for state in (before, after)]
    if gates[0] is None or gates[1] is None or gates[0].threshold == gates[1].threshold:
        return ""
    first, second = (replays.run(session.pk, state) for state in (before, after))
    moved = f"At {gates[1].threshold:,} instead of {gates[0].threshold:,} {gates[1].unit}"
    return f"{moved}: {', '.join((_cost(first, second), *_lost(session, second)))}"


def _cost(first: ReplayRun, second: ReplayRun) -> str:
    """The change of the cost; of the compactions where there is no price."""
    if first.totals.cost is not None and second.totals.cost is not None and first.totals.cost.low:
        return f"{share_change(second.totals.cost.low, first.totals.cost.low)} cost"
    n = second.totals.compactions
    return f"{figures.plural(n, 'compaction')} instead of {first.totals.compactions:,}"


def _lost(session: Session, ran: ReplayRun) -> tuple[str, ...]:
    """Rules lost in words; nothing where that is not at hand."""
    found = losses.of_replay(session, ran.replay)
    if found is None:
        return ()
    if found.n_open and not found.n_rules + found.n_gone:
        return ("losses depend on the summary",)
    return (figures.lost(found.n_rules, found.n_gone),)
