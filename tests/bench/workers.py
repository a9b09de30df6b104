"""What a second worker brings: ``python -m tests.bench workers``.

An archive is read on PostgreSQL with Redis, by one worker and by two in turn, each bound to a core of its own as if it
were another host.  What the busier worker computes is what a quiet machine waits for: that is compared, whatever else
runs meanwhile.  Writes docs/benchmarks/workers.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.archives import archive, send
from tests.faults.grounds import REDIS
from tests.faults.place import READER, place

if TYPE_CHECKING:
    from tests.faults.place import Place

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "workers.md"
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--print", action="store_true", help="write nothing")
    given = parser.parse_args(sys.argv[1:])
    data, files = archive(given.files)
    rows, ratios = [], []
    for turn in range(given.turns):
        load = os.getloadavg()[0]
        one, two = (_read(data, len(files), n_workers) for n_workers in (1, 2))
        ratios.append(max(one[1]) / max(two[1]))
        rows.append(
            f"| {turn + 1} | {load:.1f} | {one[0]:.1f} | {one[1][0]:.1f} | {two[0]:.1f} "
            f"| {two[1][0]:.1f}, {two[1][1]:.1f} | {ratios[-1]:.2f} |"
        )
        print(rows[-1], flush=True)
    report = "\n".join([*_head(len(data), len(files)), *rows, "", f"Median: {statistics.median(ratios):.2f}.", ""])
    print(report)
    if not given.print:
        RESULTS.write_text(report, encoding="utf-8")


def _read(data: bytes, n_files: int, n_workers: int) -> tuple[float, list[float]]:
    """Seconds from the first claim to the end, and processor seconds of each worker meanwhile."""
    with place(REDIS) as here:
        here.migrate()
        for core in range(n_workers):
            worker = here.start("worker")
            os.sched_setaffinity(worker.pid, {core})
        here.until(lambda: len(here.of(READER)) == n_workers, "all work")
        here.until(lambda: _slept(here), "all have started")
        before = _cpu(here)
        send(here, data)
        here.until(lambda: here.n_jobs("queued") == 0, "it is taken")
        begun = time.monotonic()
        here.until(lambda: here.n_unsettled() == 0, "it is read", 1800)
        took = time.monotonic() - begun
        ((n_sessions,),) = here.rows("select count(*) from agent_sessions_session")
        assert n_sessions == n_files, here.output()
        after = _cpu(here)
        return took, [after[core] - before[core] for core in range(n_workers)]


def _slept(here: Place) -> bool:
    """Whether the workers have nothing to do any more: their start is behind them."""
    before = sum(_cpu(here).values())
    time.sleep(2)
    return sum(_cpu(here).values()) - before < 0.1


def _cpu(here: Place) -> Counter[int]:
    """Processor seconds of all processes, and of those that they waited for, by the core that they are bound to."""
    total: Counter[int] = Counter()
    for pid, _ in here.processes():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            core = min(os.sched_getaffinity(pid))
        except OSError:
            continue
        total[core] += sum(int(fields[at]) for at in (11, 12, 13, 14))
    return Counter({core: n / TICKS for core, n in total.items()})  # type: ignore[arg-type]


def _head(n_bytes: int, n_files: int) -> list[str]:
    return [
        "# Two workers",
        "",
        f"Made by `python -m tests.bench workers`: a zip of {n_bytes / 1e6:,.0f} MB with {n_files:,} transcripts, on "
        "PostgreSQL with Redis.",
        "Each worker has one process and is bound to a core of its own, as if it were another host. Seconds are from",
        "the first claim to the end; what else runs on the machine slows both, and not both alike. So the last column",
        "compares what the busier worker computes: on a quiet machine that is what one waits for.",
        "",
        "| turn | load before | one worker: s | of processor | two workers: s | of processor, each | times as fast |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
