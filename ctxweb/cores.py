"""How many processes for requests this machine, or the container, has room for; what one holds."""

from __future__ import annotations

import os
from pathlib import Path

MOST, MOST_FOR_ONE = 8, 2
"""More than eight gain little beside one database; one person's own server keeps to two."""

PROCESS_BYTES = 1_000_000_000
"""Memory per process: 120 MB at its start, the rest for sessions that it keeps and for the workers beside it."""

CGROUP = Path("/sys/fs/cgroup")


def request_processes(*, shared: bool) -> int:
    """One for each core that this process may use, as far as memory goes; ``shared`` where others sign in."""
    n_cores, n_bytes = cores(), memory_bytes()
    fitting = n_cores if n_bytes is None else min(n_cores, n_bytes // PROCESS_BYTES)
    return max(1, min(fitting, MOST if shared else MOST_FOR_ONE))


def cores() -> int:
    """Cores that this process may use: those it is bound to, within the container's share of time."""
    known = getattr(os, "sched_getaffinity", None)
    n_cores = len(known(0)) if known else os.cpu_count() or 1
    quota, _, period = _read("cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal():
        n_cores = min(n_cores, max(1, int(quota) // int(period)))
    return n_cores


def memory_bytes() -> int | None:
    """Memory of the machine, or of the container where that has less; None where the system does not say."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None
    limit = _read("memory.max")
    return min(found, int(limit)) if limit.isdecimal() else found


def held_megabytes(pid: int | str = "self") -> float | None:
    """Memory that a process holds now; None where there is no such process, or no /proc."""
    try:
        n_pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return n_pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000


def _read(name: str) -> str:
    """A file of the container's limits (cgroup v2); "" where there is none."""
    try:
        return (CGROUP / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
