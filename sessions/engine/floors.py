"""What a floor may bound: one table for the check of a corpus and for the recommendation of a sweep."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
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


MEASURES = (
    Measure("cost", "max_cost", "upper end of the cost, in dollars", ("cost",)),
    Measure("compactions", "max_compactions", "compactions in a session", ("compactions",)),
    Measure("peak_context_tokens", "max_peak", "largest context sent, in tokens", ("peak", "peak_context_tokens")),
    Measure("sent_tokens", "max_tokens", "tokens sent in all, summaries included"),
    Measure("failures", "max_failures", "failed attempts"),
    Measure("futile", "max_futile", "compactions that left the gate on, or whose room was gone within three requests"),
    Measure("summary_calls", sweep=("summary_calls",)),
    Measure("refetched_tokens", sweep=("refetched", "refetched_tokens")),
    Measure("output_tokens", sweep=("output_tokens",)),
    Measure("input_tokens", sweep=("input_tokens",)),
    Measure("cache_read_tokens", sweep=("cache_read_tokens",)),
    Measure("cache_write_tokens", sweep=("cache_write_tokens",)),
    Measure(
        "needs_gone", "max_lost", "references gone that the agent goes on to use, all events together", ("needs_gone",)
    ),
    Measure("rules_gone", "max_rules_lost", "rules gone, all events together", ("rules_gone",)),
    Measure("read_again_tokens", sweep=("read_again_tokens",)),
    Measure("cache_share", "min_cache_share", "share of the tokens sent that is read from the cache, in per cent"),
    Measure("interval", "min_interval", "requests between two compactions"),
    Measure("freed_tokens", "min_freed", "tokens freed by a compaction"),
    Measure("probe_score", "min_probe_score", "probes still answered after a compaction, in per cent"),
)
CHECKED = tuple(measure for measure in MEASURES if measure.check)
"""Measures that a check takes floors on, in the order of its options."""
SWEPT = {name: measure.name for measure in MEASURES for name in measure.sweep}
"""Names that a sweep's floors take, by what they bound: a field of the totals or of the losses, where counted."""
