"""The corpus's part of docs/benchmarks/accuracy.md: figures of both ways, where the rest comes from, what misses."""

from __future__ import annotations

import statistics
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from sessions.engine.weigh.calibration.calibrate import weigh
from tests.bench.corpus import halves, outcome, recorded_sessions
from tests.bench.prior_fit import MOST_UNTOLD, fit
from tests.bench.reasons import HIDDEN
from tests.bench.untold import held_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from sessions.engine.weigh.calibration.prior import Prior
    from tests.bench.corpus import Grown, Outcome, Recorded

FAR_GROWTH, FAR_CONTEXT = 0.10, 0.05
"""A session misses by far when its weighted growth error or its median context error is above these."""
N_CAUSES = 2
HEAD = (
    "half", "sessions", "growth median: session, pooled", "growth weighted: session, pooled",
    "bias: session, pooled", "context: median, p95",
)  # fmt: skip


def report(folder: Path) -> str:
    """Both halves of the corpus, as markdown."""
    sessions = recorded_sessions(sorted((folder / "claude-code").glob("*.jsonl.gz")))
    first, second = halves(sessions)
    priors = fitted(first, second)
    plain = [one for half in outcomes(first, second, *(p._replace(untold=0.0) for p in priors)) for one in half]
    return "\n".join(_lines(*outcomes(first, second, *priors), plain)) + "\n"


def two_fold(sessions: Sequence[Recorded]) -> tuple[list[Outcome], list[Outcome]]:
    """What became of each half's sessions under the prior that was fitted on the other half."""
    first, second = halves(sessions)
    return outcomes(first, second, *fitted(first, second))


def fitted(first: Sequence[Recorded], second: Sequence[Recorded]) -> tuple[Prior, Prior]:
    """The prior of each half."""
    by_first, by_second = (fit([session.transcript for session in half]) for half in (first, second))
    return by_first, by_second


def outcomes(
    first: Sequence[Recorded], second: Sequence[Recorded], by_first: Prior, by_second: Prior
) -> tuple[list[Outcome], list[Outcome]]:
    """What became of each half's sessions under the prior of the other."""
    return (
        [outcome(session, partial(weigh, prior=by_second)) for session in first],
        [outcome(session, partial(weigh, prior=by_first)) for session in second],
    )


def _lines(first: Sequence[Outcome], second: Sequence[Outcome], plain: Sequence[Outcome]) -> Iterator[str]:
    both = [*first, *second]
    n_growths, n_fallen = sum(len(one.grown) for one in both), sum(one.fallen for one in both)
    yield "\n## The corpus\n"
    yield "The prior fitted on one half, reported on the other, both ways, by the usage of each session's first third."
    yield f"{len(both)} sessions of Claude Code, {n_growths:,} tested growths. Left out: growths at a recorded"
    yield f"compaction and {n_fallen} falls (a context that shrank without one). Session: that of the median session;"
    yield "pooled: of all growths together. Bias: estimate less measurement, as a share of what was measured.\n"
    yield from table_of(HEAD, [_figures("first", first), _figures("second", second), _figures("both", both)])
    growths, contexts = ", ".join(_tenths(both, "growth_weighted")), ", ".join(_tenths(both, "context_median"))
    yield f"\nTenths of the sessions, weighted growth error: {growths}; median context error: {contexts}."
    yield "\n### What could be known\n"
    yield from _bounds(*([grown for one in every for grown in one.grown] for every in (both, plain)))
    yield "\nHow much a growth may tell is chosen on halves drawn at random, 60 times, one fitted and the other held"
    yield f"out: from {MOST_UNTOLD:,} tokens on bias and weighted error hold together no more often. No share brings"
    yield "the bias of every half within 1%: two halves differ by what the few largest additions happen to be.\n"
    yield from table_of(
        ("tokens at most", "bias, mean", "bias, spread", "weighted", "bias within 1%", "and weighted within 6%"),
        list(held_out(plain)),
    )
    yield "\n### Where the rest comes from\n"
    sorts = shares_of(both, lambda _, grown: grown.sort)
    yield from table_of(("what stands in the growth", "growths", "share of the error", "bias"), sorts)
    yield "\n### By client version\n"
    yield from table_of(
        ("version", "growths", "share of the error", "bias"), shares_of(both, lambda one, _: one.client)
    )
    yield "\n### Sessions that miss by far\n"
    yield "A fall is thinking that left at a prompt, or results that the client cleared without saying so.\n"
    yield f"Weighted growth error above {FAR_GROWTH:.0%} or median context error above {FAR_CONTEXT:.0%}.\n"
    yield from (_miss(one) for one in sorted(both, key=lambda one: -one.context_median) if _far(one))


