"""What ``ctxweb serve`` costs while nobody uses it, and how soon it notices an upload."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import acknowledged
from tests.faults.figures import Figure, exactly, quantile, seconds
from tests.faults.files import transcript
from tests.faults.place import READER, place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

UPLOAD_BYTES = 1_000_000
SETTLE_SECONDS = 5.0
"""The server imports what pages need after its first answer; then it is idle."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """Processor time of all processes while idle, then ``size.pickups`` uploads of 1 MB, one after the other."""
    with place(ground) as here:
        here.serve()
        here.until(lambda: here.of(READER) != [], "the worker runs")
        assert acknowledged(here.port, transcript(0, 1_000))
        here.until(lambda: here.n_unsettled() == 0, "the first upload is read")
        time.sleep(SETTLE_SECONDS if size.idle_seconds > SETTLE_SECONDS else 0)
        used, begun = _cpu_seconds(here), time.monotonic()
        time.sleep(size.idle_seconds)
        share = (_cpu_seconds(here) - used) / (time.monotonic() - begun)
        waits = [_picked_up(here, seed) for seed in range(1, size.pickups + 1)]
        return [
            Figure("processor time while idle", f"{share:.2%} of a core", "≤ 1%", share <= 0.01, of_time=True),
            exactly("uploads of 1 MB done", here.n_jobs("done") - 1, size.pickups),
            seconds("from its acknowledgement until an upload is picked up, median", quantile(waits, 0.5), at_most=0.5),
            seconds("the same, 95 of 100", quantile(waits, 0.95), at_most=0.5),
            *outcome.outcome(here, [transcript(seed, UPLOAD_BYTES) for seed in range(1, size.pickups + 1)]),
        ]


def _picked_up(here: Place, seed: int) -> float:
    file = transcript(seed, UPLOAD_BYTES)
    assert acknowledged(here.port, file)
    begun = time.monotonic()
    waited = begun
    query = (
        "select j.claims from agent_sessions_job j join agent_sessions_upload u on u.id = j.upload_id "
        f"where u.sha256 = '{file.sha256}'"
    )
    while not here.rows(query)[0][0]:
        time.sleep(0.01)
    waited = time.monotonic() - begun
    here.until(lambda: here.n_unsettled() == 0, "the upload is read")
    return waited


def _cpu_seconds(here: Place) -> float:
    """Processor time that all processes used so far: proc(5), stat, fields 14 and 15."""
    ticks = 0
    for pid, _ in here.processes():
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
