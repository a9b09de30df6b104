"""A process that stores, shows and deletes sessions until a file tells it to stop: argv is that file."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import django

django.setup()

from django.test import Client  # noqa: E402

from sessions.models import Session  # noqa: E402
from sessions.services.deleting import delete  # noqa: E402
from sessions.services.ingest import ingest  # noqa: E402
from sessions.services.uploads import receive  # noqa: E402
from tests.services.claude_lines import Lines, png  # noqa: E402
from tests.services.packs import zipped  # noqa: E402

STOP = Path(sys.argv[1])
KEPT = 12
"""Sessions beyond these are deleted, the oldest first."""


def transcript(n: int) -> bytes:
    """A session with a picture of its own and one that every third has too."""
    lines = Lines(session=f"session-{n}").prompt(f"Number {n}")
    return lines.turn(png(640, 480, 20_000, seed=n)).turn(png(640, 480, 30_000, seed=n % 3)).bytes()


def show() -> None:
    """Open pages all the time."""
    client = Client(SERVER_NAME="localhost")
    while not STOP.exists():
        for key in Session.objects.values_list("pk", flat=True)[:5]:
            assert client.get(f"/s/{key}.json").status_code in {200, 404}


threading.Thread(target=show, daemon=True).start()
n = 0
while not STOP.exists():
    packed = n % 4 == 0
    data = zipped({"a.jsonl": transcript(n), "b.jsonl": transcript(n + 1000)}) if packed else transcript(n)
    ingest(upload_id=receive(file=io.BytesIO(data), filename=f"{n}{'.zip' if packed else '.jsonl'}").upload.pk)
    old = Session.objects.order_by("created_at").values_list("pk", flat=True)
    if len(old) > KEPT:
        delete(sessions=[old[0]])
    n += 1
    print(n, flush=True)
