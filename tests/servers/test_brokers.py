"""Work reaches a real worker in another process: without a broker, through each shared one, and without its message."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.cli.processes import rows, set_up
from tests.cli.serving import until
from tests.servers.servers import ROOT, environment, needs, run_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

RECEIVE = """
import django, io, sys
django.setup()
import ctxweb.celery
from ctxweb.startup import migrate
from sessions import tasks
from sessions.services.uploads import receive
migrate()
for n in range(int(sys.argv[1])):
    line = '{"role": "user", "content": "Hello %d"}\\n{"role": "assistant", "content": "Hi"}\\n' % n
    receive(file=io.BytesIO(line.encode()), filename=f"{n}.jsonl")
for _ in range(int(sys.argv[2])):
    tasks.wake()
"""
STATES = "select state, claims, attempts, losses from agent_sessions_job"
SHARED = {"Redis": "redis://127.0.0.1:6379/9", "RabbitMQ": "amqp://guest:guest@127.0.0.1:5672//"}
DONE_ONCE = ("done", 1, 0, 0)


def shared(data: Path, broker: str) -> dict[str, str]:
    """The environment of a host with this data directory and broker, and a queue of its own on that."""
    env = environment(data, DJANGO_SETTINGS_MODULE="ctxweb.settings")
    if broker:
        env |= {"CTXWEB_BROKER_URL": broker, "CTXWEB_QUEUE": f"ctxweb-test-{uuid.uuid4().hex}"}
    return env


@contextmanager
def worker(env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", "ctxweb", "worker"], env=env, cwd=ROOT, start_new_session=True)
    try:
        yield process
        assert process.poll() is None, "the worker ended"
        process.terminate()
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def all_done(data: Path, n_uploads: int) -> None:
    until(lambda: rows(data, STATES) == [DONE_ONCE] * n_uploads)


def test_without_a_broker(tmp_path: Path) -> None:
    env = shared(set_up(tmp_path), "")
    run_python(RECEIVE, env, "3", "0")
    with worker(env):
        all_done(tmp_path, 3)


@pytest.mark.services
@pytest.mark.parametrize("service", SHARED)
@pytest.mark.parametrize(("n_messages", "told"), [(3, "one each"), (9, "three each"), (0, "none: all were lost")])
def test_shared_broker(tmp_path: Path, service: str, n_messages: int, told: str) -> None:
    """Each upload is read once, however often its message comes."""
    needs(service)
    env = shared(set_up(tmp_path), SHARED[service])
    run_python(RECEIVE, env, "3", str(n_messages))
    with worker(env):
        all_done(tmp_path, 3)


def test_a_broker_that_is_away_loses_nothing(tmp_path: Path) -> None:
    away = shared(set_up(tmp_path), "redis://127.0.0.1:9/0")
    run_python(RECEIVE, away, "2", "2")
    with worker(shared(tmp_path, "")):
        all_done(tmp_path, 2)
