"""One line for people that says what a link shows, with the figures and the baseline of the table under it.

"Claude Code auto-compact at 108,000 tokens: 16 to 17% cheaper than recorded, 1 rule lost".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.quality.baseline import change_words
from sessions.models import Session
from sessions.pages.diff.compared import compared
from sessions.pages.ui import figures
from sessions.runs import losses, replays
from sessions.runs.overview import overview
from sessions.runs.ranges import gate_of

if TYPE_CHECKING:
    from sessions.runs.replay_state import ReplayState


SAME = "The same setting"
"""What a reply says that moved nothing."""


def session_claim(session: Session) -> str:
    """One line that says why a session is worth a look."""
    if session.is_overcounted:
        return f"Message {session.worst_message:,} is overcounted {figures.factor(session.worst_overcount)}"
    n = session.n_compactions
    return f"{session.n_messages:,} messages, {figures.plural(n, 'compaction')} recorded"


def replay_claim(session: Session, state: ReplayState) -> str:
    """A replay against the session as recorded: where it compacts, the change of the cost, what it loses."""
    ran, gate = replays.run(session.pk, state), gate_of(overview(session.pk).weighed, state, {})
    at = "" if gate is None or state.policy == "none" else f" at {gate.threshold:,} {gate.unit}"
    return f"{ran.replay.policy.label}{at}: {', '.join((_paid(session, ran), *_lost(session, ran)))}"


def _paid(session: Session, ran: replays.ReplayRun) -> str:
    """What the table says of the cost against its baseline; of the compactions where there is no price."""
    base = replays.recording(session.pk).totals
    if ran.totals.cost is not None and base.cost is not None:
        change = change_words(ran.totals, base)
        return f"{change} {'as' if change.startswith('the same') else 'than'} recorded"
    return f"{figures.plural(ran.totals.compactions, 'compaction')}, {base.compactions:,} recorded"


def diff_claim(session: Session, state: ReplayState) -> str:
    """The two lists that are shown in figures, which tell nothing of other compactions."""
    two = compared(session.pk, state)
    if two is None:
        return "No compaction with this setting"
    what = f"Compaction {two.event.index + 1}" if two.event else two.heading.title.capitalize()
    n = f"{len(two.before):,} → {len(two.after):,} messages"
    return f"{what}: {n}, {two.tokens_before:,} → {two.tokens_after:,} tokens"


def against(session: Session, before: ReplayState, after: ReplayState) -> str:
    """What moving the threshold from one setting to another does; "" where both fire at the same place."""
    weighed = overview(session.pk).weighed
    gates = [gate_of(weighed, state, {}) for state in (before, after)]
    if gates[0] is None or gates[1] is None or gates[0].threshold == gates[1].threshold:
        return ""
    first, second = (replays.run(session.pk, state) for state in (before, after))
    moved = f"At {gates[1].threshold:,} instead of {gates[0].threshold:,} {gates[1].unit}"
    return f"{moved}: {', '.join((_cost(first, second), *_lost(session, second)))}"


def _cost(first: replays.ReplayRun, second: replays.ReplayRun) -> str:
    """The change of the cost; of the compactions where there is no price."""
    if first.totals.cost is not None and second.totals.cost is not None:
        return change_words(second.totals, first.totals)
    n = second.totals.compactions
    return f"{figures.plural(n, 'compaction')} instead of {first.totals.compactions:,}"


def _lost(session: Session, ran: replays.ReplayRun) -> tuple[str, ...]:
    """Rules lost in words; nothing where that is not at hand."""
    found = losses.of_replay(session, ran.replay)
    if found is None:
        return ()
    if found.n_open and not found.n_rules + found.n_gone:
        return ("losses depend on the summary",)
    return (figures.lost(found.n_rules, found.n_gone),)
