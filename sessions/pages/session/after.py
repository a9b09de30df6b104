"""What came after each recorded compaction, and which agents would compact there, beside the chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import writer_of
from sessions.engine.why.aftermath import COMPACTED, WHEN, Aftermath
from sessions.engine.why.case import COMPACTION
from sessions.pages.session.causes import CauseRow, Harm, build_causes, worst
from sessions.pages.ui import figures
from sessions.pages.ui.causes import trigger_href

if TYPE_CHECKING:
    from sessions.engine.quality.broken import RulesAfter
    from sessions.engine.why.overcount import Firing, GateResult
    from sessions.runs.overview import Overview

    FiringThere = tuple[GateResult, Firing, str]

SOURCES = 2
"""What refilled the context most, so many are named."""


@dataclass(frozen=True, slots=True)
class AgentsThere:
    """The triggers that fire at ``request``: the session's own agent's, and ``others`` of ``n`` that were asked.

    Each with what it counts there and its replay.  ``agent`` is the session's own, which compacted there, "" where it
    is not known; ``earlier``: a compaction came before it.
    """

    request: int
    agent: str
    own: tuple[FiringThere, ...]
    n: int
    others: tuple[FiringThere, ...]
    earlier: bool


def build_full_causes(session_id: str, view: Overview, rules: Iterable[RulesAfter] | None) -> tuple[CauseRow, ...]:
    """The table of causes with what came after each compaction; ``rules`` None: they were not looked at."""
    judged = {one.compaction: one for one in rules or ()}
    ways = {one.compaction: one for one in view.aftermaths}
    label = str(view.weighed.weak_label)
    return tuple(
        replace(row, then=_then(one), harm=_harm(one, judged.get(row.number), label))
        if row.what == COMPACTION and row.n == 1 and (one := ways.get(row.number))
        else row
        for row in build_causes(session_id, view)
    )


def _harm(one: Aftermath, rules: RulesAfter | None, label: str) -> Harm:
    n_files = sum(row.what == "file" for row in one.again)
    return Harm(rules, n_files, len(one.again) - n_files, one.tokens_again, label)


def _then(one: Aftermath) -> str:
    """When the context was full again, and with what."""
    if one.n_requests is None:
        return "" if one.last is None else f"Not full again: {figures.count(one.last)} tokens {WHEN[one.until].lower()}"
    again = "Compacted" if one.until == COMPACTED else "Full"
    later = f"{again} again {figures.plural(one.n_requests, 'request')} later"
    sources = _shares(one.refilled)
    return f"{later}, with {sources}" if sources else later


def _shares(refilled: Sequence[tuple[str, int]]) -> str:
    """The largest sources with their shares: ``read_file results (41%) and user (33%)``."""
    total = sum(tokens for _, tokens in refilled)
    return " and ".join(f"{name} ({figures.percent(tokens, total)})" for name, tokens in refilled[:SOURCES])


def agents_there(session_id: str, view: Overview) -> AgentsThere | None:
    """Whose triggers fire at the request of the headline; None where that is about no compaction."""
    found = worst(view)
    if found is None or found.what != COMPACTION:
        return None
    agent = writer_of(view.weighed.transcript)
    names = {trigger.name for trigger in agent.triggers}
    own = [result for result in view.gates.results if result.gate.name in names]
    others = [result for result in view.gates.results if result.gate.name not in names]
    first = min(compaction.request for compaction in view.weighed.transcript.compactions)
    return AgentsThere(
        found.request, agent.label, _fired(session_id, own, found.request), len(others),
        _fired(session_id, others, found.request), first < found.request,
    )  # fmt: skip


def _fired(session_id: str, results: Sequence[GateResult], request: int) -> tuple[FiringThere, ...]:
    """Those of the triggers that fire at a request, the farthest over its threshold first."""
    fired = [(one, firing) for one in results for firing in one.firings if firing.request == request]
    fired.sort(key=lambda pair: -pair[1].measure / pair[0].threshold)
    return tuple((one, firing, trigger_href(session_id, one.gate.name, firing.request)) for one, firing in fired)
