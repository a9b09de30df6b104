"""How far estimates are from what providers measured, on the shared samples: ``python -m tests.bench accuracy``.

Per session with at least nine measured requests: the input-side usage of all but the first third is taken out before
anything is weighed; the estimates of the other two thirds are then held against it.  What matters is the error of the
growth between two requests, what a message weighs; the error of the whole context hides it (docs/sources.md,
estimators 7).  Writes docs/benchmarks/accuracy.md.
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.calibrate import Weighed, weigh
from sessions.engine.errors import EngineError
from sessions.engine.reading import read_transcripts
from tests.samples import find_samples

if TYPE_CHECKING:
    from sessions.engine.types import Request, Transcript

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "accuracy.md"
MIN_REQUESTS = 9
TARGETS = {"growth median": 2.5, "growth weighted": 5.0, "context median": 1.0, "context p95": 3.0}


class Row(NamedTuple):
    """Errors of one session in per cent."""

    name: str
    model: str
    n_tested: int
    ratio: str
    growth_median: float
    growth_weighted: float
    growth_p95: float
    context_median: float
    context_p95: float
    prior_median: float


def main() -> None:
    """Measure every sample and write the table."""
    folder = find_samples()
    if folder is None:
        sys.exit("the shared samples are missing: set CTXWEB_SAMPLES")
    rows = [row for path in sorted(folder.rglob("*")) if path.is_file() for row in _rows(path, folder)]
    RESULTS.write_text(_report(rows), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _rows(path: Path, folder: Path) -> list[Row]:
    try:
        with path.open("rb") as file:
            parsed = read_transcripts(file, path.name)
    except EngineError:
        return []
    rows = []
    for number, transcript in enumerate(parsed.transcripts):
        name = str(path.relative_to(folder)) + (f" #{number}" if number else "")
        row = _row(name, transcript)
        if row:
            rows.append(row)
    return rows


def _row(name: str, transcript: Transcript) -> Row | None:
    full = weigh(transcript)
    measured = [
        r for r in transcript.requests if r.on_branch and r.usage and r.usage.context and r.index not in full.flagged
    ]
    if len(measured) < MIN_REQUESTS:
        return None
    n_training = len(measured) // 3
    tested = measured[n_training:]
    trained = weigh(_stripped(transcript, {r.index for r in tested}))
    prior = weigh(_stripped(transcript, {r.index for r in measured[2:]}))
    growths = _growths(trained, tested)
    contexts = [_off(trained.estimated[r.index] or 0, r.usage.context) for r in tested if r.usage]
    total = sum(abs(m) for _, m in growths) or 1
    return Row(
        name, transcript.model or "?", len(tested), f"{trained.ratio:.2f} {trained.ratio_label.value}",
        100 * statistics.median(_off(e, m) for e, m in growths if m),
        100 * sum(abs(e - m) for e, m in growths) / total,
        100 * _ninety_fifth([_off(e, m) for e, m in growths if m]),
        100 * statistics.median(contexts), 100 * _ninety_fifth(contexts),
        100 * statistics.median(_off(e, m) for e, m in _growths(prior, tested) if m),
    )  # fmt: skip


def _stripped(transcript: Transcript, requests: set[int]) -> Transcript:
    """The transcript without the input-side usage of ``requests``; their recorded outputs stay."""

    def strip(request: Request) -> Request:
        if request.index not in requests or not request.usage:
            return request
        bare = dataclasses.replace(request.usage, input=0, cache_read=0, cache_write=0)
        return dataclasses.replace(request, usage=bare)

    return dataclasses.replace(transcript, requests=tuple(map(strip, transcript.requests)))


def _growths(weighed: Weighed, tested: list[Request]) -> list[tuple[int, int]]:
    """(estimated, measured) growth between consecutive tested requests."""
    pairs = []
    for before, after in pairwise(tested):
        if before.usage and after.usage:
            estimated = (weighed.estimated[after.index] or 0) - (weighed.estimated[before.index] or 0)
            pairs.append((estimated, after.usage.context - before.usage.context))
    return pairs


def _off(estimated: int, measured: int) -> float:
    return abs(estimated - measured) / abs(measured)


def _ninety_fifth(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def _report(rows: list[Row]) -> str:
    head = (
        "session", "model", "requests tested", "ratio", "growth: median", "growth: token-weighted", "growth: p95",
        "context: median", "context: p95", "growth median by the prior alone",
    )  # fmt: skip
    lines = [
        "# Accuracy of estimated tokens",
        "",
        "Made by `python -m tests.bench accuracy` over the shared samples: calibrated on the first third of the",
        "measured requests, tested on the rest, whose input-side usage is taken out first. Errors in per cent of what",
        "the provider measured.",
        "Targets: " + ", ".join(f"{name} ≤ {value:g} %" for name, value in TARGETS.items()) + ".",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for row in rows:
        figures = (f"{value:.1f}" for value in row[4:])
        lines.append("| " + " | ".join((row.name, row.model, str(row.n_tested), row.ratio, *figures)) + " |")
    for name, field in (("growth", "growth_median"), ("context", "context_median")):
        values = [getattr(row, field) for row in rows]
        lines.append("") if name == "growth" else None
        lines.append(f"Median over {len(rows)} sessions, {name}: {statistics.median(values):.1f} %.")
    return "\n".join(lines) + "\n"
