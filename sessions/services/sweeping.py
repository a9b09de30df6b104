"""One session swept for a page or for a background run, and its rows as JSON keeps them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from sessions import selectors
from sessions.engine.costs.cost import Cost, Totals
from sessions.engine.quality.recall import COUNTS
from sessions.engine.reading import jsonio
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import Replay
from sessions.engine.sweeps.sweep import Axis, Over, Row, Setting, Sweep, grid, recorded_row, sweep, value_of
from sessions.models import Session
from sessions.services.prices import prices_for

Columns = Callable[[Replay], Mapping[str, float]]
Record = list[Any]
FIGURES = [*Row.__dataclass_fields__, *COUNTS]
"""What a kept row holds: one kept with other figures is made anew."""


class Options(TypedDict):
    """What is swept, as JSON holds it; ``overs`` are (key, from, to, steps)."""

    sessions: list[str]
    policies: list[str]
    overs: list[list[Any]]
    params: dict[str, str]
    window: int | None
    base: str
    estimator: str | None
    summarizer: str
    fail: str
    losses: bool


def grid_of(options: Options) -> tuple[tuple[Axis, ...], tuple[Setting, ...]]:
    """Axes and settings; raises BadParameter or UnknownName."""
    overs = [Over(key, low, high, n) for key, low, high, n in options["overs"]]
    return grid(options["policies"], overs, params=options["params"], window=options["window"])


def key_of(options: Options, versions: Sequence[str]) -> str:
    """The name of what is computed: equal options over equal sessions give equal rows."""
    return hashlib.sha256(jsonio.dumps([FIGURES, options, list(versions)]).encode()).hexdigest()


def versions(sessions: Sequence[Session]) -> list[str]:
    """What the rows of a sweep depend on beside its options: each session's facts, its model, and the prices."""
    models = [selectors.load_weighed(session.pk).model for session in sessions]
    return [f"{one.version} {model} {prices_for(model)}" for one, model in zip(sessions, models, strict=True)]


def run_one(
    session_id: str,
    options: Options,
    *,
    done: Mapping[Setting, Row] | None = None,
    on_row: Callable[[Row], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Sweep:
    """One session's sweep; raises BadParameter, UnknownName or OSError."""
    axes, settings = grid_of(options)
    weighed = selectors.load_weighed(session_id)
    with _read(session_id, options) as (texts, columns):
        return sweep(
            weighed, settings, axes, prices=prices_for(weighed.model), fail=options["fail"], base=options["base"],
            estimator=options["estimator"], summarizer=options["summarizer"], texts=texts, columns=columns,
            on_row=on_row, cancelled=cancelled, done=done,
        )  # fmt: skip


def recorded_of(session_id: str, options: Options) -> Row:
    """The session as recorded, with its losses where the sweep counts them."""
    weighed = selectors.load_weighed(session_id)
    with _read(session_id, options) as (_, columns):
        return recorded_row(weighed, prices_for(weighed.model), columns)


@contextlib.contextmanager
def _read(session_id: str, options: Options) -> Iterator[tuple[Texts | None, Columns | None]]:
    """The session's texts, where the summarizer or the losses read any, and what counts losses."""
    if not options["losses"]:
        with selectors.texts_read_by(options["summarizer"], session_id) as texts:
            yield texts, None
        return
    from sessions.engine.quality.columns import loss_columns
    from sessions.services.indexed import index_of

    session = Session.objects.select_related("upload").get(pk=session_id)
    with selectors.load_texts(session) as texts:
        yield texts, loss_columns(selectors.load_weighed(session_id), index_of(session))


def record(row: Row) -> Record:
    """A row without its setting, which its place in the grid tells."""
    sums = row.totals
    cost = None if sums.cost is None else [sums.cost.low, sums.cost.high]
    return [
        sums.compactions, sums.peak_context_tokens, sums.input_tokens, sums.cache_read_tokens, sums.cache_write_tokens,
        sums.output_tokens, sums.summary_calls, sums.refetched_tokens, cost, row.window, row.fits, dict(row.more),
        row.threshold, row.after, row.futile,
    ]  # fmt: skip


def row_of(kept: Record, setting: Setting, axes: Sequence[Axis]) -> Row:
    """The row again; its place on the front is found by the sweep."""
    *numbers, cost, window, fits, more, threshold, after, futile = kept
    totals = Totals(*[*numbers, None if cost is None else Cost(*cost)])
    values = {a.key: value_of(setting, a.key) for a in axes}
    return Row(setting, values, totals, window, fits, False, more, threshold, after, futile)


def rows_kept(kept: Sequence[Record], options: Options) -> dict[Setting, Row]:
    """The rows of a run so far, as ``sweep`` takes them back."""
    axes, settings = grid_of(options)
    return {setting: row_of(one, setting, axes) for one, setting in zip(kept, settings, strict=False)}
