"""``ctxweb serve`` for real: one command up, one signal down, nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb import address
from ctxweb.cli import cli
from tests.cli.processes import rows, run, send, set_up
from tests.cli.serving import Served, is_running, until
from tests.services.claude_lines import Lines


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """A server on a data directory in which nothing is."""
    server = Served(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server on a data directory that was served before."""
    server = Served(set_up(tmp_path))
    yield server
    server.stop()


def test_up_with_one_command_and_down_with_ctrl_c(fresh: Served) -> None:
    served = fresh
    assert served.get("/healthz").status == 200
    served.worker()
    family = served.family()
    assert len(family) >= 3, "server, its process, the worker"
    os.kill(served.process.pid, signal.SIGINT)
    assert served.process.wait(30) == 0
    until(lambda: not any(is_running(pid) for pid in family))
    assert served.output.count("ctxweb is at") == 1
    assert "Traceback" not in served.output


@pytest.mark.exhaustive
def test_pages_are_compressed_cached_and_without_manual_steps(fresh: Served) -> None:
    served = fresh
    page = served.get("/login/")
    assert page.status == 200
    (style,) = re.findall(r'href="(/static/css/tokens\.[0-9a-f]{12}\.css)"', page.text)
    response = served.get(style, **{"Accept-Encoding": "gzip"})
    assert response.status == 200
    assert response.headers["Content-Encoding"] == "gzip"
    assert "immutable" in response.headers["Cache-Control"]
    assert served.get("/login/", Host="rebound.example").status == 400
    os.kill(served.process.pid, signal.SIGTERM)
    assert served.process.wait(30) == 0


@pytest.mark.exhaustive
def test_a_worker_that_dies_is_started_again(served: Served) -> None:
    first = served.worker()
    os.kill(first, signal.SIGKILL)
    until(lambda: "A worker is gone: its process was ended by SIGKILL; starting another." in served.output)
    until(lambda: served.worker() != first)


@pytest.mark.exhaustive
def test_a_process_for_requests_that_keeps_dying_is_started_again(served: Served) -> None:
    """All killed twice within seconds: the server stays, and answers again."""
    assert served.get("/healthz").status == 200
    for _ in range(2):
        pids = served.servers()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        until(lambda pids=pids: set(served.servers()) - set(pids) != set())  # type: ignore[misc]
    until(lambda: _answers(served))
    assert served.process.poll() is None
    os.kill(served.process.pid, signal.SIGTERM)
    assert served.process.wait(30) == 0


def _answers(served: Served) -> bool:
    try:
        return served.get("/healthz").status == 200
    except OSError:
        return False


def _stopped_early(folder: Path) -> Served:
    """A server whose own process is stopped before its first answer; one that was faster is started anew."""
    for _ in range(5):
        served = Served(folder)
        until(lambda one=served: one.servers() != [])
        for pid in served.servers():
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1)  # what it answered before it was stopped is told by then
        if "ctxweb is at" not in served.output:
            return served
        served.stop()
    pytest.fail("the server answered each time before it could be stopped")


@pytest.mark.exhaustive
def test_the_worker_starts_while_the_server_does_not(tmp_path: Path) -> None:
    """The server's process is stopped before its first answer: uploads are read all the same."""
    file = tmp_path / "small.jsonl"
    file.write_bytes(Lines().prompt("Hello").turn("ok").bytes())
    served = _stopped_early(tmp_path)
    try:
        send(tmp_path, file)
        until(lambda: rows(tmp_path, "select state from agent_sessions_job") == [("done",)])
        assert "ctxweb is at" not in served.output
    finally:
        served.stop()


@pytest.mark.exhaustive
def test_a_second_server_on_the_same_folder_is_refused(served: Served) -> None:
    port = served.port()
    second = run(served.data, "serve")
    assert second.returncode == 1
    assert f"is served already by process {served.process.pid} at http://127.0.0.1:{port}/" in second.stderr
    assert served.get("/healthz").status == 200


@pytest.mark.exhaustive
def test_nothing_outlives_a_killed_server(served: Served) -> None:
    served.worker()
    family = served.family()
    os.kill(served.process.pid, signal.SIGKILL)
    served.process.wait()
    until(lambda: not any(is_running(pid) for pid in family))


def test_taken_port_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(cli, ["serve", "--port", str(port)])
        assert result.exit_code == 1
        assert f"Port {port} on 127.0.0.1 is taken" in result.stderr
        assert address.free_port("127.0.0.1", port) > port


def test_leaving_loopback_is_refused_without_accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTXWEB_REQUIRE_LOGIN", raising=False)
    result = CliRunner().invoke(cli, ["serve", "--host", "0.0.0.0"])
    assert result.exit_code == 2
    assert "--unsafe-allow-unauthenticated" in result.stderr


LOOPBACK = ["127.0.0.1", "127.8.8.8", "::1", "localhost"]
ELSEWHERE = ["0.0.0.0", "::", "192.0.2.1", "example.org", ""]


@pytest.mark.parametrize(("host", "loopback"), [*((h, True) for h in LOOPBACK), *((h, False) for h in ELSEWHERE)])
def test_loopback(host: str, loopback: bool) -> None:
    assert address.is_loopback(host) is loopback


def test_addresses_as_a_browser_writes_them() -> None:
    assert address.url("::", 8400) == "http://[::1]:8400/"
    assert address.url("0.0.0.0", 8401) == "http://127.0.0.1:8401/"
    assert address.names_of("192.0.2.1") == ["192.0.2.1"]
    assert socket.gethostname() in address.names_of("0.0.0.0")
