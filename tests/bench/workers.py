"""What a second worker brings: ``python -m tests.bench workers``.

An archive is read on PostgreSQL with Redis, by one worker and by two, each bound to a core of its own as if it were
another host.  Both installations run at the same time in turn; ratios count.  Writes docs/benchmarks/workers.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
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
        ratios.append(one[0] / two[0])
        rows.append(
            f"| {turn + 1} | {load:.1f} | {one[0]:.1f} | {one[1]:.1f} | {two[0]:.1f} | {two[1]:.1f} "
            f"| {ratios[-1]:.2f} |"
        )
        print(rows[-1], flush=True)
    report = "\n".join([*_head(len(data), len(files)), *rows, "", f"Median: {statistics.median(ratios):.2f}.", ""])
    print(report)
    if not given.print:
        RESULTS.write_text(report, encoding="utf-8")


def _read(data: bytes, n_files: int, n_workers: int) -> tuple[float, float]:
    """Seconds from the first claim to the end, and processor seconds of the workers meanwhile."""
    with place(REDIS) as here:
        here.migrate()
        for core in range(n_workers):
            worker = here.start("worker")
            os.sched_setaffinity(worker.pid, {core % (os.cpu_count() or 1)})
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
        return took, _cpu(here) - before


def _slept(here: Place) -> bool:
    """Whether the workers have nothing to do any more: their start is behind them."""
    before = _cpu(here)
    time.sleep(2)
    return _cpu(here) - before < 0.1


def _cpu(here: Place) -> float:
    """Processor seconds of all processes and of those that they waited for."""
    total = 0
    for pid, _ in here.processes():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(fields[at]) for at in (11, 12, 13, 14))
    return total / TICKS


def _head(n_bytes: int, n_files: int) -> list[str]:
    return [
        "# Two workers",
        "",
        f"Made by `python -m tests.bench workers`: a zip of {n_bytes / 1e6:,.0f} MB with {n_files:,} transcripts, on "
        "PostgreSQL with Redis.",
        "Each worker has one process and is bound to a core of its own, as if it were another host; seconds from the",
        "first claim to the end. What else runs on the machine slows both: the last column counts.",
        "",
        "| turn | load before | one worker: s | of processor | two workers: s | of processor | times as fast |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
