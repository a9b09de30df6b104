"""The rows of a sweep as its table, its heat map and its charts show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.base import registry
from sessions.engine.base.words import united
from sessions.engine.costs.cost_report import span
from sessions.engine.policies import params as parameters
from sessions.engine.quality.recall import recall_words
from sessions.engine.sweeps.advice import window_words
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import POLICY, UNSEEN, WINDOW, Row, Setting, Sweep, cost_key
from sessions.pages.sweep.state import SweepState
from sessions.pages.ui import figures
from sessions.pages.ui.results import Cell, depends
from sessions.runs.replay_state import ReplayState, starts, written

HEATS = 7
LOSS_WORDS = {"rules_gone": "Rules lost", "needs_gone": "Used later, lost", "read_again_tokens": "Re-read"}
RECALL_TITLE = (
    "of what is used later and stood before a compaction, the share that still stands after it, "
    "and the tokens that one leaves on average; asked anew at every compaction"
)


def share_of_window(tokens: int, row: Row, sweep: Sweep) -> str:
    return f"{figures.percent(tokens, row.window)} of {window_words(row, sweep)}"


def said_value(value: Any) -> str:
    """A swept value in words, without its unit."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return value if isinstance(value, str) else f"{value:,.10g}"


def spec_of(policy: str, key: str) -> parameters.Spec | None:
    return next((s for s in parameters.specs(registry.get("policies", policy).params) if s.name == key), None)


def unit_of(policy: str, key: str) -> str:
    """The unit of a swept value, "" for a count of things."""
    if key == WINDOW:
        return "tokens"
    spec = spec_of(policy, key)
    return spec.unit if spec is not None else ""


def with_unit(words: str, unit: str) -> str:
    """A head with its unit behind it: "trigger, %"."""
    return f"{words}, {unit}" if unit and unit not in words.lower() else words


def axis_title(policy: str, key: str) -> str:
    """A parameter's label and unit, for an axis."""
    spec = spec_of(policy, key)
    return with_unit(key_words(policy, key) if spec is not None else key, unit_of(policy, key))


def axis_value(policy: str, key: str, value: Any) -> str:
    """A value of an axis as a heading of the heat map."""
    if isinstance(value, str):
        return value
    spec = spec_of(policy, key)
    if spec is not None and spec.unit == "%":
        return f"{value:g}%"
    return f"{value / 1_000:,.5g}K" if abs(value) >= 10_000 else f"{value:,.10g}"


def setting_words(setting: Setting, keys: Sequence[str]) -> str:
    """A setting in words: "Anchored iterative, trigger 60%, messages kept 8"."""
    values = {**dict(setting.params), WINDOW: setting.window}
    more = [
        said_setting(setting.policy, key, values[key])
        for key in keys if key != POLICY
    ]  # fmt: skip
    return ", ".join([policy_words(setting.policy), *more])


def said_setting(policy: str, key: str, value: Any) -> str:
    """One parameter in words: "percent override 30%"."""
    words, unit = key_words(policy, key), unit_of(policy, key)
    return f"{words} {united(said_value(value), '' if unit in words else unit)}"


def policy_words(name: str) -> str:
    return registry.get("policies", name).label or name


def key_words(policy: str, key: str) -> str:
    spec = spec_of(policy, key)
    return spec.label.lower() if spec is not None else "context window" if key == WINDOW else key


def replay_of(state: SweepState, setting: Setting) -> ReplayState:
    built = parameters.build(registry.get("policies", setting.policy).params, dict(setting.params))
    known, named = starts(setting.policy, None), dict(setting.params)
    given = tuple(
        (spec.name, written(value))
        for spec in parameters.specs(type(built))
        if spec.name in named and (spec.name, value := getattr(built, spec.name)) not in known.items()
    )
    return replace(state.replay, policy=setting.policy, params=given, window=setting.window, errors={})


def cost_words(row: Row) -> str:
    """The cost range, low first; the tokens sent where no price is known."""
    cost = row.totals.cost
    if cost is None:
        return figures.count(row.totals.sent_tokens)
    return span(cost.low, cost.high)


def hover(row: Row, keys: Sequence[str]) -> str:
    """What a mark says: the setting, its cost, compactions and peak."""
    sums = row.totals
    times = "compaction" if sums.compactions == 1 else "compactions"
    losses = "".join(
        f"<br>{LOSS_WORDS[name].lower()}: {loss_words(row, name)}" for name in LOSS_WORDS if name in row.more
    )
    if row.recall is not None:
        losses += f"<br>still answers: {recall_words(row.recall)}"
    unit = "" if sums.cost is not None else " tokens sent"
    over = "" if row.fits else "<br>over the window: could not be sent"
    return (
        f"{setting_words(row.setting, keys)}<br>{cost_words(row)}{unit}<br>{sums.compactions:,} {times}, "
        f"peak {sums.peak_context_tokens:,} tokens{losses}{over}"
    )


def measure_of(name: str) -> Callable[[Row], float]:
    """A row's figure by the name of a measure or of a loss."""
    known: dict[str, Callable[[Row], float]] = {
        "cost": lambda row: cost_key(row.totals),
        "compactions": lambda row: row.totals.compactions,
        "peak": lambda row: row.totals.peak_context_tokens,
        "sent": lambda row: row.totals.sent_tokens,
        "forgotten": lambda row: 0.0 if row.recall is None else row.recall.forgotten,
    }
    return known.get(name) or (lambda row: row.more.get(name, 0.0))


