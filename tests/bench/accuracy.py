"""How far estimates are from what providers measured, on the shared samples: ``python -m tests.bench accuracy``.

Per session with at least nine measured requests: the input-side usage of all but the first third is taken out of the
file's bytes, the rest is read and weighed, and the estimates of the other two thirds are held against what was taken
out.  What matters is the error of the growth between two requests, what a message weighs; the error of the whole
context hides it (estimators 7.2).  Writes docs/benchmarks/accuracy.md.
"""

from __future__ import annotations

import io
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.bench import corpus_report, groups
from tests.bench.corpus import MIN_REQUESTS, measured_requests
from tests.bench.reasons import reason
from tests.bench.stripping import stripped
from tests.samples import find_corpus, find_samples

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Request, Transcript
    from sessions.engine.weigh.calibration.weighed import Weighed

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "accuracy.md"
N_PRIOR = 2
"""Requests whose usage the prior alone may use: they give the overhead, and no ratio."""
TARGETS = {"growth_median": 2.5, "growth_weighted": 5.0, "context_median": 1.0, "context_p95": 3.0}
COLUMNS = (
    "session", "model", "requests tested", "ratio, wrapper", "growth: median", "growth: token-weighted",
    "growth: p95", "context: median", "context: p95", "by the prior alone: growth median", "context median", "misses",
)  # fmt: skip


class Session(NamedTuple):
    """A session of a file: its bytes, its place among the file's sessions, its requests that can be held against."""

    name: str
    data: bytes
    number: int
    transcript: Transcript
    measured: list[Request]


class Errors(NamedTuple):
    """Errors of one session's tested requests in per cent of what was measured."""

    growth_median: float
    growth_weighted: float
    growth_p95: float
    context_median: float
    context_p95: float


class Row(NamedTuple):
    """One session: its errors by the fit on the first third and by the prior alone, and why a target is missed."""

    name: str
    model: str
    n_tested: int
    scale: str
    errors: Errors
    prior: Errors
    missed: tuple[str, ...]
    reason: str


def main() -> None:
    """Measure every sample and write the table."""
    folder = find_samples()
    if folder is None:
        sys.exit("the shared samples are missing: set CTXWEB_SAMPLES")
    rows = [row for path in sorted(folder.rglob("*")) if path.is_file() for row in rows_of(path, folder)]
    corpus = find_corpus()
    if corpus is None:
        sys.exit("the corpus is missing: set CTXWEB_CORPUS")
    RESULTS.write_text(_report(rows, groups.report(corpus)) + corpus_report.report(corpus), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def rows_of(path: Path, folder: Path) -> list[Row]:
    """One row for every session of the file that has enough measured requests."""
    data = path.read_bytes()
    try:
        transcripts = read_transcripts(io.BytesIO(data), path.name).transcripts
    except EngineError:
        return []
    rows = []
    for number, transcript in enumerate(transcripts):
        name = str(path.relative_to(folder)) + (f" #{number}" if number else "")
        measured = measured_requests(transcript)
        if len(measured) >= MIN_REQUESTS:
            rows.append(_row(Session(name, data, number, transcript, measured)))
    return rows


def trained_on(session: Session, n: int) -> Weighed:
    """The session as weighed with the input-side usage of the first ``n`` measured requests alone.

    Raises AssertionError where the file read again would still tell another one, or has lost an output.
    """
    name, measured = session.name, session.measured
    bare = stripped(session.data, session.transcript, measured[n], n)
    again = read_transcripts(io.BytesIO(bare), name.split(" #")[0]).transcripts[session.number]
    left = {r.index: r.usage for r in again.requests}
    for request in measured[:n]:
        assert left[request.index] == request.usage, f"{name}: request {request.index} lost its usage"
    for request in measured[n:]:
        usage = left[request.index]
        assert usage is None or usage.context == 0, f"{name}: request {request.index} still tells its input"
        output = request.usage.output if request.usage else 0
        assert (usage.output if usage else 0) == output, f"{name}: request {request.index} lost its output"
    return weigh(again)


def _row(session: Session) -> Row:
    measured, n = session.measured, len(session.measured) // 3
    trained = trained_on(session, n)
    errors = errors_of(trained, measured[n:])
    prior = errors_of(trained_on(session, N_PRIOR), measured[n:])
    scale = f"{trained.ratio:.2f}, {trained.wrapper} {trained.ratio_label.value}"
    missed = tuple(key for key, target in TARGETS.items() if round(getattr(errors, key), 1) > target)
    why = reason(weigh(session.transcript), trained, measured, n) if missed else ""
    model = session.transcript.model or "?"
    return Row(session.name, model, len(measured) - n, scale, errors, prior, missed, why)


def errors_of(weighed: Weighed, tested: list[Request]) -> Errors:
    """Errors of growths and contexts over the tested requests, in per cent."""
    contexts = [_off(weighed.estimated[r.index] or 0, r.usage.context) for r in tested if r.usage]
    growths = [
        ((weighed.estimated[b.index] or 0) - (weighed.estimated[a.index] or 0), b.usage.context - a.usage.context)
        for a, b in pairwise(tested)
        if a.usage and b.usage
    ]
    offs = [_off(estimated, measured) for estimated, measured in growths if measured]
    total = sum(abs(measured) for _, measured in growths) or 1
    weighted = sum(abs(estimated - measured) for estimated, measured in growths) / total
    return Errors(
        100 * statistics.median(offs), 100 * weighted, 100 * _ninety_fifth(offs),
        100 * statistics.median(contexts), 100 * _ninety_fifth(contexts),
    )  # fmt: skip


def _off(estimated: int, measured: int) -> float:
    return abs(estimated - measured) / abs(measured)


def _ninety_fifth(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def _report(rows: list[Row], by_group: str) -> str:
    targets = ", ".join(f"{name.replace('_', ' ')} ≤ {value:g}%" for name, value in TARGETS.items())
    lines = [
        "# Accuracy of estimated tokens",
        "",
        "Made by `python -m tests.bench accuracy` over both corpora and the shared samples.",
        "",
        by_group,
        "## Samples",
        "",
        "The input-side usage of all but the first",
        "third of a session's measured requests is taken out of the file's bytes; what is left is read and weighed,",
        "and the estimates of the other two thirds are held against what was taken out. Errors in per cent of what the",
        "provider measured. By the prior alone: the usage of the first two requests only, for the overhead.",
        f"Targets: {targets}. “misses” counts those that a session misses.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *map(_line, rows),
        "",
        *(_met(rows, key, target) for key, target in TARGETS.items()),
        "",
        "## Why a target is missed",
        "",
        "Computed from the errors of each session's tested growths.",
        "",
        *(f"- `{row.name}` ({', '.join(row.missed).replace('_', ' ')}): {row.reason}" for row in rows if row.missed),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    figures = [f"{value:.1f}" for value in (*row.errors, row.prior.growth_median, row.prior.context_median)]
    return "| " + " | ".join((row.name, row.model, str(row.n_tested), row.scale, *figures, str(len(row.missed)))) + " |"


def _met(rows: list[Row], key: str, target: float) -> str:
    n_met = sum(key not in row.missed for row in rows)
    middle = statistics.median(getattr(row.errors, key) for row in rows)
    return f"- {key.replace('_', ' ')}: {n_met} of {len(rows)} sessions within {target:g}%; median {middle:.1f}%"
