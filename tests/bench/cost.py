"""The cost model against recorded cost: ``python -m tests.bench cost``.

Over the samples and the corpus, every session with usage and a price, three times: with all of its usage, with that of
the first half of its requests alone, and with none.  What its usage cost is known each time; compared is what the
model says, how far it is off, and whether its range held the truth.  Writes docs/benchmarks/cost.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.costs.caching import cache_use, pairs_of
from sessions.engine.costs.cost_fit import comparison, recorded_cost, request_cost, sent_cost
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.recordings import recordings, transcripts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.costs.cost_fit import Comparison
    from sessions.engine.weigh.calibration.weighed import Weighed

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "cost.md"
SHARES = (("all of it", 1.0), ("the first half", 0.5), ("none", 0.0))
N_LISTED = 20
LEAST_PAIRS = 6
"""Requests that a session needs before its share of misses is counted."""


class Row(NamedTuple):
    """One session at one share of its usage: dollars as recorded, as modelled, and the range."""

    name: str
    recorded: float
    modelled: float
    least: float
    most: float

    @property
    def error(self) -> float:
        """The model's error as a share."""
        return self.modelled / self.recorded - 1

    @property
    def is_within(self) -> bool:
        """Whether the range holds what was recorded."""
        return self.least <= self.recorded <= self.most


class Measured(NamedTuple):
    """One session: its comparison, its rows by share of usage, what of its prefixes was missed."""

    name: str
    made: Comparison
    rows: dict[str, Row]
    n_placeholders: int
    missed: float | None


