"""What came after each recorded compaction, and which agents would compact there, beside the chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import writer_of
from sessions.engine.why.aftermath import COMPACTED, WHEN
from sessions.engine.why.case import COMPACTION
from sessions.pages.session.causes import build_causes, worst
from sessions.pages.session.harm import harm_of
from sessions.pages.ui import figures
from sessions.pages.ui.triggers import trigger_href

if TYPE_CHECKING:
    from sessions.engine.quality.broken import RulesAfter
    from sessions.engine.why.aftermath import Aftermath
    from sessions.engine.why.overcount import GateResult
    from sessions.pages.session.causes import CauseRow
    from sessions.runs.overview import Overview

SOURCES = 2
"""What refilled the context most, so many are named."""


@dataclass(frozen=True, slots=True)
class AgentThere:
    """A trigger that fires at a request: what it counts there, in ``unit``, and its threshold in tokens."""

    label: str
    unit: str
    counted: str
    operator: str
    threshold: str
    href: str


@dataclass(frozen=True, slots=True)
class AgentsThere:
    """The triggers that fire at ``request``: the session's own agent's, and ``others`` of ``n`` that were asked.

    ``agent`` is the session's own, which compacted there, "" where it is not known; ``earlier``: a compaction came
    before it.
    """

    request: int
    agent: str
    own: tuple[AgentThere, ...]
    n: int
    others: tuple[AgentThere, ...]
    earlier: bool


def build_full_causes(session_id: str, view: Overview, rules: Iterable[RulesAfter] | None) -> tuple[CauseRow, ...]:
    """The table of causes with what came after each compaction; ``rules`` None: they were not looked at."""
    found = view.aftermaths
    judged = None if rules is None else {one.compaction: one for one in rules}
    ways = {one.compaction: one for one in found}
    return tuple(_told(session_id, view, row, ways, judged) for row in build_causes(session_id, view))


def _told(
    session_id: str,
    view: Overview,
    row: CauseRow,
    ways: dict[int, Aftermath],
    judged: dict[int, RulesAfter] | None,
) -> CauseRow:
    if row.what != COMPACTION or row.n > 1 or row.number not in ways:
        return row
    one = ways[row.number]
    rules = None if judged is None else judged.get(row.number)
    return replace(row, then=_then(one), harm=harm_of(session_id, view, one, rules))


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


def _fired(session_id: str, results: Sequence[GateResult], request: int) -> tuple[AgentThere, ...]:
    """Those of the triggers that fire at a request, the farthest over its threshold first."""
    fired = [(one, firing) for one in results for firing in one.firings if firing.request == request]
    fired.sort(key=lambda pair: -pair[1].measure / pair[0].threshold)
    return tuple(
        AgentThere(
            label=result.gate.label,
            unit=result.unit,
            counted=figures.count(firing.measure),
            operator=figures.sign(result.operator),
            threshold=figures.count(result.threshold),
            href=trigger_href(session_id, result.gate.name, firing.request),
        )
        for result, firing in fired
    )
