"""People who use ctxweb at the same time: library, session pages, uploads."""

from __future__ import annotations

import http.client
import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import acknowledged, request
from tests.faults.figures import Figure, none, quantile
from tests.faults.files import File, transcript
from tests.faults.place import place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

N_STORED = 12
LIBRARY, SESSION, UPLOAD = "library", "session page", "upload"
PAUSE_SECONDS = (0.5, 1.5)
"""Between two requests of one person."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """``size.n_clients`` clients for ``size.load_seconds``."""
    stored = [transcript(seed, 20_000 * (1 + seed % 5)) for seed in range(N_STORED)]
    with place(ground) as here:
        here.serve()
        assert all(acknowledged(here.port, file) for file in stored)
        here.until(lambda: here.n_unsettled() == 0, "the first uploads are read")
        sessions = [row[0] for row in here.rows("select id from agent_sessions_session")]
        memory = [_megabytes(here)]
        people = [_Person(here, sessions, n, size) for n in range(size.n_clients)]
        while any(person.thread.is_alive() for person in people):
            time.sleep(1)
            memory.append(_megabytes(here))
        settled = outcome.settled(here, patience=600)
        files = [*stored, *(file for person in people for file in person.taken)]
        figures = [none("errors", [error for person in people for error in person.errors])]
        for what in (LIBRARY, SESSION, UPLOAD):
            times = [took for person in people for kind, took in person.times if kind == what]
            p50, p95 = quantile(times, 0.5) * 1000, quantile(times, 0.95) * 1000
            words = f"{len(times):,} times; median {p50:,.0f} ms, 95 of 100 within {p95:,.0f} ms"
            figures.append(Figure(f"requests: {what}", words))
        figures.append(Figure("memory of all processes: first, most, last", _words(memory)))
        return figures + settled[:1] + outcome.outcome(here, files)


class _Person:
    def __init__(self, here: Place, sessions: list[str], number: int, size: Size) -> None:
        self.here, self.sessions, self.number = here, sessions, number
        self.rng, self.until = random.Random(number), time.monotonic() + size.load_seconds
        self.times: list[tuple[str, float]] = []
        self.errors: list[str] = []
        self.taken: list[File] = []
        self.thread = threading.Thread(target=self._run, name=f"person-{number}")
        self.thread.start()

    def _run(self) -> None:
        seed = 1_000_000 * (self.number + 1)
        while time.monotonic() < self.until:
            seed += 1
            what = self.rng.choices((LIBRARY, SESSION, UPLOAD), (4, 5, 1))[0]
            file = transcript(seed, self.rng.randrange(1_000, 100_000)) if what == UPLOAD else None
            begun = time.monotonic()
            try:
                self._ask(what, file)
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(f"{what}: {type(error).__name__} {error}")
            self.times.append((what, time.monotonic() - begun))
            time.sleep(self.rng.uniform(*PAUSE_SECONDS))

    def _ask(self, what: str, file: File | None) -> None:
        if file is not None:
            if acknowledged(self.here.port, file):
                self.taken.append(file)
            else:
                self.errors.append("upload: not acknowledged")
            return
        path = "/" if what == LIBRARY else f"/s/{self.rng.choice(self.sessions)}/"
        status, _ = request(self.here.port, "GET", path)
        if status != 200:
            self.errors.append(f"{path}: {status}")


def _megabytes(here: Place) -> float:
    """Memory of all processes, pages that they share counted once (PSS), in MB (10^6 bytes)."""
    total = 0
    for pid, _ in here.processes():
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def _words(memory: list[float]) -> str:
    return f"{memory[0]:,.0f} MB, {max(memory):,.0f} MB, {memory[-1]:,.0f} MB"