def main() -> None:
    """Measure every session and write the tables."""
    paths = recordings()
    if not paths:
        sys.exit("the shared samples are missing: set CTXWEB_SAMPLES")
    RESULTS.write_text(report(sessions(paths)), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def sessions(paths: list[Path]) -> list[Measured]:
    """Every session with usage and a price, equal ones once."""
    found: dict[tuple[float, int, str], Measured] = {}
    for name, parsed in transcripts(paths):
        for number, transcript in enumerate(parsed.transcripts):
            weighed = weigh(transcript)
            made = comparison(weighed)
            if made is None or not made.recorded:
                continue
            key = (made.recorded, len(transcript.requests), transcript.id)
            found.setdefault(key, _measured(f"{name}{f' #{number}' if number else ''}", weighed, made))
    return list(found.values())


def _measured(name: str, weighed: Weighed, made: Comparison) -> Measured:
    spent = recorded_cost(weighed)
    rows = {words: row for words, share in SHARES if (row := row_of(name, weighed, share)) is not None}
    pairs = [pair for pair in pairs_of(weighed) if pair.read is not None and pair.prefix]
    rate = cache_use(weighed).rate
    missed = None if len(pairs) < LEAST_PAIRS or not rate else 1 - rate
    return Measured(name, made, rows, spent.n_placeholders if spent else 0, missed)


def row_of(name: str, weighed: Weighed, share: float) -> Row | None:
    """What the model says of a session that keeps the usage of this share of its requests; None where that is none."""
    requests = weighed.transcript.requests
    n_kept = int(share * len(requests))
    if share and not n_kept:
        return None
    kept = tuple(r if r.index < n_kept else replace(r, usage=None) for r in requests)
    bare = weighed if share == 1 else weigh(replace(weighed.transcript, requests=kept))
    outputs: dict[int, int] = {}
    guessed: set[int] = set()
    recorded = 0.0
    for k, step in enumerate(weighed.steps):
        request = requests[step.request]
        cost = request_cost(request, weighed, None, final=True)
        if cost is None or request.usage is None:
            continue
        recorded += cost
        outputs[k] = 0 if request.usage.placeholder else request.usage.output
        if request.index >= n_kept and outputs[k] and request.message is not None:
            outputs[k] = sum(bare.tokens[request.message : request.message + request.n_messages])
            guessed.add(k)
    return Row(name, recorded, *sent_cost(bare, outputs, guessed=guessed)) if recorded else None


def report(measured: Sequence[Measured]) -> str:
    """The document."""
    missed = sorted(one.missed for one in measured if one.missed is not None)
    lines = [
        "# Recorded cost and the cost model",
        "",
        "Made by `python -m tests.bench cost` over the shared samples and the corpus: every session with usage and a",
        "list price. Recorded is the usage at list prices, measured; modelled is what the cost model says of the same",
        "requests. The model then gets less usage than was recorded; what it does not get it has to estimate, and its",
        "range has to hold what was paid. Outputs that were recorded as placeholders count on neither side.",
        "",
        "| usage that the model gets | sessions | error, median | 90% under | worst | in the range | range, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for words, _ in SHARES:
        rows = [one.rows[words] for one in measured if words in one.rows]
        errors = sorted(abs(row.error) for row in rows)
        width = median((row.most - row.least) / row.recorded for row in rows)
        within = sum(row.is_within for row in rows) / len(rows)
        figures = (median(errors), _at(errors, 0.9), errors[-1], within, width)
        lines.append(f"| {words} | {len(rows)} | " + " | ".join(f"{100 * f:.1f}%" for f in figures) + " |")
    lines += [
        "",
        "Without any usage neither the system prompt nor the tools are known unless the file has them, nor whether the",
        "provider cached at all: such a cost is of the messages alone.",
        "",
        f"Of what could have been read from the cache {len(missed)} sessions with at least {LEAST_PAIRS} pairs of",
        f"requests missed {_percent(median(missed))} at the median, 95% of them under {_percent(_at(missed, 0.95))}.",
        "",
        *_causes(measured),
        *_outside(measured),
        *_furthest(measured),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _causes(measured: Sequence[Measured]) -> list[str]:
    """Why recorded cost is not that of a cache that always hits: sums over all sessions."""
    dollars: Counter[str] = Counter()
    n_sessions: Counter[str] = Counter()
    for one in measured:
        for cause in one.made.causes:
            dollars[cause.name] += round(cause.dollars, 4)  # type: ignore[assignment]
            n_sessions[cause.name] += 1
    recorded, rule = sum(one.made.recorded for one in measured), sum(one.made.rule for one in measured)
    lines = [
        "## Why recorded cost is not that of a cache that always hits",
        "",
        f"Recorded: ${recorded:,.2f} over {len(measured)} sessions; by the rule alone: ${rule:,.2f}.",
        "",
        "| cause | sessions | dollars |",
        "|---|---|---|",
    ]
    ranked = sorted(dollars.items(), key=lambda item: -abs(item[1]))
    return [*lines, *(f"| {name} | {n_sessions[name]} | {_signed(sum_)} |" for name, sum_ in ranked), ""]


def _outside(measured: Sequence[Measured]) -> list[str]:
    """Sessions whose recorded cost is outside the model's range although the model gets all usage."""
    words = SHARES[0][0]
    rows = sorted((one.rows[words] for one in measured if not one.rows[words].is_within), key=lambda r: -abs(r.error))
    lines = [
        "## Outside the range, with all usage",
        "",
        "| session | recorded | modelled | error |",
        "|---|---|---|---|",
    ]
    return [
        *lines,
        *(f"| {r.name} | {_usd(r.recorded)} | {_usd(r.modelled)} | {100 * r.error:+.1f}% |" for r in rows),
        "",
    ]


def _furthest(measured: Sequence[Measured]) -> list[str]:
    """The sessions where the rule alone is furthest off in dollars."""
    ranked = sorted(measured, key=lambda one: -abs(one.made.recorded - one.made.rule))[:N_LISTED]
    lines = [
        f"## The {N_LISTED} sessions where the rule alone is furthest off",
        "",
        "| session | recorded | modelled | error | by the rule | read | cause |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in ranked:
        made, row = one.made, one.rows[SHARES[0][0]]
        cause = made.causes[0].name if made.causes else ""
        read = "none" if made.use.rate is None else f"{100 * made.use.rate:.1f}%"
        figures = (_usd(made.recorded), _usd(made.modelled), f"{100 * row.error:+.1f}%", _usd(made.rule), read, cause)
        lines.append(f"| {one.name} | " + " | ".join(figures) + " |")
    return lines


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _usd(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def _signed(dollars: float) -> str:
    return f"{'+' if dollars > 0 else '−'}${abs(dollars):,.2f}"
