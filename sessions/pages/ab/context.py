"""Two replays side by side: charts on the same axes, and what differs between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.urls import reverse

from sessions.engine.quality.thrash import n_futile
from sessions.models import Session
from sessions.pages.ab import state as urlstate
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.results import Cell, cost_cell, saw_of, says, share_change, weakest_label
from sessions.pages.ui.saw import Saw, saw_figure, top_of
from sessions.runs import replay_state, replays


class Side:
    """One of the two."""

    def __init__(
        self, letter: str, session: Session, state: replay_state.ReplayState, ran: replays.ReplayRun, saw: Saw
    ) -> None:
        self.letter, self.policy = letter, ran.replay.policy.label or ran.replay.policy.name
        self.figure, self.says = figure_json(saw_figure(saw)), says(ran.totals)
        self.label = weakest_label(ran.replay.labels)
        self.replay_href = session_urls(session.pk).to_replay(replay_state.only_replayed(state))
        self.warnings, self.error = ran.replay.warnings, ran.error


@dataclass(frozen=True, slots=True)
class Difference:
    """One row of the table: A, B and B − A."""

    name: str
    cells: tuple[Cell, Cell, Cell]
    title: str = ""


class AbView:
    """Everything that ``sessions/ab/_view.html`` shows: two replays, of one session or of two."""

    def __init__(self, a: Session, b: Session, state: urlstate.AbState) -> None:
        runs = replays.run(a.pk, state.a), replays.run(b.pk, state.b)
        saws = [saw_of(session.pk, ran, None, None) for session, ran in zip((a, b), runs, strict=True)]
        top, self.last = max(map(top_of, saws)), max(len(saw.replay) for saw in saws) - 1
        shared = [replace(saw, top=top, last=self.last) for saw in saws]
        self.sides = Side("A", a, state.a, runs[0], shared[0]), Side("B", b, state.b, runs[1], shared[1])
        self.rows = _rows(*runs)
        self.same_session = a.pk == b.pk
        first = replay_state.only_replayed(state.a)
        self.same = self.same_session and first == state.b
        self.request = _request(state, *runs)
        lists = urlstate.query(state, request=self.request, event=None)
        self.lists_href = f"{reverse('sessions:diff', args=[a.pk])}?{lists}" if self.same_session else ""
        swapped = urlstate.AbState(state.b, first, a.pk if state.session else "")
        self.swap_href = f"{reverse('sessions:ab', args=[b.pk])}?{urlstate.query(swapped)}"


def _rows(a: replays.ReplayRun, b: replays.ReplayRun) -> tuple[Difference, ...]:
    title = "still over the threshold after it, or the next one came within three requests"
    rows = [
        _cost(a, b),
        _counted("Compactions", len(a.replay.events), len(b.replay.events)),
        _counted("First compaction at request", _first(a), _first(b)),
        _counted("Thrashing compactions", n_futile(a.replay), n_futile(b.replay), title),
        _counted("Failed attempts", len(a.replay.attempts), len(b.replay.attempts)),
        _counted("Summary calls", a.totals.summary_calls, b.totals.summary_calls),
        _counted("Requests over the window", _over(a), _over(b)),
    ]
    labels = [weakest_label(ran.replay.labels) for ran in (a, b)]
    names = (
        ("Peak context", "peak_context_tokens"), ("All tokens sent", "sent_tokens"), ("Input tokens", "input_tokens"),
        ("Cache read", "cache_read_tokens"), ("Cache write", "cache_write_tokens"), ("Output", "output_tokens"),
    )  # fmt: skip
    return (*rows, *(_tokens(name, getattr(a.totals, of), getattr(b.totals, of), labels) for name, of in names))


def _request(state: urlstate.AbState, a: replays.ReplayRun, b: replays.ReplayRun) -> int:
    """The request whose lists are worth comparing: the state's, else the first at which either has compacted."""
    if state.a.request is not None:
        return state.a.request
    return min((first for first in (_first(a), _first(b)) if first is not None), default=0)


def _first(ran: replays.ReplayRun) -> int | None:
    return ran.replay.events[0].request if ran.replay.events else None


def _over(ran: replays.ReplayRun) -> int:
    return sum((tokens or 0) > ran.replay.window for tokens in ran.replay.context_tokens)


def _cost(a: replays.ReplayRun, b: replays.ReplayRun) -> Difference:
    delta = Cell("no price", "dollars", "estimated")
    if a.totals.cost is not None and b.totals.cost is not None:
        ends = [round(getattr(b.totals.cost, end) - getattr(a.totals.cost, end), 2) for end in ("low", "high")]
        words = [f"{'+' if end > 0 else figures.MINUS if end < 0 else ''}${abs(end):,.2f}" for end in ends]
        said = words[0] if words[0] == words[1] else f"{words[0]} to {words[1]}"
        delta = Cell(said, "dollars", "estimated")
    title = "A range with the model's own error, at its upper end with what is fetched again"
    return Difference("Cost", (cost_cell(a.totals), cost_cell(b.totals), delta), title)


def _counted(name: str, a: int | None, b: int | None, title: str = "") -> Difference:
    delta = figures.NONE if a is None or b is None else figures.signed(b - a)
    return Difference(name, (Cell(figures.count(a)), Cell(figures.count(b)), Cell(delta)), title)


def _tokens(name: str, a: int, b: int, labels: list[str]) -> Difference:
    share = f", {share_change(b, a)}" if a else ""
    weaker = max(labels, key=("measured", "calibrated", "estimated").index)
    delta = Cell(f"{figures.signed(b - a)}{share if b != a else ''}", "tokens", weaker)
    one, two = (Cell(figures.count(number), "tokens", label) for number, label in zip((a, b), labels, strict=True))
    return Difference(name, (one, two, delta))