def sorted_rows(rows: Sequence[tuple[int, Row]], sort: str, ratios: Mapping[int, float]) -> list[tuple[int, Row]]:
    """Rows by a column, those without a figure last; the order swept without one."""
    key = sort.lstrip("-")
    if not key or not rows:
        return list(rows)
    if key == "regret":
        return sorted(rows, key=lambda pair: ratios.get(pair[0], float("inf")), reverse=sort.startswith("-"))
    if key in rows[0][1].values:
        texts = any(isinstance(row.values[key], str) for _, row in rows)
        return sorted(rows, key=lambda pair: str(pair[1].values[key]) if texts else pair[1].values[key],
                      reverse=sort.startswith("-"))  # fmt: skip
    measure = measure_of(key)
    return sorted(rows, key=lambda pair: measure(pair[1]), reverse=sort.startswith("-"))


def cells(row: Row, ratio: float | None, *, label: str, priced: bool, with_ratio: bool) -> tuple[Cell, ...]:
    """The figures of a row in the order of the columns; ``priced``: there is a column for the cost."""
    sums = row.totals
    sent = Cell(figures.count(sums.sent_tokens), "tokens", label, optional=priced)
    cost = Cell("no price") if sums.cost is None else Cell(cost_words(row), "dollars", "estimated")
    found = [
        cost if priced else sent,
        Cell(figures.count(sums.compactions)),
        Cell(figures.count(sums.peak_context_tokens), "tokens", label),
    ]
    if priced:
        found.append(sent)
    if with_ratio:
        found.append(Cell("" if ratio is None else f"{ratio:.2f}" if ratio >= 1 else figures.NONE, optional=True))
    for name in LOSS_WORDS:
        if name in row.more:
            is_open = row.more.get("losses_open") and not row.more[name]
            unit = ("tokens", "estimated") if name == "read_again_tokens" and not is_open else ("", "")
            found.append(Cell(loss_words(row, name), *unit))
    if "needs_asked" in row.more:
        found.append(Cell(recall_words(row.recall)))
    return tuple(found)


def loss_words(row: Row, name: str) -> str:
    """A count of losses; in words where only summaries without text could have kept what is not there."""
    unknown = depends(int(row.more.get("losses_open", 0)))
    least = "at least " if row.more.get(UNSEEN) else ""
    return unknown if unknown and not row.more[name] else f"{least}{figures.count(row.more[name])}"


class Heat:
    """The grid of two axes: columns along the first (policies stand in rows), rows along the second."""

    def __init__(
        self, sweep: Sweep, state: SweepState, floors: Mapping[str, float], picked: int, hrefs: Sequence[str]
    ) -> None:
        first, second = sweep.axes
        across, down = (second, first) if first.key == POLICY else (first, second)
        measure = measure_of(state.measure)
        kept = [measure(row) for row in sweep.rows if keeps(row, floors)]
        low, high = min(kept, default=0.0), max(kept, default=0.0)
        places = {(row.values[across.key], row.values[down.key]): index for index, row in enumerate(sweep.rows)}
        came_from, keys = _came_from(sweep, state), [axis.key for axis in sweep.axes]

        def cell(column: Any, value: Any) -> dict[str, Any] | None:
            """One setting; ``heat`` 1 to 7 from the lowest to the highest, 0 where it breaks a floor."""
            index = places.get((column, value))
            if index is None:
                return None
            row, priced = sweep.rows[index], sweep.rows[index].totals.cost is not None
            heat = _heat(measure(row), low, high) if keeps(row, floors) else 0
            found = {"value": _short(measure(row), state.measure, priced=priced), "heat": heat, "href": hrefs[index]}
            says = hover(row, keys).replace("<br>", "; ")
            return found | {"says": says, "picked": index == picked, "was": row.setting == came_from}

        policy, priced = state.policies[0], any(row.totals.cost is not None for row in sweep.rows)
        self.title, self.corner = f"{state.measure.capitalize()}, {across.key} by {down.key}", down.key
        self.columns = [axis_value(policy, across.key, value) for value in across.values]
        self.rows = [
            (axis_value(policy, down.key, value), [cell(column, value) for column in across.values])
            for value in down.values
        ]
        self.lowest, self.highest = (_short(end, state.measure, priced=priced) for end in (low, high))
        cost = "dollars a session" if sweep.prices or priced else "tokens sent"
        self.unit = {"cost": cost, "compactions": "compactions", "peak": "tokens"}[state.measure]


def _came_from(sweep: Sweep, state: SweepState) -> Setting | None:
    """The setting that the replay's own parameters name, where the grid holds it."""
    given = dict(state.replay.params)
    for row in sweep.rows:
        swept = {key: row.values[key] for key in row.values if key != POLICY}
        if swept and all(given.get(key) == written(value) for key, value in swept.items()):
            return row.setting
    return None


def _heat(value: float, low: float, high: float) -> int:
    return 1 + min(HEATS - 1, int((value - low) / (high - low) * HEATS)) if high > low else 1


def _short(value: float, measure: str, *, priced: bool) -> str:
    if measure == "cost" and priced:
        return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 1_000 else f"{value:,.0f}"
    if value >= 10_000:
        number, unit = figures.short(value)
        return f"{number} {unit}"
    return figures.count(value)
