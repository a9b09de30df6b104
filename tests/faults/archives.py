"""A large archive that several workers read in parts, while they are killed."""

from __future__ import annotations

import io
import os
import random
import signal
import time
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.figures import Figure, exactly, none
from tests.faults.files import File, transcript
from tests.faults.place import READER, place

if TYPE_CHECKING:
    from subprocess import Popen

    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

FILE_BYTES = 200_000
SEND = """
import sys
from ctxweb.startup import load_django
load_django()
from sessions import tasks
from sessions.services.uploads import receive
with open(sys.argv[1], "rb") as file:
    receive(file=file, filename="archive.zip")
tasks.wake()
"""
STORED = """
select s.title, s.n_messages, (select s.n_messages from agent_sessions_sessionfacts f where f.session_id = s.id)
from agent_sessions_session s
"""


def archive(n_files: int, n_bytes: int = FILE_BYTES) -> tuple[bytes, list[File]]:
    """A zip of ``n_files`` transcripts, and these; their text is stored as it is."""
    files, packed = [transcript(seed, n_bytes) for seed in range(n_files)], io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for file in files:
            target.writestr(zipfile.ZipInfo(file.name), file.data)
    return packed.getvalue(), files


def send(here: Place, data: bytes) -> None:
    """Store the archive as an upload that waits for a worker."""
    path = here.data / "archive.zip"
    path.write_bytes(data)
    assert here.python(SEND, str(path)).wait() == 0, here.output()[-3000:]
    path.unlink()


def run(size: Size, ground: Ground) -> list[Figure]:
    """``size.archive_files`` in one zip, two workers, ``size.archive_kills`` kills of a reader or of a whole worker."""
    data, files = archive(size.archive_files)
    rng, n_killed = random.Random(size.seed), 0
    with place(ground) as here:
        here.migrate()
        workers = [here.start("worker"), here.start("worker")]
        here.until(lambda: len(here.of(READER)) == len(workers), "both work")
        send(here, data)
        here.until(lambda: _n(here, "agent_sessions_part") > 0, "the archive is shared out")
        n_parts = _n(here, "agent_sessions_part")
        while n_killed < size.archive_kills and here.n_unsettled():
            time.sleep(rng.uniform(0.2, 1.0))
            n_killed += _kill(here, workers, rng)
        settled = outcome.settled(here, patience=900)
        stored = here.rows(STORED)
        wanted = {file.name: (f"Task {file.name[5:-6]}:", file.n_messages) for file in files}
        lost, doubled = [], []
        for name, (title, n_messages) in wanted.items():
            found = [row for row in stored if row[0].startswith(title)]
            if not found or min(found[0][1:]) < n_messages:
                lost.append(name)
            elif len(found) > 1 or max(found[0][1:]) > n_messages:
                doubled.append(name)
        ((status, n_members),) = here.rows(
            "select min(u.status), count(*) from agent_sessions_upload u join agent_sessions_member m "
            "on m.upload_id = u.id where m.status = 'read'"
        )
        return [
            Figure("parts", f"{n_parts:,}", "≥ 2", n_parts >= 2),
            Figure("kills while it was read", f"{n_killed:,}", "≥ 1", n_killed >= 1),
            *settled,
            Figure("the archive", str(status), "done", status == "done"),
            exactly("files read", n_members, len(files)),
            exactly("sessions", len(stored), len(files)),
            none("files lost", lost),
            none("files doubled", doubled),
            exactly("parts left over", _n(here, "agent_sessions_part"), 0),
            *outcome.integrity(here),
        ]


def _n(here: Place, table: str) -> int:
    n: int = here.rows(f"select count(*) from {table}")[0][0]
    return n


def _kill(here: Place, workers: list[Popen[bytes]], rng: random.Random) -> bool:
    """SIGKILL to one reader, or to a worker as a lost host: then another comes."""
    readers = here.of(READER)
    if rng.random() < 0.7 and readers:
        return _killed(rng.choice(readers))
    number = rng.randrange(len(workers))
    if not _killed(workers[number].pid):
        return False
    workers[number].wait()
    workers[number] = here.start("worker")
    return True


def _killed(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
