"""A task makes its way through every kind of broker to a real worker in another process."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.servers.servers import ROOT, environment, needs, run_python

if TYPE_CHECKING:
    from pathlib import Path

SEND = """
import django, sys
django.setup()
from tests.servers.ping import ping
ping.delay(sys.argv[1])
"""
SHARED = {"Redis": "redis://127.0.0.1:6379/9", "RabbitMQ": "amqp://guest:guest@127.0.0.1:5672//"}


def answer(data: Path, broker: str) -> int:
    """Send a ping through ``broker`` to a worker started for it; the process id that answered.

    A message sent before the worker starts must wait for it, so the ping goes first.
    """
    env = environment(data, DJANGO_SETTINGS_MODULE="ctxweb.settings")
    if broker:
        env["CTXWEB_BROKER_URL"] = broker
    answered = data / "answered"
    # A queue of its own keeps messages of other workers on the same server apart.
    env["CTXWEB_QUEUE"] = f"ctxweb-test-{uuid.uuid4().hex}"
    run_python(SEND, env, str(answered))
    worker = subprocess.Popen([sys.executable, "-m", "tests.servers.ping"], env=env, cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while not (answered.exists() and answered.read_text(encoding="ascii")):
            assert worker.poll() is None, "the worker ended"
            assert time.monotonic() < deadline, "no answer"
            time.sleep(0.1)
    finally:
        worker.terminate()
        worker.wait(30)
    return int(answered.read_text(encoding="ascii"))


def test_folder(tmp_path: Path) -> None:
    assert answer(tmp_path, "") > 0


@pytest.mark.services
@pytest.mark.parametrize("service", SHARED)
def test_shared_broker(tmp_path: Path, service: str) -> None:
    needs(service)
    assert answer(tmp_path, SHARED[service]) > 0
