"""A large upload that takes long holds up no small one: a reader of its own comes for these, and goes again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from sessions.adapters.storage import blob_name
from tests.cli.processes import rows, send, set_up, wait_for, worker
from tests.cli.serving import Served
from tests.servers.servers import needs, run_python
from tests.servers.test_brokers import RECEIVE, SHARED, shared
from tests.servers.test_brokers import worker as shared_worker
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.exhaustive

STATES = "select state, attempts, losses from agent_sessions_job where total_bytes {} 1000000 order by id"
LARGE, SMALL = STATES.format(">"), STATES.format("<=")
WORKERS = "select worker from agent_sessions_job where state = 'reading' and total_bytes {} 1000000"
DONE = ("done", 0, 0)


def held_up(data: Path, tmp_path: Path) -> None:
    """A large upload whose stored bytes are a pipe that nobody writes to: whoever opens it waits."""
    large = tmp_path / "large.jsonl"
    large.write_bytes(Lines().prompt("x y " * 300_000).turn().bytes())
    send(data, large)
    stored = stored_at(data, "> 1000000")
    stored.unlink()
    os.mkfifo(stored)


def stored_at(data: Path, n_bytes: str) -> Path:
    """Where the bytes of the only upload of such a size lie."""
    ((sha256,),) = rows(data, f"select sha256 from agent_sessions_upload where n_bytes {n_bytes}")
    return data / "blobs" / blob_name(sha256)


def send_small(data: Path, tmp_path: Path, *numbers: int) -> None:
    for number in numbers:
        small = tmp_path / f"{number}.jsonl"
        small.write_bytes(Lines(f"small-{number}").prompt(f"Number {number}").turn().bytes())
        send(data, small)


def is_held(data: Path) -> bool:
    return rows(data, LARGE) == [("reading", 0, 0)]


def read_beside(data: Path, n_uploads: int) -> None:
    wait_for(lambda: rows(data, SMALL) == [DONE] * n_uploads, "the small uploads are read")
    assert is_held(data), "the large one is read meanwhile"


def test_a_worker_reads_small_uploads_beside_a_large_one(tmp_path: Path) -> None:
    data = set_up(tmp_path / "data")
    held_up(data, tmp_path)
    with worker(data):
        wait_for(lambda: is_held(data), "the large one is taken")
        send_small(data, tmp_path, 1, 2, 3)
        read_beside(data, 3)


def test_serve_reads_small_uploads_beside_a_large_one(tmp_path: Path) -> None:
    data = set_up(tmp_path / "data")
    held_up(data, tmp_path)
    served = Served(data)
    try:
        served.port()
        wait_for(lambda: is_held(data), "the large one is taken")
        send_small(data, tmp_path, 1, 2)
        read_beside(data, 2)
    finally:
        served.stop()


@pytest.mark.services
@pytest.mark.parametrize("service", SHARED)
def test_workers_behind_a_broker_do(tmp_path: Path, service: str) -> None:
    needs(service)
    data = set_up(tmp_path / "data")
    env = shared(data, SHARED[service])
    held_up(data, tmp_path)
    with shared_worker(env):
        wait_for(lambda: is_held(data), "the large one is taken")
        run_python(RECEIVE, env, "3", "3")
        read_beside(data, 3)


def test_a_killed_reader_of_small_uploads_is_replaced(tmp_path: Path) -> None:
    """What it had is a loss, and is read by the next one."""
    data = set_up(tmp_path / "data")
    held_up(data, tmp_path)
    with worker(data):
        wait_for(lambda: is_held(data), "the large one is taken")
        send_small(data, tmp_path, 1)
        stored = stored_at(data, "<= 1000000")
        at_rest = stored.read_bytes()
        stored.unlink()
        os.mkfifo(stored)
        wait_for(lambda: bool(rows(data, WORKERS.format("<="))), "the small one is taken")
        os.kill(int(rows(data, WORKERS.format("<="))[0][0].split(":")[1]), signal.SIGKILL)
        stored.unlink()
        stored.write_bytes(at_rest)
        wait_for(lambda: rows(data, SMALL) == [("done", 0, 1)], "the next one reads it")
        assert is_held(data)
