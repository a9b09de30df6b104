"""Compare: what is recommended and why, the charts, the heat map, the table, what the agents are set to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.urls import reverse
from django.utils.safestring import SafeString

from sessions.engine.costs.breakeven import EventCost
from sessions.engine.costs.cost_report import beside_usage
from sessions.engine.reports.configuration import Snippet, configure
from sessions.engine.sweeps.advice import NOTHING, Pick, cost_range, limit_of, objections, usual_growth, window_words
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import POLICY, Row, Setting, Sweep
from sessions.engine.transcript.types import Label
from sessions.models import Session
from sessions.pages.sweep import rows as sweep_rows
from sessions.pages.sweep import state as urlstate
from sessions.pages.sweep.chart import CurvePoint, FrontPoint, curve_figure, front_figure
from sessions.pages.sweep.picks import PickCard, advised, shown_row, unbeaten
from sessions.pages.sweep.rows import Heat
from sessions.pages.sweep.versus import Versus
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Choice
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.results import Cell, Fact, depends
from sessions.runs import replay_state
from sessions.runs.sweeps import SweepResult, together

AGAINST_WORDS = {
    "compactions": "Compactions", "peak": "Peak context, tokens", "needs_gone": "Used later and lost",
    "rules_gone": "Rules lost", "forgotten": "Forgotten, % of what is used later",
}  # fmt: skip
MOST_ROWS = 600


class SweepView:
    """Everything that ``sessions/sweep/_view.html`` shows; ``versus`` sets the selected one beside another."""

    def __init__(self, state: urlstate.SweepState, swept: SweepResult, sessions: Sequence[Session], path: str) -> None:
        self.state, self.swept, self.sessions, self.path = state, swept, sessions, path
        self.whole: Sweep = together(swept.sweeps)
        self.settings: tuple[Row, ...] = self.whole.rows
        self.keys = [one.key for one in self.whole.axes]
        self.floors = dict(state.floors)
        # Whether what settings lose depends on summaries that nobody has written.
        self.is_open = any(row.more.get("losses_open") for one in swept.sweeps for row in one.rows)
        self.advice, self.best, self.across = advised(swept, self.floors)
        advised_row = shown_row(self.whole, self.best, self.advice)
        by_hand = state.pick is not None and state.pick < len(self.settings)
        self.picked = state.pick if by_hand and state.pick is not None else advised_row
        self.picked_by_hand = by_hand and not (self.best is not None and self.picked == advised_row)
        self.row = self.settings[self.picked]
        self.setting: Setting = self.row.setting
        self.is_nothing = self.advice.answer == NOTHING
        self.against = objections(self.whole) if len(sessions) == 1 else {}
        self.priced = any(row.totals.cost is not None for row in self.settings)
        labels = {one.weighed.total_label for one in swept.sweeps}
        self.label = str(next((x for x in (Label.ESTIMATED, Label.CALIBRATED) if x in labels), Label.MEASURED))
        known = [best.dollars for best in swept.best if best is not None]
        self.least_dollars = sum(known) if known and len(known) == len(swept.sweeps) else 0.0
        self.hrefs = [self.lab(index) for index in range(len(self.settings))]
        self.lab_href = self.hrefs[self.picked]
        self.unbeaten = unbeaten(self.settings, state.against, self.floors)
        self.front_words = AGAINST_WORDS[state.against].partition(",")[0].lower()
        self.curve, self.curve_title = self._curve()
        # What reads texts does so here, where a text that is gone is answered for.
        self.versus, self.cards = self._versus(), self._cards()

    def here(self, **changes: object) -> str:
        return f"{self.path}?{urlstate.query(self.state, **changes)}"

    def lab(self, index: int) -> str:
        """The replay of a row; over several sessions the row selected here."""
        if len(self.sessions) > 1:
            return self.here(pick=index)
        state = sweep_rows.replay_of(self.state, self.settings[index].setting)
        path, query = reverse("sessions:replay", args=[self.sessions[0].pk]), replay_state.query(state)
        return f"{path}?{query}" if query else path

    def ratio(self, row: Row) -> float | None:
        return row.totals.cost.low / self.least_dollars if row.totals.cost is not None and self.least_dollars else None

    def snippets(self) -> tuple[Snippet, ...]:
        """The configuration of every agent for the setting selected."""
        window = self.setting.window or self.state.replay.window
        params, weighed = dict(self.setting.params), self.swept.sweeps[0].weighed
        return configure(self.setting.policy, params, window=window, weighed=weighed)

    def title(self) -> str:
        return sweep_rows.setting_words(self.setting, self.keys)

    def recorded(self) -> tuple[Cell, ...]:
        return self.cells(self.whole.recorded, None)

    def cells(self, row: Row, ratio: float | None) -> tuple[Cell, ...]:
        """The figures of a row of the table."""
        with_ratio = bool(self.least_dollars)
        return sweep_rows.cells(row, ratio, label=self.label, priced=self.priced, with_ratio=with_ratio)

    def measures(self) -> list[Choice]:
        return [Choice(one, self.here(measure=one), one == self.state.measure) for one in urlstate.MEASURES]

    def againsts(self) -> list[Choice]:
        known = urlstate.AGAINST if self.state.losses else urlstate.AGAINST[:2]
        words = {one: AGAINST_WORDS[one].partition(",")[0].lower() for one in known}
        return [Choice(words[one], self.here(against=one), one == self.state.against) for one in known]

    def losses_href(self) -> str:
        losses = not self.state.losses
        return self.here(losses=losses, against=urlstate.usual_against(losses=losses))

    @cached_property
    def heat(self) -> Heat | None:
        is_grid = len(self.whole.axes) == 2
        return Heat(self.whole, self.state, self.floors, self.picked, self.hrefs) if is_grid else None

    def cheapest(self) -> str:
        """What the cheapest schedules cost, "" where that is not known."""
        return f"${self.least_dollars:,.2f}" if self.least_dollars else ""

    def _versus(self) -> Versus | None:
        if len(self.sessions) != 1:
            return None
        at = self.state.b
        other = self.settings[at] if at is not None and at < len(self.settings) else None
        return Versus(self.sessions[0], self.swept.sweeps[0], self.state, self.row, other)

    def says(self) -> str:
        """The answer in a sentence; of several sessions the setting for all of them."""
        if len(self.sessions) == 1 or self.best is None:
            return self.advice.sentence.rstrip(".")
        return f"{sweep_rows.setting_words(self.best, self.keys)}. {self.advice.sentence}".rstrip(".")

    def _cards(self) -> tuple[PickCard, ...]:
        if len(self.sessions) != 1:
            return ()
        places = {id(row): index for index, row in enumerate(self.settings)}

        def card(pick: Pick) -> PickCard:
            index = None if pick.as_recorded else places[id(pick.row)]
            hrefs = ("", "") if index is None else (f"{self.here(pick=index)}#apply", self.hrefs[index])
            return PickCard(pick, self.advice, self.swept.sweeps[0], self.sessions[0], self.state, hrefs=hrefs)

        return tuple(map(card, self.advice.picks))

    def nothing(self) -> str:
        """When it would matter, where there is nothing to tune."""
        held = self.whole.recorded
        growth = usual_growth(self.swept.sweeps[0].weighed)
        left = limit_of(held) - held.totals.peak_context_tokens
        if len(self.sessions) != 1 or self.advice.answer != NOTHING or growth <= 0 or left <= 0:
            return ""
        more = figures.plural(max(left // growth, 1), "more request")
        return f"Nine in ten requests add at most {growth:,} tokens. At that rate the first compaction is {more} away."

    def held_words(self) -> str:
        """Where the recorded usage costs otherwise than what was sent does by the rule of the settings."""
        if len(self.sessions) != 1:
            return ""
        return beside_usage(self.swept.sweeps[0].weighed, self.whole.recorded.totals, self.whole.prices)

    def facts(self) -> tuple[Fact, ...]:
        row, sums = self.row, self.row.totals
        share = sweep_rows.share_of_window(sums.peak_context_tokens, row, self.whole)
        cost = Cell(sweep_rows.cost_words(row), "dollars" if self.priced else "tokens", "estimated")
        found = [
            Fact("Cost" if self.priced else "Tokens sent", cost, "low: as replayed; high: fetched again"),
            Fact("Compactions", Cell(figures.count(sums.compactions)),
                 figures.plural(sums.summary_calls, "summary call")),
            Fact("Peak context", Cell(figures.count(sums.peak_context_tokens), "tokens", self.label),
                 share if row.fits else f"over {window_words(row, self.whole)}"),
        ]  # fmt: skip
        ratio = self.ratio(row)
        if ratio is not None and ratio >= 1:
            least = f"${self.least_dollars:,.2f} with hindsight"
            found.append(Fact("Above cheapest possible", Cell(f"×{ratio:.2f}", "", "estimated"), least))
        unknown = depends(int(row.more.get("losses_open", 0))) or "over all compactions"
        found += [
            Fact(sweep_rows.LOSS_WORDS[name], Cell(figures.count(row.more[name])), unknown)
            for name in ("rules_gone", "needs_gone")
            if name in row.more
        ]
        return tuple(found)

    def badges(self) -> tuple[str, ...]:
        """What is swept, in words."""
        found = []
        for one in self.whole.axes:
            if one.key == POLICY:
                found.append(f"{len(one.values)} policies")
                continue
            ends = [sweep_rows.axis_value(self.state.policies[0], one.key, one.values[at]) for at in (0, -1)]
            steps = figures.plural(len(one.values), "step")
            found.append(f"{sweep_rows.key_words(self.state.policies[0], one.key)} {ends[0]} to {ends[1]}, {steps}")
        if not self.state.several:
            found.insert(0, sweep_rows.policy_words(self.state.policies[0]))
        return (*found, *([f"{len(self.sessions)} sessions"] if len(self.sessions) > 1 else []))

    def front(self) -> SafeString:
        measure = sweep_rows.measure_of(self.state.against)
        mine = self.setting.policy
        points = [
            FrontPoint(
                index,
                *cost_range(row),
                measure(row),
                sweep_rows.hover(row, self.keys),
                row.setting.policy,
                index in self.unbeaten,
                index == self.picked,
                keeps(row, self.floors),
                row.setting.policy == mine,
            )
            for index, row in enumerate(self.settings)
        ]
        floor = self.floors.get(f"max_{self.state.against}")
        held = self.whole.recorded
        n = figures.plural(held.totals.compactions, "compaction")
        base = (*cost_range(held), measure(held), f"as recorded<br>{sweep_rows.cost_words(held)}<br>{n}")
        return figure_json(
            front_figure(points, priced=self.priced, against=self._against_words(), floor=floor, held=base)
        )

    def _against_words(self) -> str:
        """The second axis; where a summary has no text more may be lost, and less be forgotten."""
        words = AGAINST_WORDS[self.state.against]
        if self.state.against == "forgotten":
            bound = any(row.recall is not None and row.recall.at_least for row in (*self.settings, self.whole.recorded))
            return words.replace(",", " at most,", 1) if bound else words
        is_open = self.is_open and self.state.against.endswith("gone")
        return f"{words}; more may depend on the summary" if is_open else words

    def _curve(self) -> tuple[SafeString, str]:
        """The rows through the one selected along the first axis of numbers, and its title; "" for fewer than two."""
        key = next((k for k in self.keys if k != POLICY), "")
        here = {**self.row.values, key: None}
        along = [i for i, row in enumerate(self.settings) if key and {**row.values, key: None} == here]
        if len(along) < 2:
            return figure_json({}), ""
        steps = [
            CurvePoint(
                index,
                row.values[key],
                *cost_range(row),
                row.totals.compactions,
                row.totals.peak_context_tokens,
                sweep_rows.hover(row, self.keys),
                index == self.picked,
            )
            for index, row in ((i, self.settings[i]) for i in along)
        ]
        row = self.row
        title = sweep_rows.axis_title(row.setting.policy, key)
        figure = figure_json(curve_figure(steps, title=title, priced=self.priced, window=row.window))
        held = sweep_rows.setting_words(row.setting, [k for k in self.keys if k not in {key, POLICY}])
        return figure, f"Along {sweep_rows.key_words(row.setting.policy, key)}: {held}"

    @cached_property
    def columns(self) -> list[SettingColumn]:
        counted = self.settings[0].more
        ends, sent = "low: as replayed; high: fetched again", "read from the cache or not, summary calls included"
        found = [SettingColumn(self, key, self._head(key), words=key == POLICY) for key in self.keys]
        found += [
            SettingColumn(self, "cost", "Cost" if self.priced else "Tokens sent", ends),
            SettingColumn(self, "compactions", "Compactions"),
            SettingColumn(self, "peak", "Peak context"),
        ]
        if self.priced:
            found.append(SettingColumn(self, "sent", "Tokens sent", sent, optional=True))
        if self.least_dollars:
            hindsight = "its cost ÷ that of the cheapest schedule, with hindsight"
            found.append(SettingColumn(self, "regret", "Above cheapest", hindsight, optional=True))
        found += [SettingColumn(self, name, words) for name, words in sweep_rows.LOSS_WORDS.items() if name in counted]
        if "needs_asked" in counted:
            found.append(SettingColumn(self, "forgotten", "Still answers", sweep_rows.RECALL_TITLE))
        return found

    def _head(self, key: str) -> str:
        """A swept parameter with its unit, where all policies of the sweep give it the same."""
        units = {sweep_rows.unit_of(policy, key) for policy in self.state.policies}
        words = {sweep_rows.key_words(policy, key) for policy in self.state.policies}
        head = "Policy" if key == POLICY else words.pop() if len(words) == 1 else key
        return sweep_rows.with_unit(head[:1].upper() + head[1:], units.pop() if len(units) == 1 else "")

    @cached_property
    def rows(self) -> list[TableRow]:
        ratios = {i: r for i, row in enumerate(self.settings) if (r := self.ratio(row)) is not None}
        ordered = sweep_rows.sorted_rows(list(enumerate(self.settings)), self.state.sort, ratios)
        names = {id(pick.row): pick.name for pick in self.advice.picks}
        return [
            TableRow(self, index, row, ratios.get(index), names.get(id(row), "")) for index, row in ordered[:MOST_ROWS]
        ]

    @cached_property
    def free(self) -> tuple[tuple[EventCost, str, str, str], ...]:
        """The cheapest schedule's compactions: each, its call, its rewrite, after how many requests it pays off."""
        if len(self.swept.best) != 1 or self.swept.best[0] is None:
            return ()
        return tuple(
            (
                cost, _dollars(cost.call), _dollars(cost.rewrite),
                "never" if cost.break_even_calls is None else f"{cost.break_even_calls:,.1f}",
            )
            for cost in self.swept.best[0].costs
        )  # fmt: skip

    @cached_property
    def held(self) -> tuple[tuple[Session, str, str, str, bool], ...]:
        """The sessions left out in turn: each, its replay, what the others choose, its cost, its limits."""
        if self.across is None:
            return ()
        query, found = replay_state.query(sweep_rows.replay_of(self.state, self.across.setting)), []
        for session, judged in zip(self.sessions, self.across.judged, strict=True):
            chosen = "" if judged.chosen is None else sweep_rows.setting_words(judged.chosen, self.keys)
            ratio = "none" if judged.ratio is None else f"×{judged.ratio:.2f}"
            href = f"{reverse('sessions:replay', args=[session.pk])}?{query}"
            found.append((session, href, chosen, ratio, judged.keeps))
        return tuple(found)


