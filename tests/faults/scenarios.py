"""The scenarios: what each is called, what is done in it, where it runs, and what its figures mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.faults import (
    archives,
    broker_restarts,
    clocks,
    crashes,
    ends,
    idle,
    kills,
    load,
    slow_bodies,
    slow_start,
    volume,
    watching,
)
from tests.faults.grounds import EMBEDDED, RABBITMQ, REDIS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.figures import Figure, Size
    from tests.faults.grounds import Ground


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: ``says`` what is done, ``means`` how to read its figures, ``grounds`` where it runs at length."""

    title: str
    run: Callable[[Size, Ground], list[Figure]]
    grounds: tuple[Ground, ...]
    says: str
    means: str


SCENARIOS = {
    "kills": Scenario(
        "Killed at random moments",
        kills.run,
        (EMBEDDED, REDIS),
        "Three clients upload files of 200 bytes to 10 MB. Processes get SIGKILL at random moments: the "
        "server, its process for requests, readers, the worker of another host, all at once. Some are killed as they "
        "start. Clients send a file again until it is acknowledged. After the last kill no page is open: only the "
        "database is looked at. Then everything is ended, started again and checked.",
        "Lost: acknowledged, and not there with all its messages. Doubled: there with more than these. Stuck: neither "
        "done nor failed 15 minutes after the last kill. A loss is a reading whose process was gone; it never counts "
        "against the file. Temporary files are what a killed upload had written of its body.",
    ),
    "archives": Scenario(
        "An archive that several workers read",
        archives.run,
        (EMBEDDED, REDIS),
        "A zip of transcripts is read in parts by two workers. Meanwhile readers, or whole workers, get SIGKILL.",
        "Each file must be there once, with all its messages. What a killed reader had is read again by whoever comes.",
    ),
    "volume": Scenario(
        "Very many uploads",
        volume.run,
        (EMBEDDED, REDIS, RABBITMQ),
        "Three processes store tiny files through the services while one worker process reads them. Behind a broker it "
        "is a tenth as many.",
        "“Taken” more often than there are uploads would mean work done twice. The rates include the sending, which "
        "shares the processor.",
    ),
    "slow_start": Scenario(
        "A server that starts for a minute",
        slow_start.run,
        (EMBEDDED, REDIS),
        "The process for requests is stopped right at its start and goes on later. 20 uploads wait in the database.",
        "Reading does not wait for the first answer.",
    ),
    "load": Scenario(
        "Many clients at once",
        load.run,
        (EMBEDDED, REDIS),
        "Each client asks for the library (4 of 10), a session page (5 of 10) or uploads a file of 1 to 100 kB, with a "
        "pause of 0.5 to 1.5 s between two requests.",
        "An error is any other status than the one expected, and any broken connection. Memory counts pages that "
        "processes share once.",
    ),
    "slow_bodies": Scenario(
        "Bodies that trickle in",
        slow_bodies.run,
        (EMBEDDED,),
        "16 connections announce 10 MB and send 500 bytes a second. Meanwhile /healthz is asked four times a second.",
        "Uploads go to an installation without accounts, forms of the sign-in page to one with accounts.",
    ),
    "ends": Scenario(
        "Told to end while busy",
        ends.run,
        (EMBEDDED, REDIS),
        "`serve` gets SIGTERM while an upload arrives, while four clients ask for pages, and while a big file is read. "
        "It is started again each time.",
        "The big file's work is given back without counting an attempt, and done after the start.",
    ),
    "clocks": Scenario(
        "A clock that is moved",
        clocks.run,
        (EMBEDDED, REDIS),
        "All processes of ctxweb see the wall clock move by an hour and two, forward and back, while they read.",
        "A worker taken for dead would show as a loss.",
    ),
    "broker": Scenario(
        "A broker that restarts",
        broker_restarts.run,
        (REDIS,),
        "A Redis server of the run's own is ended in the middle of the work and started again empty. Files come "
        "before, meanwhile and after.",
        "All messages that the broker had are lost with it. While it is away, work waits.",
    ),
    "watching": Scenario(
        "A watched file that is cut, rotated and rewritten",
        watching.run,
        (EMBEDDED,),
        "`ctxweb watch` follows a file to which lines and half lines are added, which is cut, renamed and begun anew, "
        "rewritten in place and replaced.",
        "After each change the stored bytes and messages must be those of the file.",
    ),
    "crashes": Scenario(
        "A file that ends its process",
        crashes.run,
        (EMBEDDED,),
        "The process that reads a file gets SIGSEGV, each time. The process that reads another gets SIGKILL.",
        "A crash counts against the file, a kill from outside does not.",
    ),
    "idle": Scenario(
        "Idle",
        idle.run,
        (EMBEDDED,),
        "Nobody uses the server for a minute. Then 1 MB is uploaded again and again.",
        "Processor time is that of all processes of `serve`.",
    ),
}
