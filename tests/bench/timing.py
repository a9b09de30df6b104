"""Times a command and all its processes: seconds, those of processors, and the most memory.

Memory is the summed PSS of the process tree, read from /proc/<pid>/smaps_rollup, so pages that processes share are
counted once; looking costs time, so that a run is either watched or timed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """One timed command: seconds, those of processors, and the peak of the process tree's PSS in MB (10^6 bytes)."""

    seconds: float
    cpu: float
    peak_mb: float


def timed(command: list[str], env: dict[str, str], output: Path, home: str = "", *, watched: bool = False) -> Run:
    """Run a command to its end; ``watched``: its tree's memory, and that of processes whose HOME is ``home``."""
    done = threading.Event()
    peak = [0]
    started, used = time.perf_counter(), children_cpu()
    with output.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.PIPE)
        watcher = threading.Thread(target=watch, args=(process.pid, home, done, peak))
        if watched:
            watcher.start()
        _, errors = process.communicate()
    seconds, cpu = time.perf_counter() - started, children_cpu() - used
    done.set()
    if watched:
        watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {errors.decode(errors='replace')[-2000:]}")
    return Run(seconds, cpu, peak[0] / 1e6)


def children_cpu() -> float:
    """Processor seconds of all processes that were started here and have ended, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """Processor seconds of a running process and of those that it waited for, 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def watch(pid: int, home: str, done: threading.Event, peak: list[int]) -> None:
    """Keep the largest summed PSS in bytes until ``done``."""
    while not done.wait(SAMPLE_SECONDS):
        peak[0] = max(peak[0], sum(pss(member) for member in tree(pid) | at_home(home)))


def tree(pid: int) -> set[int]:
    """The process and all its descendants."""
    members, waiting = set(), [pid]
    while waiting:
        parent = waiting.pop()
        members.add(parent)
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                waiting += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return members


def at_home(home: str) -> set[int]:
    """Processes started with this HOME (a daemon leaves the tree), none for an empty name."""
    if not home:
        return set()
    found = set()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={home}\0".encode() in environ.read_bytes():
                found.add(int(environ.parent.name))
        except OSError:
            continue
    return found


def pss(pid: int) -> int:
    """Proportional set size in bytes, 0 for a process that is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
