"""A against B: the setting selected beside another one, in a sentence and as two lines over the same requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from sessions.engine.agent import writer_of
from sessions.engine.cost_report import span
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, axis, figure_json, index_ticks, layout, line, note, thousands, ticks
from sessions.pages.ui.results import share_change
from sessions.pages.ui.saw import thinned
from sessions.runs import losses, replay_state, replays
from sessions.runs.ranges import gate_of
from sessions.runs.replay_state import ReplayState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.safestring import SafeString

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.cost import Totals
    from sessions.engine.sweeps.sweep import Row
    from sessions.models import Session
    from sessions.pages.sweep.state import SweepState

HEIGHT = 210
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 26, "b": 34}, {"l": 50, "r": 14, "t": 26, "b": 34}
OPEN = "losses depend on the summary"


@dataclass(frozen=True, slots=True)
class Sideline:
    """One of the two: ``rules`` and ``gone`` are None where losses are not counted, ``is_open`` where more depends on a
    summary that nobody has written."""

    name: str
    at: int | None
    totals: Totals
    rules: int | None
    gone: int | None
    is_open: bool

    @property
    def loses(self) -> str:
        """What it loses, in words."""
        if self.rules is None or self.gone is None:
            return "losses not counted"
        if self.is_open and not self.rules:
            return OPEN
        return figures.lost(self.rules, 0)

    @property
    def uses(self) -> str:
        """What is used later and lost, "" where that is not known."""
        if self.gone is None or (self.is_open and not self.gone):
            return ""
        return f"{figures.plural(self.gone, 'thing')} used later and lost"


@dataclass(frozen=True, slots=True)
class Versus:
    """The panel and the headline."""

    headline: str
    price: str
    a: str
    b: str
    says: str
    figure: SafeString
    full_href: str
    label: str


def start_of(state: SweepState, weighed: Weighed) -> ReplayState:
    """What the session ran under: its agent's policy, as that client was set; no compaction where none is known.

    Where an API's requests name their own trigger, it ran under none unless they do.
    """
    agent, stated = writer_of(weighed.transcript), weighed.transcript.trigger_at is not None
    in_requests = agent.least_trigger is not None or bool(agent.stated_policy)
    known = agent.policies if stated or not in_requests else ()
    policy = next((name for name in known if name in state.policies), next(iter(known), "none"))
    return replace(ReplayState(), policy=policy, window=state.replay.window, summarizer=state.replay.summarizer,
                   base=state.replay.base, estimator=state.replay.estimator)  # fmt: skip


def versus(session: Session, weighed: Weighed, state: SweepState, picked: Row, other: Row | None) -> Versus:
    """The row selected against ``other``, else against where the session started."""
    a_state = sweep_rows.replay_of(state, picked.setting)
    b_state = start_of(state, weighed) if other is None else sweep_rows.replay_of(state, other.setting)
    a = _of_row(picked, a_state, weighed)
    b = (
        _of_replay(session, b_state, weighed, counted=state.losses)
        if other is None
        else _of_row(other, b_state, weighed)
    )
    runs = [replays.run(session.pk, one).replay for one in (a_state, b_state)]
    names = _names(a, b)
    if names[0] == names[1] and a.at is None:
        names = _by_setting(names[0], picked, other, b_state)
    second = urlencode([("b.policy", b_state.policy)])
    rest = [f"b.{pair}" for pair in replay_state.query(b_state).split("&") if pair and not pair.startswith("policy=")]
    first = replay_state.query(a_state)
    return Versus(
        headline=_headline(a, b, names),
        price=f"{names[1]} costs {_cost(b)}: {b.loses}{', ' + b.uses if b.uses else ''}."
        + (f" {names[0]}: {a.uses}." if a.uses else ""),
        a=names[0],
        b=names[1],
        says=_difference(a, b),
        figure=figure_json(_figure([run.context_tokens for run in runs], names, picked.window)),
        full_href=f"{reverse('sessions:ab', args=[session.pk])}?" + "&".join(filter(None, (first, second, *rest))),
        label=str(weighed.total_label),
    )


def _of_row(row: Row, state: ReplayState, weighed: Weighed) -> Sideline:
    counted = "rules_gone" in row.more
    rules, gone = (int(row.more["rules_gone"]), int(row.more["needs_gone"])) if counted else (None, None)
    return Sideline(
        _label(state), _threshold(weighed, state), row.totals, rules, gone, bool(row.more.get("losses_open"))
    )


def _of_replay(session: Session, state: ReplayState, weighed: Weighed, *, counted: bool) -> Sideline:
    ran = replays.run(session.pk, state)
    lost = losses.of_replay(session, ran.replay) if counted else None
    rules, gone = (None, None) if lost is None else (lost.n_rules, lost.n_gone)
    return Sideline(_label(state), _threshold(weighed, state), ran.totals, rules, gone, bool(lost and lost.n_open))


def _label(state: ReplayState) -> str:
    return "no compaction" if state.policy == "none" else state.plugin.label or state.policy


def _threshold(weighed: Weighed, state: ReplayState) -> int | None:
    """Where it compacts, in tokens; None where it counts something else."""
    gate = gate_of(weighed, state, {}) if state.policy != "none" else None
    return gate.threshold if gate is not None and gate.unit == "tokens" else None


def _names(a: Sideline, b: Sideline) -> tuple[str, str]:
    """How the two are told apart: by threshold where the policy is one, else by policy too."""
    at = [f"{one.at:,}" if one.at is not None else "" for one in (a, b)]
    if a.name == b.name and all(at):
        return at[0], at[1]
    first, second = (f"{one.name} at {words}" if words else one.name for one, words in zip((a, b), at, strict=True))
    return first, second


def _by_setting(name: str, picked: Row, other: Row | None, start: ReplayState) -> tuple[str, str]:
    """Two settings of one policy that compact at no number of tokens, told apart by what differs in them."""
    mine = dict(picked.setting.params)
    given = dict(other.setting.params if other is not None else start.params)
    keys = [key for key, value in mine.items() if not isinstance(value, str) and value != given.get(key)]
    if not keys:
        return name, name
    first = sweep_rows.setting_words(picked.setting, keys)
    return first, sweep_rows.setting_words(other.setting, keys) if other is not None else f"{name} as it started"


def _headline(a: Sideline, b: Sideline, names: tuple[str, str]) -> str:
    """ "At 108,000 instead of 167,000: −17% cost, 1 rule lost"."""
    at = "At " if a.name == b.name and a.at is not None and b.at is not None else ""
    loses = f", {figures.lost(0, a.gone) if a.rules == 0 and a.gone else a.loses}"
    if names[0] == names[1]:
        return f"{at or 'With '}{names[0]}, as the session started{loses}"
    priced = a.totals.cost is not None and b.totals.cost is not None
    mine, other = (_middle(a), _middle(b)) if priced else (a.totals.sent_tokens, b.totals.sent_tokens)
    change = share_change(mine, other) if other else ""
    what = "cost" if priced else "tokens sent"
    said = f"{change} {what}" if change and change.strip("0. %") else f"the same {what}"
    return f"{at}{names[0]} instead of {names[1]}: {said}{loses}"


def _middle(one: Sideline) -> float:
    cost = one.totals.cost
    return 0.0 if cost is None else cost.middle


def _cost(one: Sideline) -> str:
    cost = one.totals.cost
    return span(cost.low, cost.high) if cost is not None else f"{one.totals.sent_tokens:,} tokens"


def _difference(a: Sideline, b: Sideline) -> str:
    """ "A costs $1.15 less and loses 11 things more"."""
    found = []
    if a.totals.cost is not None and b.totals.cost is not None:
        less = round(_middle(b) - _middle(a), 2)
        found.append(f"costs ${abs(less):,.2f} {'less' if less > 0 else 'more'}" if less else "costs the same")
    known = a.gone is not None and b.gone is not None and not (a.is_open or b.is_open)
    if known and a.gone is not None and b.gone is not None:
        more = a.gone - b.gone
        things = figures.plural(abs(more), "thing")
        found.append(f"loses {things} {'more' if more > 0 else 'fewer'}" if more else "loses as many things")
    elif a.gone is not None:
        return f"A {' and '.join(found)}; what each loses depends on the summary"
    return f"A {' and '.join(found)}" if found else ""


def _figure(contexts: Sequence[Sequence[int | None]], names: tuple[str, str], window: int) -> Figure:
    """A in blue, B in ink."""
    last = max(max(len(one) for one in contexts) - 1, 1)
    top = max([value for one in contexts for value in one if value] or [1]) * 1.15
    figure = layout(HEIGHT, HEIGHT, MARGIN, NARROW_MARGIN)
    marks = ticks(top, 3)
    figure["xaxis"] = axis(
        range=[-0.5, last + 0.8], anchor="y", tickvals=index_ticks(0, last), tickformat=",d",
        title={"text": "request", "font": {"size": 12}, "standoff": 2}, showline=True, linecolor="@chart-axis",
    )  # fmt: skip
    figure["yaxis"] = axis(range=[0, top], anchor="x", tickvals=marks, ticktext=[thousands(m) for m in marks],
                           fixedrange=True)  # fmt: skip
    figure["shapes"] = [line("@chart-grid", y=(mark, mark), below=True) for mark in marks]
    if window <= top:
        figure["shapes"].append(line("@chart-strong", y=(window, window)))
    data = []
    words = []
    for at, (letter, role, width) in reversed(list(enumerate((("A", "@chart-line", 2), ("B", "@chart-strong", 1.25))))):
        shown = thinned(contexts[at])
        data.append({
            "type": "scatter", "mode": "lines", "name": letter, "x": shown, "y": [contexts[at][x] for x in shown],
            "line": {"shape": "hv", "width": width, "color": role},
            "hovertemplate": f"%{{y:,}} tokens<extra>{letter}: {names[at]}</extra>",
        })  # fmt: skip
        words.append(
            note(f"{letter}: {names[at]}", at, 1, xref="paper", yref="paper", shift=(0, 6), role=role, weight=600,
                 at="left bottom" if at == 0 else "right bottom")
        )  # fmt: skip
    figure["annotations"] = words
    return {"data": data, "layout": figure, "config": {"displayModeBar": False, "doubleClick": "reset"}}
