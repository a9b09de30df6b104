"""A against B: the setting selected beside another one, in a sentence and as two lines over the same requests."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.engine.costs.cost_report import span
from sessions.engine.quality.baseline import NAME, change_words
from sessions.engine.sweeps.sweep import UNSEEN, Row, Sweep
from sessions.models import Session
from sessions.pages.ab import state as ab_state
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.sweep.state import SweepState
from sessions.pages.ui import figures
from sessions.pages.ui.chart import (
    Figure,
    axis,
    drawn,
    figure_json,
    index_ticks,
    layout,
    line,
    note,
    thousands,
    ticks,
    titled,
)
from sessions.pages.ui.saw import thinned
from sessions.runs import replay_state, replays

HEIGHT = 210
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 26, "b": 34}, {"l": 50, "r": 14, "t": 26, "b": 34}
OPEN = "losses depend on the summary"


class Sideline:
    """One of the two: ``rules`` and ``gone`` are None where losses are not counted, ``is_open`` where more depends on a
    summary that nobody has written.

    ``loses`` says what it loses, ``uses`` what is used later and lost, "" where that is not known.
    """

    def __init__(self, row: Row, state: replay_state.ReplayState, name: str = "") -> None:
        is_cut = bool(row.more.get(UNSEEN))
        counted = "rules_gone" in row.more and not is_cut
        self.name = name or ("no compaction" if state.policy == "none" else state.plugin.label or state.policy)
        self.at, self.totals, self.is_open = row.threshold, row.totals, bool(row.more.get("losses_open"))
        self.rules = int(row.more["rules_gone"]) if counted else None
        self.gone = int(row.more["needs_gone"]) if counted else None
        self.loses, self.uses = "losses not all in the file" if is_cut else "losses not counted", ""
        if self.gone is not None:
            self.loses = OPEN if self.is_open and not self.rules else figures.lost(self.rules or 0, 0)
            if self.gone or not self.is_open:
                self.uses = f"{figures.plural(self.gone, 'thing')} used later and lost"


class Versus:
    """The panel and the headline: the row selected against ``other``, else against the session as recorded."""

    def __init__(self, session: Session, sweep: Sweep, state: SweepState, picked: Row, other: Row | None) -> None:
        a_state = sweep_rows.replay_of(state, picked.setting)
        a, contexts = Sideline(picked, a_state), [replays.run(session.pk, a_state).replay.context_tokens]
        self.full_href = ""
        if other is None:
            b = Sideline(sweep.recorded, a_state, NAME)
            contexts.append(replays.as_sent(session.pk).replay.context_tokens)
            names = (a.name if a.at is None else f"{a.at:,}", NAME)
        else:
            b_state = sweep_rows.replay_of(state, other.setting)
            b = Sideline(other, b_state)
            contexts.append(replays.run(session.pk, b_state).replay.context_tokens)
            names = _names(a, b)
            if names[0] == names[1] and a.at is None:
                names = _by_setting(names[0], picked, other)
            self.full_href = ab_state.address(session.pk, a_state, b_state)
        self.a, self.b = names
        self.headline, self.says = _headline(a, b, names), _difference(a, b)
        first, second = (f"{name[0].upper()}{name[1:]}" for name in names)
        uses = f", {b.uses}" if b.uses else ""
        self.price = f"{second} costs {_cost(b)}: {b.loses}{uses}." + (f" {first}: {a.uses}." if a.uses else "")
        self.figure = figure_json(_figure(contexts, names, picked.window))
        self.label = str(sweep.weighed.total_label)


def _names(a: Sideline, b: Sideline) -> tuple[str, str]:
    """How the two are told apart: by threshold where the policy is one, else by policy too."""
    at = [f"{one.at:,}" if one.at is not None else "" for one in (a, b)]
    if a.name == b.name and all(at):
        return at[0], at[1]
    first, second = (f"{one.name} at {words}" if words else one.name for one, words in zip((a, b), at, strict=True))
    return first, second


def _by_setting(name: str, picked: Row, other: Row) -> tuple[str, str]:
    """Two settings of one policy that compact at no number of tokens, told apart by what differs in them."""
    mine, given = dict(picked.setting.params), dict(other.setting.params)
    keys = [key for key, value in mine.items() if not isinstance(value, str) and value != given.get(key)]
    if not keys:
        return name, name
    return sweep_rows.setting_words(picked.setting, keys), sweep_rows.setting_words(other.setting, keys)


def _headline(a: Sideline, b: Sideline, names: tuple[str, str]) -> str:
    """ "At 108,000: 16 to 17% cheaper than as recorded, 1 rule lost"."""
    at = "At " if a.at is not None and names[0].replace(",", "").isdecimal() else ""
    loses = figures.lost(0, a.gone) if a.rules == 0 and a.gone else a.loses
    change = change_words(a.totals, b.totals)
    against = names[1] if b.name == NAME or not at else f"at {names[1]}"
    than = "as" if change.startswith(("the same", "as many")) else "than"
    return f"{at}{names[0]}: {change} {than} {against}, {loses}".replace("as as recorded", "as recorded")


def _cost(one: Sideline) -> str:
    cost = one.totals.cost
    return span(cost.low, cost.high) if cost is not None else f"{one.totals.sent_tokens:,} tokens"


def _difference(a: Sideline, b: Sideline) -> str:
    """ "A is 6 to 7% cheaper and loses 11 more things"."""
    change = change_words(a.totals, b.totals)
    found = [f"{'costs' if change.startswith('the same') else 'is' if change.endswith('er') else 'has'} {change}"]
    if a.gone is not None and b.gone is not None:
        if a.is_open or b.is_open:
            return f"A {found[0]}; what each loses depends on the summary"
        more = a.gone - b.gone
        things = figures.plural(abs(more), f"{'more' if more > 0 else 'fewer'} thing")
        found.append(f"loses {things}" if more else "loses as many things")
    return f"A {' and '.join(found)}"


def _figure(contexts: Sequence[Sequence[int | None]], names: tuple[str, str], window: int) -> Figure:
    last = max(max(len(one) for one in contexts) - 1, 1)
    top = max([value for one in contexts for value in one if value] or [1]) * 1.15
    figure = layout(HEIGHT, HEIGHT, MARGIN, NARROW_MARGIN)
    marks = ticks(top, 3)
    figure["xaxis"] = axis(
        range=[-0.5, last + 0.8], anchor="y", tickvals=index_ticks(0, last), tickformat=",d",
        title=titled("request", 2), showline=True, linecolor="@chart-axis",
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
    return drawn(data, figure)
