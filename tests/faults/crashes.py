"""A file whose reading really ends its process, and one whose process is only killed."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import acknowledged
from tests.faults.figures import Figure, exactly
from tests.faults.files import transcript
from tests.faults.place import READER, TOP, place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.files import File
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

WORDS = re.compile(r"ended its process 3 times\. Last: its process was ended by SIGSEGV, while \w+, at byte [\d,]+ of ")
MAX_CRASHES = 6
KILLS_A_SERVER = 3
"""One of so many kills takes the server, too: the pause between two workers starts anew with it."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """SIGSEGV to whoever reads one file, until it fails; then SIGKILL ``size.harmless_kills`` times for another."""
    with place(ground) as here:
        here.serve()
        crashing, killed = transcript(1, size.big_bytes), transcript(2, size.big_bytes)
        n_crashes = _crash(here, crashing)
        ((state, attempts, losses, error),) = _job(here, crashing)
        figures = [
            exactly("crashes until the file failed", n_crashes, 3),
            exactly("attempts counted", attempts, 3),
            exactly("losses counted", losses, 0),
            Figure("state", state, "failed", state == "failed"),
            Figure("the failure says", error, "signal, phase, byte", bool(WORDS.search(error))),
        ]
        _kill(here, killed, size.harmless_kills)
        settled = outcome.settled(here, patience=600)
        ((state, attempts, losses, error),) = _job(here, killed)
        return [
            *figures,
            Figure(f"another file, after {size.harmless_kills} × SIGKILL", state, "done", state == "done"),
            exactly("its attempts counted", attempts, 0),
            exactly("its losses counted", losses, size.harmless_kills),
            settled[0],
        ]


def _crash(here: Place, file: File) -> int:
    """How many crashes it took until the file was no longer read again."""
    assert acknowledged(here.port, file)
    for n_crashes in range(MAX_CRASHES):
        before = _claims(here, file) if n_crashes else 0
        here.until(
            lambda before=before: _under_way(here, file, before) or _job(here, file)[0][0] == "failed", "a reading"
        )
        if _job(here, file)[0][0] != "reading":
            return n_crashes
        _signal(here, file, signal.SIGSEGV)
        here.until(lambda: _job(here, file)[0][0] != "reading", "the crash is noticed")
    return MAX_CRASHES


def _kill(here: Place, file: File, n_kills: int) -> None:
    assert acknowledged(here.port, file)
    for n in range(n_kills):
        here.until(lambda: _job(here, file)[0][0] == "reading", "the file is read")
        if n % KILLS_A_SERVER == 0:
            for pid in here.of(TOP, READER):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            here.tops[-1].wait()
            here.serve()
        else:
            _signal(here, file, signal.SIGKILL)
        here.until(lambda n=n: _job(here, file)[0][2] == n + 1, "the loss is noticed")


def _signal(here: Place, file: File, number: signal.Signals) -> None:
    """Send it to the process that reads ``file``."""
    ((worker,),) = here.rows(f"select j.worker from agent_sessions_job j {_OF.format(file.sha256)}")
    os.kill(int(worker.split(":")[1]), number)


def _under_way(here: Place, file: File, claims: int) -> bool:
    """Whether a reading later than ``claims`` has said how far it is."""
    state, phase, now = here.rows(f"select state, phase, claims from agent_sessions_job j {_OF.format(file.sha256)}")[0]
    return state == "reading" and phase != "" and now > claims


def _claims(here: Place, file: File) -> int:
    n: int = here.rows(f"select claims from agent_sessions_job j {_OF.format(file.sha256)}")[0][0]
    return n


def _job(here: Place, file: File) -> list[tuple[str, int, int, str]]:
    query = f"select j.state, j.attempts, j.losses, j.error from agent_sessions_job j {_OF.format(file.sha256)}"
    return here.rows(query)


_OF = "join agent_sessions_upload u on u.id = j.upload_id where u.sha256 = '{}'"
