"""How many pages a second the server answers, and to how many at once: ``python -m tests.bench clients``.

Clients ask without a pause, each over its own connection, for the library, an overview or a moved slider.  Servers of
one process and of one for each core run side by side and are asked in turn, so that what else the machine does slows
both; ratios count.  Writes docs/benchmarks/clients.md.
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.claude_lines import claude_session
from tests.faults.clients import acknowledged
from tests.faults.figures import quantile
from tests.faults.files import File, transcript
from tests.faults.grounds import EMBEDDED, REDIS
from tests.faults.place import ANSWERER, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.faults.place import Place

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "clients.md"
N_CLIENTS = (1, 8, 32)
PATIENCE_SECONDS = 10.0
N_SMALL, N_TURNS = 30, 1_000
MOVE = {"HX-Request": "true", "HX-Target": "replay-view"}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Served:
    """What some clients had from a server: answered pages, their seconds, and the server's processor seconds."""

    n_pages: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    seconds: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.n_pages / self.wall if self.wall else 0.0


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--grounds", nargs="+", default=["SQLite", "PostgreSQL + Redis"])
    parser.add_argument("--print", action="store_true", help="write nothing")
    given = parser.parse_args(sys.argv[1:])
    lines: list[str] = []
    for ground in (EMBEDDED, REDIS):
        if ground.name not in given.grounds:
            continue
        with ExitStack() as stack:
            places = {}
            for n in given.processes:
                here = stack.enter_context(place(ground, CTXWEB_SERVER_PROCESSES=str(n)))
                places[n] = here, _filled(here)
            lines += ["", f"## {ground.name}", "", *_table(places, given.seconds, given.turns)]
    report = "\n".join([*_head(given.turns, given.seconds), *lines, ""])
    print(report)
    if not given.print:
        RESULTS.write_text(report, encoding="utf-8")


def _filled(here: Place) -> str:
    """Serve, and store sessions; the id of the long one."""
    here.serve()
    long = claude_session(N_TURNS).encode()
    files = [File("long.jsonl", long, 0, ""), *(transcript(n, 5_000) for n in range(N_SMALL))]
    assert all(acknowledged(here.port, file) for file in files)
    here.until(lambda: here.n_unsettled() == 0, "the sessions are read")
    session_id: str = here.rows("select id from agent_sessions_session order by n_messages desc limit 1")[0][0]
    return session_id


def _kinds(session_id: str) -> dict[str, Callable[[], tuple[str, dict[str, str]]]]:
    numbers: Iterator[int] = count(40_000, 40)
    moved = f"/s/{session_id}/replay/?policy=sliding_window&was=sliding_window&window="
    return {
        "library": lambda: ("/", {}),
        "overview": lambda: (f"/s/{session_id}/", {}),
        "slider": lambda: (f"{moved}{next(numbers)}", MOVE),
    }


def _table(places: dict[int, tuple[Place, str]], seconds: float, turns: int) -> list[str]:
    asked = {n: (here, _kinds(session_id)) for n, (here, session_id) in places.items()}
    for here, kinds in asked.values():
        for ask in kinds.values():
            _measure(here, ask, 4 * max(places), 1.0)  # every process has imported and cached what it needs
    lines = [
        "| page | clients | processes | pages/s | to one client of one process | ms of processor a page "
        "| median, 95 of 100 within | timeouts, errors |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in ("library", "overview", "slider"):
        alone = 0.0
        found: dict[tuple[int, int], list[Served]] = {}
        for _ in range(turns):
            for n_clients in N_CLIENTS:
                for n, (here, kinds) in asked.items():
                    found.setdefault((n_clients, n), []).append(_measure(here, kinds[kind], n_clients, seconds))
        for (n_clients, n), turns_of in found.items():
            rate = statistics.median(one.rate for one in turns_of)
            alone = alone or rate
            taken = sorted(one for turn in turns_of for one in turn.seconds) or [0.0]
            cpu = sum(one.cpu for one in turns_of) / max(1, len(taken))
            failed = sum(len(one.failed) for one in turns_of)
            lines.append(
                f"| {kind} | {n_clients} | {n} | {rate:,.1f} | {rate / alone:.2f} | {cpu * 1e3:,.1f} "
                f"| {statistics.median(taken) * 1e3:,.0f} ms, {quantile(taken, 0.95) * 1e3:,.0f} ms | {failed} |"
            )
            print(lines[-1], {word for one in turns_of for word in one.failed} or "", flush=True)
    return lines


def _measure(here: Place, ask: Callable[[], tuple[str, dict[str, str]]], n_clients: int, seconds: float) -> Served:
    found, until, lock = Served(), time.monotonic() + seconds, threading.Lock()

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", here.port, timeout=PATIENCE_SECONDS)
        while time.monotonic() < until:
            path, headers = ask()
            begun = time.monotonic()
            try:
                connection.request("GET", path, headers=headers | {"Accept-Encoding": "gzip"})
                answer = connection.getresponse()
                answer.read()
                wrong = "" if answer.status == 200 else str(answer.status)
            except (OSError, http.client.HTTPException) as error:
                wrong = type(error).__name__
                connection.close()
            with lock:
                if wrong:
                    found.failed.append(wrong)
                else:
                    found.seconds.append(time.monotonic() - begun)
        connection.close()

    before, begun = _cpu(here), time.monotonic()
    threads = [threading.Thread(target=client) for _ in range(n_clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.n_pages, found.wall, found.cpu = len(found.seconds), time.monotonic() - begun, _cpu(here) - before
    return found


def _cpu(here: Place) -> float:
    """Processor seconds that the processes for requests have used so far."""
    total = 0.0
    for pid in here.of(ANSWERER):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def _head(turns: int, seconds: float) -> list[str]:
    return [
        "# Pages for many at once",
        "",
        f"Made by `python -m tests.bench clients`: {turns} turns of {seconds:.0f} s each, servers in turn; medians.",
        f"Clients have no pause, run on the same {os.cpu_count()} cores, and give up after {PATIENCE_SECONDS:.0f} s.",
        f"Load when it ended: {os.getloadavg()[0]:.1f}. A session of {2 * N_TURNS:,} messages, {N_SMALL} small ones.",
    ]
