"""A session replayed over a grid of settings: one or two parameters, or several policies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack

from sessions.engine.base import registry
from sessions.engine.base.amounts import read_amount
from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.cost import Totals, totals
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.policies import params as parameters
from sessions.engine.quality.baseline import as_recorded, baseline, own_policy, started_threshold
from sessions.engine.quality.recall import COUNTS, Recall, recall_of
from sessions.engine.quality.thrash import n_futile
from sessions.engine.replays.replay import Options, Replay, replay
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.weigh.calibration.weighed import Weighed

Columns = Callable[["Replay"], Mapping[str, float]]
"""Figures of a replay that stand beside its totals."""
WINDOW, POLICY = "window", "policy"
MAX_SETTINGS = 10_000


class Setting(NamedTuple):
    """One point of the grid: a policy, the parameters given to it, the window (None: the session's own)."""

    policy: str
    params: tuple[tuple[str, Any], ...] = ()
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """What is swept: a parameter, ``window`` or ``policy``, and its values in order."""

    key: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """An axis as asked for: ``n`` values from ``low`` to ``high``; ``shares``: written as per cent, here of 1."""

    key: str
    low: float
    high: float
    n: int
    shares: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One setting's result.

    ``values`` are the swept ones by axis; ``fits`` is False where a request would be over the window and could not be
    sent; ``pareto`` marks the front; ``more`` are columns from outside (losses, quality), smaller is better.
    ``threshold`` is where it compacts, in tokens, None where the trigger counts something else; ``after`` the largest
    context that a compaction left, 0 without one; ``futile`` how many made no room.
    """

    setting: Setting
    values: Mapping[str, Any]
    totals: Totals
    window: int
    fits: bool
    pareto: bool
    more: Mapping[str, float] = field(default_factory=dict)
    threshold: int | None = None
    after: int = 0
    futile: int = 0

    @property
    def recall(self) -> Recall | None:
        """Of what is used later, how much still answers after a compaction, and in how many tokens."""
        return recall_of(self.more, self.totals.compactions)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Rows in the order swept, the first axis slowest.  ``complete`` is False where it was stopped on the way.

    ``recorded`` is the session as recorded, which every row is held against; it has no values.
    """

    weighed: Weighed = field(repr=False)
    axes: tuple[Axis, ...]
    rows: tuple[Row, ...]
    complete: bool
    prices: Prices | None
    base: str
    summarizer: str
    recorded: Row


def read_over(text: str) -> Over:
    """``key=a:b:n`` as an Over; raises BadParameter."""
    key, found, rest = text.partition("=")
    parts = rest.split(":")
    wrong = BadParameter(f"--over takes key=start:stop:count, not {text!r}")
    if not found or not key.strip() or len(parts) != 3:
        raise wrong
    try:
        low, high = (read_amount(part, share_of=1) for part in parts[:2])
        over = Over(key.strip(), low, high, int(parts[2]), shares="%" in parts[0])
    except ValueError:
        raise wrong from None
    is_alike = ("%" in parts[0]) == ("%" in parts[1])
    if not is_alike or not 1 <= over.n <= MAX_SETTINGS or not all(map(math.isfinite, (low, high))):
        raise wrong
    return over


def spaced(over: Over, *, whole: bool) -> tuple[float | int, ...]:
    """The values of an Over, each once, ``whole`` ones rounded halves up; with n = 1 the first."""
    span = max(1, over.n - 1)
    values = [over.low + (over.high - over.low) * i / span for i in range(over.n)]
    if not whole:
        return tuple(dict.fromkeys(values))
    return tuple(dict.fromkeys(int(value + 0.5) if value >= 0 else -int(0.5 - value) for value in values))


def axis_of(over: Over, policies: Sequence[str]) -> Axis:
    """The axis of an Over for these policies; raises UnknownName, or BadParameter where one has no such parameter."""
    if over.key == WINDOW:
        if over.shares:
            raise BadParameter("the window is a number of tokens, not per cent")
        return Axis(WINDOW, spaced(over, whole=True))
    whole, scale = True, 1.0
    for name in policies:
        specs = {spec.name: spec for spec in parameters.specs(registry.get("policies", name).params)}
        spec = specs.get(over.key)
        if spec is None or not spec.is_number:
            numbers = [WINDOW, *(s.name for s in specs.values() if s.is_number)]
            raise BadParameter(f"policy {name} has no number {over.key!r} to sweep; it has: {', '.join(numbers)}")
        if over.shares and spec.whole is None:
            raise BadParameter(f"{over.key} of policy {name} is no share: {spec.bounds}, not per cent")
        whole, scale = whole and spec.is_whole, spec.whole if over.shares and spec.whole else 1.0
    scaled = dataclasses.replace(over, low=over.low * scale, high=over.high * scale)
    return Axis(over.key, spaced(scaled, whole=whole))


def grid(
    policies: Sequence[str],
    overs: Iterable[Over],
    *,
    params: Mapping[str, object] | None = None,
    window: int | None = None,
) -> tuple[tuple[Axis, ...], tuple[Setting, ...]]:
    """Axes and settings: policies (an axis where there are several), then the overs, the last changing fastest.

    ``params`` are given to every policy that has them.  Raises UnknownName, or BadParameter for a bad value, an axis
    asked for twice, or more than ``MAX_SETTINGS`` settings.
    """
    swept = tuple(axis_of(over, policies) for over in overs)
    keys = [axis.key for axis in swept]
    if len(set(keys)) < len(keys):
        raise BadParameter(f"each axis once: {', '.join(keys)}")
    axes = ((Axis(POLICY, tuple(policies)),) if len(policies) > 1 else ()) + swept
    settings = [Setting(name, _fixed(name, params or {}, keys, only=len(policies) == 1), window) for name in policies]
    unused = set(params or {}) - set(keys) - {key for setting in settings for key, _ in setting.params}
    if unused:
        raise BadParameter(f"none of these policies has a parameter {min(unused)!r}")
    for axis in swept:
        settings = [_with(setting, axis.key, value) for setting in settings for value in axis.values]
    if len(settings) > MAX_SETTINGS:
        raise BadParameter(f"{len(settings):,} settings are more than {MAX_SETTINGS:,}")
    for setting in settings:
        parameters.build(registry.get("policies", setting.policy).params, dict(setting.params))
        if setting.window is not None and setting.window <= 0:
            raise BadParameter(f"window is a positive number of tokens, not {setting.window}")
    return axes, tuple(settings)


def sweep(
    weighed: Weighed,
    settings: Sequence[Setting],
    axes: Sequence[Axis] = (),
    *,
    prices: Prices | None = None,
    columns: Columns | None = None,
    progress: Callable[[int, int], None] | None = None,
    on_row: Callable[[Row], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    done: Mapping[Setting, Row] | None = None,
    **options: Unpack[Options],
) -> Sweep:
    """Replay ``weighed`` at every setting, other ``options`` as in ``replay``; raises UnknownName or BadParameter.

    ``columns`` adds figures to every row and to the front (smaller is better).  ``progress`` is called with settings
    done and in all, ``on_row`` with every row computed, before its place on the front is known; where ``cancelled``
    answers True the sweep ends with the rows it has.  ``done`` are rows of an earlier, equal sweep by their
    settings, taken as they are.
    """
    prices = prices or prices_of(weighed.model)
    rows: list[Row] = []
    for number, setting in enumerate(settings):
        if cancelled is not None and cancelled():
            break
        row = (done or {}).get(setting)
        if row is None:
            chosen: Options = {**options, "params": dict(setting.params), "window": setting.window}
            made = replay(weighed, setting.policy, **chosen)
            row = _row(made, setting, axes, prices, columns)
            if on_row is not None:
                on_row(row)
        rows.append(row)
        if progress is not None:
            progress(number + 1, len(settings))
    return Sweep(
        weighed, tuple(axes), marked(rows), len(rows) == len(settings), prices, options.get("base", "full"),
        options.get("summarizer", "recorded"), recorded_row(weighed, prices, columns),
    )  # fmt: skip


UNSEEN = "losses_unseen"
"""Among the figures of the session as recorded: compactions whose originals the file does not hold."""


def recorded_row(weighed: Weighed, prices: Prices | None, columns: Columns | None = None) -> Row:
    """The session as recorded as a row, under its own policy ("none" where that is not known).

    It does not fit either where a request was refused as too large, or where the agent gave up.
    """
    made, setting = as_recorded(weighed), Setting(own_policy(weighed) or "none")
    more = dict(columns(made)) if columns is not None else {}
    if more and (n_unseen := len(weighed.transcript.compactions) - len(made.events)):
        more[UNSEEN] = n_unseen
    sums, after = baseline(weighed, prices=prices, sent=made), _most_left(made)
    refused = (error.kind for error in weighed.transcript.errors if not error.of_compaction)
    fits = made.fits and not {ErrorKind.CONTEXT, ErrorKind.GAVE_UP}.intersection(refused)
    return Row(setting, {}, sums, made.window, fits, False, more, started_threshold(weighed), after)


def marked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows with their place on the front: cost, compactions, peak and every column of ``more``, smaller is better.

    The cost is the middle of its range, without a price the tokens sent.  Settings that would not fit into the window
    are on no front while another fits.
    """
    some_fit = any(row.fits for row in rows)
    able = [row for row in rows if row.fits or not some_fit]
    on_front = dict(zip(map(id, able), pareto([objectives(row) for row in able]), strict=True))
    return tuple(dataclasses.replace(row, pareto=on_front.get(id(row), False)) for row in rows)


def objectives(row: Row) -> tuple[float, ...]:
    """What the front weighs against each other; what recall is made of is no loss."""
    losses = (value for name, value in row.more.items() if name not in COUNTS)
    return (cost_key(row.totals), row.totals.compactions, row.totals.peak_context_tokens, *losses)


def cost_key(sums: Totals) -> float:
    """What settings are ranked by: the middle of the cost range in dollars, without a price the tokens sent."""
    return sums.sent_tokens if sums.cost is None else sums.cost.middle


def _row(made: Replay, setting: Setting, axes: Sequence[Axis], prices: Prices | None, columns: Columns | None) -> Row:
    """The row of a setting's replay; its place on the front is not known yet."""
    values = {axis.key: value_of(setting, axis.key) for axis in axes}
    more = dict(columns(made)) if columns is not None else {}
    sums, after = totals(made, prices=prices), _most_left(made)
    return Row(setting, values, sums, made.window, made.fits, False, more, _threshold(made), after, n_futile(made))


def _most_left(made: Replay) -> int:
    return max((event.after_tokens for event in made.events), default=0)


def _threshold(made: Replay) -> int | None:
    """What the trigger compared with last, in tokens."""
    gate = next((gate for gate in reversed(made.gates) if gate is not None), None)
    counts = gate is not None and gate.unit == "tokens" and made.policy.name != "none"
    return gate.threshold if gate is not None and counts else None


def value_of(setting: Setting, key: str) -> Any:
    """The setting's value on an axis."""
    if key == POLICY:
        return setting.policy
    return setting.window if key == WINDOW else dict(setting.params)[key]


def _with(setting: Setting, key: str, value: Any) -> Setting:
    if key == WINDOW:
        return setting._replace(window=value)
    return setting._replace(params=(*setting.params, (key, value)))


def _fixed(name: str, params: Mapping[str, object], swept: Sequence[str], *, only: bool) -> tuple[tuple[str, Any], ...]:
    """The parameters given that this policy has; with one policy all of them, so that a wrong name is an error."""
    has = {spec.name for spec in parameters.specs(registry.get("policies", name).params)}
    return tuple((key, value) for key, value in params.items() if key not in swept and (only or key in has))


def pareto(points: Sequence[tuple[float, ...]]) -> list[bool]:
    """Whether each point is on the front: no other is at most as large on every axis and smaller on one."""
    front: list[tuple[float, ...]] = []
    for point in sorted(set(points)):
        # In this order only an earlier point can beat a later one.
        if not any(all(a <= b for a, b in zip(better, point, strict=True)) for better in front):
            front.append(point)
    kept = set(front)
    return [point in kept for point in points]
