"""The over-count view of a session: its harnesses' gates in lanes and rows, and the messages that make them wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.engine.agents.agent import Trigger, own_trigger
from sessions.engine.base import registry
from sessions.engine.transcript.types import Kind
from sessions.engine.why.culprits import Culprit
from sessions.engine.why.document import summary
from sessions.engine.why.overcount import FALSE, LATE, MISSED, RIGHT, Firing, GateResult
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import media_url
from sessions.pages.ui.causes import trigger_href
from sessions.pages.ui.chart import figure_text
from sessions.pages.ui.message import MessageFigures
from sessions.pages.why.gates_chart import GateMark, Gates, GateTrack, gates_figure
from sessions.runs.overview import Overview, called

MOST_BLAMED = 8
LATER, LATER_SHARE = 3, 0.02
"""By how many requests, and by what share of those before it, a firing has to move before a message explains it."""
MATTERS = 0.05
"""Share of the threshold by which a message is over-counted before it is named though no gate hangs on it alone."""
ORDER = (FALSE, MISSED, LATE, RIGHT)


class GateRow:
    """One agent: what its trigger does, its first firing (or the one that never came), due at ``due``.

    ``tests`` are the first firing's culprits by deletion; ``withheld`` is the first firing of the same trigger when the
    provider reports no usage; ``false_by`` are tokens from the true context to the threshold where the first is false.
    """

    def __init__(self, result: GateResult, session_id: str, *, own: bool) -> None:
        self.result, self.own, self.summary = result, own, summary(result)
        self.counter = registry.get("estimators", result.gate.estimator).label
        self.first = first = result.firings[0] if result.firings else result.missed
        self.due = _due(first) if first else None
        self.false_by = result.threshold - first.reference if first and first.verdict == FALSE else None
        self.tests = [c for c in result.firings[0].culprits if _changes(result, c)] if result.firings else []
        self.withheld = result.withheld.firings[0] if result.withheld and result.withheld.firings else None
        self.replay = trigger_href(session_id, result.gate.name, first.request if first else None)


class WeighedMessage(MessageFigures):
    """One message that makes triggers wrong: what it weighs, by how much it is over-counted.

    ``url`` shows its first picture, "" where it has none.  ``changes``: without the message, the agents named fire
    first at a request, or never where that is None.
    """

    def __init__(self, view: Overview, index: int, held: Sequence[tuple[GateResult, Culprit]]) -> None:
        super().__init__(view, index)
        self.what, self.bytes_label = called(self.message, view.tools), view.bytes_label
        leaf = next((leaf for leaf in self.message.leaves() if leaf.kind is Kind.IMAGE and leaf.media), None)
        media = leaf.media if leaf else None
        self.url = media_url(leaf.kind, media.sha256, media.media_type) if leaf and media else ""
        self.width, self.height = (media.width, media.height) if media else (0, 0)
        self.factor = self.factor or max((c.factor for _, c in held if c.factor is not None), default=None)
        self.agents = list(dict.fromkeys(_named(result) for result, _ in held))
        by_request: dict[int | None, dict[str, None]] = {}
        for result, culprit in held:
            if _changes(result, culprit):
                by_request.setdefault(culprit.without, {})[_named(result)] = None
        self.changes = sorted(by_request.items(), key=lambda change: -1 if change[0] is None else change[0])


@dataclass(frozen=True, slots=True)
class WorstMessage:
    """The message that most first firings hang on: without it ``n_gates`` would not have fired at ``request``."""

    message: int
    request: int
    n_gates: int


class OverCountView:
    """Everything that ``sessions/why/_gates.html`` shows: the session's own agent first, then the wrongest."""

    def __init__(self, session_id: str, view: Overview) -> None:
        results, self.rows = view.gates.results, _rows(session_id, view)
        made = view.kept("triggers figure", lambda: figure_text(gates_figure(_gates(view, self.rows))), on="why")
        self.figure = SafeString(made)
        n_false = sum(result.count(FALSE) > 0 for result in results)
        n_fires, n = sum(bool(result.firings) for result in results), len(self.rows)
        alarms = f"{n_false} false {'alarm' if n_false == 1 else 'alarms'}" if n_false else "no false alarm"
        self.says = f"{n_fires} of {n} triggers fire, {alarms}" if n_fires else f"None of {n} triggers fires"
        self.n_never = sum(row.first is None for row in self.rows)
        self.blamed, self.stub_tokens = _blamed(view, results), view.gates.stub_tokens
        self.tempted = _tempted(results)


def triggers_near(session_id: str, view: Overview, near: tuple[int, int]) -> str:
    return figure_text(gates_figure(_gates(view, _rows(session_id, view)), near))


