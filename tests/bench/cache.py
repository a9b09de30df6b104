"""Modelled cache reads against recorded ones, on the shared samples: ``python -m tests.bench cache``.

Per session with at least five recorded cache reads: what the model says was read from the cache (policy none, base
recorded: every request reads what it shares with the one before, nothing after the cache expired) against what the
provider billed, request by request.  Writes docs/benchmarks/cache.md.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.errors import EngineError
from sessions.engine.prices import cold_steps, ttl_seconds
from sessions.engine.reading import read_transcripts
from sessions.engine.replay import replay
from tests.samples import find_samples

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import Transcript

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "cache.md"
MIN_READS = 5
CLOSE = 0.05
"""A request is met when model and record differ by at most this share of its context."""
FLOOR = 1_024
"""Providers cache nothing shorter (policies 14)."""


class Row(NamedTuple):
    """One session: tokens, shares in per cent, reasons of misses with their counts."""

    name: str
    model: str
    ttl: float
    n_requests: int
    recorded: int
    modelled: int
    met: float
    median_miss: float
    reasons: str


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
    names = [str(path.relative_to(folder)) + (f" #{n}" if n else "") for n in range(len(parsed.transcripts))]
    return [row for name, t in zip(names, parsed.transcripts, strict=True) if (row := _row(name, t))]


def _row(name: str, transcript: Transcript) -> Row | None:
    if sum(1 for r in transcript.requests if r.on_branch and r.usage and r.usage.cache_read) < MIN_READS:
        return None
    weighed = weigh(transcript)
    cold = cold_steps(weighed)
    sent = replay(weighed, "none", base="recorded").sent
    pairs: list[tuple[int, int, int]] = []
    reasons: Counter[str] = Counter()
    for k, (step, one) in enumerate(zip(weighed.steps, sent, strict=True)):
        usage = transcript.requests[step.request].usage
        if usage is None or not usage.context or not k:
            continue
        modelled = 0 if k in cold else one.cached
        pairs.append((usage.cache_read, modelled, usage.context))
        if abs(usage.cache_read - modelled) > CLOSE * usage.context:
            reasons[_reason(weighed, k, usage.cache_read, modelled, k in cold)] += 1
    misses = [abs(r - m) / c for r, m, c in pairs if abs(r - m) > CLOSE * c]
    return Row(
        name, transcript.model or "?", ttl_seconds(weighed), len(pairs), sum(r for r, _, _ in pairs),
        sum(m for _, m, _ in pairs), 100 * (1 - len(misses) / len(pairs)),
        100 * statistics.median(misses) if misses else 0.0,
        ", ".join(f"{reason} {n}" for reason, n in reasons.most_common()) or "none",
    )  # fmt: skip


def _reason(weighed: Weighed, k: int, recorded: int, modelled: int, is_cold: bool) -> str:
    """Why a request is not met, as far as the recording shows."""
    step, before = weighed.steps[k], weighed.steps[k - 1]
    requests = weighed.transcript.requests
    now, then = requests[step.request], requests[before.request]
    silent = then.usage is not None and not then.usage.cache_read and not then.usage.cache_write
    nothing = not recorded and bool(modelled)
    reasons = (
        (step.compaction is not None, "at a recorded compaction"),
        (now.model != then.model, "another model than before"),
        (is_cold, "read after the time the cache is said to last"),
        (then.usage is None, "the request before reports no usage"),
        (
            nothing and then.usage is not None and then.usage.context < FLOOR,
            "the request before was too short to cache",
        ),
        (nothing and silent, "the request before cached nothing"),
        (nothing, "nothing read: expired early, or the prefix changed"),
        (recorded < modelled, "only part read: the prefix changed on the way"),
    )
    otherwise = "more read than the request before sent: another branch, or its reply"
    return next((words for holds, words in reasons if holds), otherwise)


def _report(rows: list[Row]) -> str:
    head = ("session", "model", "cache lasts", "requests", "read, recorded", "read, modelled", "error of the sum",
            "requests met", "median miss", "reasons of misses")  # fmt: skip
    lines = [
        "# Modelled cache reads against recorded ones",
        "",
        "Made by `python -m tests.bench cache` over the shared samples: tokens that every request after the first read",
        "from the prompt cache, as the provider reported them and as the cost model says (what a request shares with",
        "the one before it, that one's reply not included; nothing once the cache has expired). A request is met when",
        f"both differ by at most {100 * CLOSE:.0f} % of its context.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for row in rows:
        error = 100 * (row.modelled - row.recorded) / row.recorded if row.recorded else 0.0
        figures = (f"{error:+.1f} %", f"{row.met:.0f} %", f"{row.median_miss:.0f} %")
        counts = (f"{row.ttl:,.0f} s", f"{row.n_requests:,}", f"{row.recorded:,}", f"{row.modelled:,}")
        cells = (row.name, row.model, *counts, *figures, row.reasons)
        lines.append("| " + " | ".join(cells) + " |")
    recorded, modelled = sum(r.recorded for r in rows), sum(r.modelled for r in rows)
    n, met = sum(r.n_requests for r in rows), sum(r.met * r.n_requests / 100 for r in rows)
    lines += [
        "",
        f"All {len(rows)} sessions: {100 * (modelled - recorded) / recorded:+.1f} % of {recorded:,} tokens read; "
        f"{100 * met / n:.0f} % of {n:,} requests met.",
    ]
    return "\n".join(lines) + "\n"
