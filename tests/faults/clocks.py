"""The clock is set forward and back by an hour while files are read."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import acknowledged
from tests.faults.figures import Figure, exactly, none
from tests.faults.files import transcript
from tests.faults.place import ROOT, place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground

MOVED = Path(__file__).parent / "moved_clock"
STEPS = (3600, -3600, 7200, -7200)
"""Where the clock stands against the true one, in seconds, one after the other."""

STEP_SECONDS = 4.0
"""Longer than supervisors take between two looks for lost work."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """Move the clock of all of ctxweb's processes while they read big files and small ones."""
    files = [transcript(1, size.big_bytes), *(transcript(seed, 20_000) for seed in range(2, 12))]
    with place(ground) as here:
        clock = here.data.parent / "clock"
        clock.write_text("0", encoding="ascii")
        here.env |= {"FAULTS_CLOCK": str(clock), "PYTHONPATH": os.pathsep.join((str(MOVED), str(ROOT)))}
        here.serve()
        assert acknowledged(here.port, files[-1])
        here.until(lambda: here.n_jobs("done") == 1, "the worker reads")
        steps = STEPS[: size.clock_steps]
        assert acknowledged(here.port, files[0])
        for n, offset in enumerate(steps):
            _set(clock, offset)
            for file in files[1:-1][n :: len(steps)]:
                assert acknowledged(here.port, file)
            until = time.monotonic() + STEP_SECONDS
            here.until(lambda until=until: time.monotonic() > until, "a while passes")
        settled = outcome.settled(here, patience=600)
        ((losses,),) = here.rows("select sum(losses) from agent_sessions_job")
        moments = [_seconds(moment) for (moment,) in here.rows("select heartbeat_at from agent_sessions_job")]
        hours = (max(moments) - min(moments)) / 3600
        return [
            Figure("the clock stood at", ", ".join(f"{offset / 3600:+.0f} h" for offset in steps)),
            Figure("apart by the workers' clock", f"{hours:.1f} h", "≥ 1 h", hours > 0.9),
            settled[0],
            *outcome.outcome(here, files),
            exactly("workers taken for dead", int(losses), 0),
            none("workers said to be gone", here.output().count("A worker is gone")),
        ]


def _set(clock: Path, offset: int) -> None:
    draft = clock.with_suffix(".new")
    draft.write_text(str(offset), encoding="ascii")
    draft.replace(clock)


def _seconds(value: object) -> float:
    """Seconds since 1970 of a moment as the database gives it: text from SQLite, else a datetime."""
    from datetime import UTC, datetime

    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    return moment.timestamp()
