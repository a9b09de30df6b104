"""Processes by name: who this one is, whether another still lives, and how one ended."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SUPERVISOR = "CTXWEB_SUPERVISOR"
"""Environment variable in which a supervisor tells its readers its name."""

FROM_OUTSIDE = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
"""Signals that somebody sends; no file causes them."""


def this_process() -> str:
    """``host:pid:start``, and a supervisor's name behind a slash; ``start`` tells a reused id, 0 where unknown."""
    supervisor = os.environ.get(SUPERVISOR, "")
    return "/".join(filter(None, (name_of(os.getpid()), supervisor)))


def name_of(pid: int) -> str:
    """``host:pid:start`` of a process on this host."""
    return f"{socket.gethostname()}:{pid}:{_start_of(pid)}"


def is_gone(worker: str) -> bool:
    """True only if the process was on this host and is gone; with a living supervisor it is that one's to judge."""
    process, _, supervisor = worker.partition("/")
    return _is_gone(process) and (not supervisor or _is_gone(supervisor))


def is_here(worker: str) -> bool:
    """Whether the process is, or was, on this host."""
    return worker.partition("/")[0].split(":")[0] == socket.gethostname()


def _is_gone(name: str) -> bool:
    host, _, rest = name.partition(":")
    pid, _, start = rest.partition(":")
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    # A killed process whose parent has not noticed yet (a zombie) still takes signals.
    return _stat(int(pid))[:1] == ["Z"] or (start not in {"", "0"} and _start_of(int(pid)) != start)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the command's name; empty where there are none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _start_of(pid: int) -> str:
    """Which boot, and how many ticks after it the process started: proc(5), field 22."""
    fields = _stat(pid)
    return f"{_boot()}.{fields[19]}" if len(fields) > 19 else "0"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended, in words, and whether what it worked on ended it."""

    words: str
    by_its_work: bool


def ending(status: int, *, n_oom_kills: int | None) -> Ending:
    """``status`` as subprocess gives it (negative: a signal); ``n_oom_kills`` the machine's since the process began.

    SIGKILL comes from whoever stops a machine, or from the kernel when memory is short: the kernel counts the latter.
    Where that count cannot be read (None), a SIGKILL counts as the work's.
    """
    if status >= 0:
        return Ending(f"its process ended with status {status}", by_its_work=status != 0)
    number = -status
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    words = f"its process was ended by {name}"
    if number == signal.SIGKILL and n_oom_kills:
        return Ending(f"{words}, and the kernel counted an out-of-memory kill", by_its_work=True)
    if number == signal.SIGKILL:
        return Ending(words, by_its_work=n_oom_kills is None)
    return Ending(words, by_its_work=number not in FROM_OUTSIDE)


def oom_kills() -> int | None:
    """How many processes the kernel ended for want of memory since it started; None where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)
