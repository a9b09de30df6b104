"""What a floor may bound, in the check of a corpus and in a sweep, and the floors that a reader sets on a sweep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sessions.engine.base.amounts import read_amount
from sessions.engine.base.errors import BadParameter
from sessions.engine.sweeps.sweep import Row


class Bound(NamedTuple):
    """A figure that a floor may be set on.

    ``name`` is that of the figure; ``check`` is the floor's in a check ("" where it has none), ``help`` says what it
    bounds, with its unit.  ``sweep`` are the figure's names in a sweep, after ``max_`` or ``min_``.
    """

    name: str
    check: str = ""
    help: str = ""
    sweep: tuple[str, ...] = ()

    @property
    def least(self) -> bool:
        """Whether the value must not be below the check's floor; else not above it."""
        return self.check.startswith("min_")


BOUNDS = (
    Bound("cost", "max_cost", "upper end of the cost, in dollars", ("cost",)),
    Bound("compactions", "max_compactions", "compactions in a session", ("compactions",)),
    Bound("peak_context_tokens", "max_peak", "largest context sent, in tokens", ("peak", "peak_context_tokens")),
    Bound("startup_tokens", "max_startup", "tokens before the first prompt: system prompt, tools, memory files"),
    Bound("sent_tokens", "max_tokens", "tokens sent in all, summaries included"),
    Bound("failures", "max_failures", "failed attempts"),
    Bound("futile", "max_futile", "compactions that left the trigger on, or whose room was gone within three requests"),
    Bound("summary_calls", sweep=("summary_calls",)),
    Bound("refetched_tokens", sweep=("refetched", "refetched_tokens")),
    Bound("output_tokens", sweep=("output_tokens",)),
    Bound("input_tokens", sweep=("input_tokens",)),
    Bound("cache_read_tokens", sweep=("cache_read_tokens",)),
    Bound("cache_write_tokens", sweep=("cache_write_tokens",)),
    Bound(
        "needs_gone", "max_lost", "references gone that the agent goes on to use, all events together", ("needs_gone",)
    ),
    Bound("rules_gone", "max_rules_lost", "rules lost, each once", ("rules_gone",)),
    Bound("read_again_tokens", sweep=("read_again_tokens",)),
    Bound("cache_share", "min_cache_share", "share of the tokens sent that is read from the cache, in per cent"),
    Bound("interval", "min_interval", "requests between two compactions"),
    Bound("freed_tokens", "min_freed", "tokens freed by a compaction"),
    Bound("probe_score", "min_probe_score", "probes still answered after a compaction, in per cent"),
)
CHECKED = tuple(measure for measure in BOUNDS if measure.check)
"""Measures that a check takes floors on, in the order of its options."""
SWEPT = {name: measure.name for measure in BOUNDS for name in measure.sweep}
"""Names that a sweep's floors take, by what they bound: a field of the totals or of the losses, where counted."""


def read_floors(pairs: Mapping[str, object]) -> dict[str, float]:
    """``max_compactions=3`` and the like as numbers; raises BadParameter for a name or a value that is none."""
    floors: dict[str, float] = {}
    for name, value in pairs.items():
        side, _, field = name.partition("_")
        if side not in {"max", "min"} or field not in SWEPT:
            raise BadParameter(f"Unknown limit {name!r}. Known: max_ or min_ with {', '.join(SWEPT)}")
        try:
            floors[name] = read_amount(str(value))
        except ValueError:
            floors[name] = math.nan
        if math.isnan(floors[name]):
            raise BadParameter(f"{name} is a number, not {value!r}")
    return floors


def keeps(row: Row, floors: Mapping[str, float]) -> bool:
    """Whether a row fits into its window and keeps every floor; a cost that is not known keeps none."""
    if not row.fits:
        return False
    for name, limit in floors.items():
        side, _, field = name.partition("_")
        known = row.totals.cost
        if field == "cost":
            value = None if known is None else known.middle
        else:
            value = row.more.get(field, getattr(row.totals, SWEPT.get(field, field), None))
        if value is None or (value > limit if side == "max" else value < limit):
            return False
    return True