class SettingColumn:
    """A column of the table, which its head sorts by; ``order`` is how it is sorted now ("ascending", "descending")."""

    def __init__(
        self, view: SweepView, key: str, name: str, title: str = "", *, words: bool = False, optional: bool = False
    ) -> None:
        self.name, self.title, self.words, self.optional = name, title, words, optional
        now = view.state.sort
        self.order = "ascending" if now == key else "descending" if now == f"-{key}" else ""
        self.href = view.here(sort=f"-{key}" if now == key else "" if self.order else key)


class TableRow:
    """One setting; ``href`` is its replay, ``pick`` and ``pick_b`` select it as A or B; advised under ``names``."""

    def __init__(self, view: SweepView, index: int, row: Row, ratio: float | None, names: str) -> None:
        self.index, self.href, self.names = index, view.hrefs[index], names
        self.values = [sweep_rows.said_value(row.values[key]) for key in view.keys]
        self.cells = view.cells(row, ratio)
        self.pick, self.pick_b = view.here(pick=index), view.here(b=index)
        self.picked, self.is_b = index == view.picked, index == view.state.b
        self.recommended = row.setting == view.best
        self.keeps, self.fits, self.against = keeps(row, view.floors), row.fits, view.against.get(id(row), "")


def _dollars(value: float) -> str:
    return f"${value:,.3f}" if value >= 0 else f"{figures.MINUS}${-value:,.3f}"