def _rows(session_id: str, view: Overview) -> tuple[GateRow, ...]:
    own = own_trigger(view.weighed.transcript)
    ordered = sorted(view.gates.results, key=lambda result: _rank(result, own))
    return tuple(GateRow(result, session_id, own=_is(result, own)) for result in ordered)


def _gates(view: Overview, rows: Sequence[GateRow]) -> Gates:
    contexts: list[int | None] = [None] * len(view.weighed.transcript.requests)
    for at, tokens, _ in view.contexts.values():
        contexts[at] = tokens
    recorded = [compaction.request for compaction in view.weighed.transcript.compactions]
    return Gates(contexts, view.gates.window, [_lane(row) for row in rows], view.context_label, recorded)


def _is(result: GateResult, own: Trigger | None) -> bool:
    """Whether it is the session's own, as its client's version counted it."""
    return own is not None and result.gate.name == own.name


def _rank(result: GateResult, own: Trigger | None) -> tuple[bool, bool, int]:
    """Those that fire or should come first, the agent's own before others, then those with the worst firing."""
    verdicts = {firing.verdict for firing in result.firings} | ({MISSED} if result.missed else set())
    return not verdicts, not _is(result, own), min(map(ORDER.index, verdicts), default=ORDER.index(RIGHT))


def _tempted(results: Iterable[GateResult]) -> WorstMessage | None:
    held: dict[tuple[int, int], list[str]] = {}
    for result in results:
        for culprit in result.firings[0].culprits if result.firings else ():
            if _changes(result, culprit):
                held.setdefault((culprit.message, result.firings[0].request), []).append(result.gate.name)
    if not held:
        return None
    message, request = max(held, key=lambda place: (len(held[place]), *(-at for at in place)))
    return WorstMessage(message, request, len(held[message, request]))


def _lane(row: GateRow) -> GateTrack:
    result = row.result
    marks = [_mark(result, firing) for firing in (*result.firings, *((result.missed,) if result.missed else ()))]
    words = [f"{n} {verdict}" for verdict in (FALSE, LATE, RIGHT) if (n := result.count(verdict))]
    sums = ", ".join(words + (["1 missed"] if result.missed else [])) or "never"
    return GateTrack(result.gate.label, marks, sums, alarm=result.count(FALSE) > 0, own=row.own)


def _due(firing: Firing) -> int | None:
    """The request at which a late firing should have come."""
    return firing.request - firing.n_requests if firing.verdict == LATE else None


def _mark(result: GateResult, firing: Firing) -> GateMark:
    behind = figures.plural(firing.n_requests, "request")
    came = {
        FALSE: "false alarm", RIGHT: "fires when it should", LATE: f"fires {behind} late",
        MISSED: f"missed for {behind}",
    }[firing.verdict]  # fmt: skip
    saw = f"sees {figures.count(firing.measure)} {result.unit}, actual {figures.count(firing.reference)} tokens"
    limit = f"threshold {figures.count(result.threshold)}" + (", the provider refuses" if firing.refused else "")
    says = f"{result.gate.label}, request {firing.request:,}: {came}<br>{saw}, {limit}"
    return GateMark(firing.verdict, firing.request, _due(firing), firing.message, says)


def _blamed(view: Overview, results: Iterable[GateResult]) -> tuple[WeighedMessage, ...]:
    """The messages behind false firings, those that most gates would not fire without first.

    One that changes nothing by itself is named only where it is a good part of the threshold.
    """
    held: dict[int, list[tuple[GateResult, Culprit]]] = {}
    for result in results:
        for firing in result.firings:
            for culprit in firing.culprits if firing.verdict == FALSE else ():
                held.setdefault(culprit.message, []).append((result, culprit))
    weights = {message: _weight(blame) for message, blame in held.items()}
    named = [message for message, (changed, excess) in weights.items() if changed or excess >= MATTERS]
    ranked = sorted(named, key=lambda message: weights[message], reverse=True)[:MOST_BLAMED]
    return tuple(WeighedMessage(view, message, held[message]) for message in ranked)


def _weight(held: Sequence[tuple[GateResult, Culprit]]) -> tuple[int, float]:
    """How many gates a message changes by itself, and its excess as a share of the threshold."""
    changed = {result.gate.name for result, culprit in held if _changes(result, culprit)}
    return len(changed), max((culprit.size - culprit.tokens) / result.threshold for result, culprit in held)


def _named(result: GateResult) -> str:
    return result.gate.label.partition(" (")[0]


def _changes(result: GateResult, culprit: Culprit) -> bool:
    """Whether the first firing hangs on the message: without it it never comes, or well later.

    Any message moves a firing that was near by a request or so; that explains nothing.
    """
    if not culprit.tested or culprit.without is None:
        return culprit.tested
    first = result.firings[0].request
    return culprit.without - first >= max(LATER, LATER_SHARE * first)
