"""Files that go on where one that is there ended, read by several processes at once, one of which is killed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.servers.servers import ROOT, environment, run_python
from tests.services.claude_lines import Lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.services, pytest.mark.exhaustive]

COUNT = """
import django
django.setup()
from sessions.adapters import storage
from sessions.engine.packing import pack
from sessions.models import Job, Session, Upload
facts = pack.unpack(bytes(Session.objects.get().facts.packed))
print(Upload.objects.count(), Session.objects.count(), Job.objects.count(), len(list(storage.stored())))
print(sum(Session.objects.values_list("n_messages", flat=True)), len(facts.messages),
      Upload.objects.get().status, Session.objects.get().pk)
"""
KILLED = """
import os, signal, sys
import django
django.setup()
from sessions.services import ingest
from sessions.services.uploads import receive
ingest.note_upload = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
with open(sys.argv[1], "rb") as file:
    ingest.ingest(upload_id=receive(file=file, filename="a.jsonl").upload.pk)
"""


@pytest.fixture(params=["PostgreSQL", "SQLite"])
def env(tmp_path: Path, postgres_url: str, request: pytest.FixtureRequest) -> dict[str, str]:
    url = postgres_url if request.param == "PostgreSQL" else ""
    return environment(tmp_path, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="ctxweb.settings")


def versions(folder: Path, n: int) -> list[Path]:
    """A session of 3, 5, 7 … messages, as a file each."""
    lines, found = Lines().prompt("Go"), []
    for turn in range(n):
        found.append(folder / f"{turn}.jsonl")
        found[-1].write_bytes(lines.turn(f"result {turn}").bytes())
    return found


def ingesting(env: dict[str, str], path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "ctxweb", "ingest", str(path)], env=env, cwd=ROOT, stderr=-3)


def test_versions_that_come_at_once_are_one_session(env: dict[str, str], tmp_path: Path) -> None:
    files = versions(tmp_path, 3)
    assert ingesting(env, files[0]).wait(120) == 0
    kept = run_python(COUNT, env).split()[-1]
    started = [ingesting(env, path) for path in reversed(files[1:])]
    assert [process.wait(120) for process in started] == [0] * 2
    assert run_python(COUNT, env).split() == ["1", "1", "1", "1", "7", "7", "done", kept]


def test_a_reader_that_is_killed_leaves_nothing_half(env: dict[str, str], tmp_path: Path) -> None:
    short, long = versions(tmp_path, 2)
    assert ingesting(env, short).wait(120) == 0
    before = run_python(COUNT, env).split()
    assert before[4:7] == ["3", "3", "done"]
    done = subprocess.run([sys.executable, "-c", KILLED, str(long)], env=env, cwd=ROOT, check=False)
    assert done.returncode == -9
    assert ingesting(env, long).wait(120) == 0
    assert run_python(COUNT, env).split() == ["1", "1", "1", "1", "5", "5", "done", before[-1]]