def _bounds(grown: Sequence[Grown], plain: Sequence[Grown]) -> Iterator[str]:
    """The errors if what no line tells were known, and without what the prior adds for it in the mean."""
    known = [g._replace(estimated=g.measured) if g.sort == HIDDEN else g for g in grown]
    rows = [
        ("as estimated", grown),
        ("without the share for what no line tells", plain),
        ("hidden additions of over 500 tokens known", known),
    ]
    n_hidden = sum(g.sort == HIDDEN for g in grown)
    yield f"{n_hidden} growths are larger than their estimate by over 500 tokens and a third. No line of the file tells"
    yield "what came in (likely what an editor found after a change, files that a command or a person changed, what a"
    yield "client says anew when it was started again). They cannot be foreseen one by one. In the mean they can: the"
    yield "prior adds a share to every growth of over 300 tokens, fitted on the other half with no growth counting for"
    yield f"more than {MOST_UNTOLD:,} untold tokens. It takes bias away and makes most growths slightly worse. What"
    yield "single large additions leave over differs between the halves, and no fit on one half knows the other's.\n"
    yield from table_of(
        ("growths", "median", "weighted", "bias"),
        [
            [name, *(f"{100 * figure:{sign}.1f}%" for figure, sign in zip(_pooled(group), ("", "", "+"), strict=True))]
            for name, group in rows
        ],
    )


def _pooled(grown: Sequence[Grown]) -> tuple[float, float, float]:
    """Median error, weighted error and bias of growths together, as shares of what was measured."""
    whole = sum(g.measured for g in grown) or 1
    middle = statistics.median(abs(g.error) / g.measured for g in grown)
    return middle, sum(abs(g.error) for g in grown) / whole, sum(g.error for g in grown) / whole


def _figures(name: str, half: Sequence[Outcome]) -> list[str]:
    pooled, weighted, bias = (100 * figure for figure in _pooled([g for one in half for g in one.grown]))

    def middle(key: str) -> float:
        return 100 * statistics.median(float(getattr(one, key)) for one in half)

    return [
        name, str(len(half)), f"{middle('growth_median'):.1f}, {pooled:.1f}%",
        f"{middle('growth_weighted'):.1f}, {weighted:.1f}%", f"{middle('bias'):+.1f}, {bias:+.1f}%",
        f"{middle('context_median'):.1f}, {middle('context_p95'):.1f}%",
    ]  # fmt: skip


def _tenths(both: Sequence[Outcome], key: str) -> list[str]:
    """The figure that so many tenths of the sessions do not exceed."""
    found = statistics.quantiles([100 * float(getattr(one, key)) for one in both], n=10)
    return [f"{value:.1f}%" for value in found]


def shares_of(both: Sequence[Outcome], key: Callable[[Outcome, Grown], str]) -> list[list[str]]:
    """Growths by ``key``, the largest share of the absolute error first."""
    found: dict[str, list[Grown]] = defaultdict(list)
    for one in both:
        for grown in one.grown:
            found[key(one, grown)].append(grown)
    whole = sum(abs(g.error) for group in found.values() for g in group) or 1
    rows = []
    for name, group in sorted(found.items(), key=lambda item: -sum(abs(g.error) for g in item[1])):
        share = sum(abs(g.error) for g in group) / whole
        bias = sum(g.error for g in group) / sum(g.measured for g in group)
        rows.append([name, f"{len(group):,}", f"{share:.1%}", f"{bias:+.1%}"])
    return rows


def _far(one: Outcome) -> bool:
    return one.growth_weighted > FAR_GROWTH or one.context_median > FAR_CONTEXT


def _miss(one: Outcome) -> str:
    sorts = shares_of([one], lambda _, grown: grown.sort)[:N_CAUSES]
    causes = "; ".join(f"{share} of the growth error with {sort}" for sort, _, share, _ in sorts)
    figures = f"growth weighted {one.growth_weighted:.1%}, context median {one.context_median:.1%}"
    beside = f"; {one.fallen} falls, {one.n_compactions} compactions" if one.fallen or one.n_compactions else ""
    return f"- `{one.name}` ({one.client}, {one.model}): {figures}. {causes}{beside}"


def table_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
