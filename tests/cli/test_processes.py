"""Several processes for requests are one server: what one of them does, the others know at their next answer."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.cli.processes import library, rows
from tests.cli.serving import PATIENCE, Served, until
from tests.faults.clients import HEADERS, form
from tests.faults.files import transcript
from tests.services.claude_lines import MODEL

pytestmark = pytest.mark.exhaustive

KEY = "sk-ant-pasted-4321"
COST = "replay.json?policy=claude_code&p.pct_override=1&summarizer=stub:500"


class Asked:
    """One connection to one of the processes for requests, with one browser's cookies."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection, self.cookies = connection, ""

    def get(self, path: str) -> tuple[int, str]:
        return self._ask("GET", path, None, {})

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        return self._ask(
            "POST", path, urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
        )

    def upload(self, body: bytes, kind: str) -> tuple[int, str]:
        return self._ask("POST", "/uploads/", body, {"Content-Type": kind})

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, str]:
        sent = HEADERS | headers | {"Cookie": f"{HEADERS['Cookie']}{self.cookies}"}
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        for name, value in re.findall(r"(ctxweb_session\w*|sessionid)=([^;]+)", answer.headers.get("Set-Cookie", "")):
            self.cookies = f"; {name}={value}"
        return answer.status, text


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(library(tmp_path / "data"), CTXWEB_SERVER_PROCESSES="2")
    yield server
    server.stop()


@pytest.fixture
def both(served: Served) -> Iterator[tuple[Asked, Asked]]:
    """A connection to each of the two processes: while one is stopped, the other answers."""
    port = served.port()
    until(lambda: len(served.servers()) == 2)
    one, other = served.servers()
    first, second = _only(served, one, port), _only(served, other, port)
    yield first, second
    first.connection.close()
    second.connection.close()


def _only(served: Served, stopped: int, port: int) -> Asked:
    os.kill(stopped, signal.SIGSTOP)
    try:
        for _ in range(60):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            with suppress(OSError):
                asked = Asked(connection)
                assert asked.get("/healthz")[0] == 200
                connection.timeout = PATIENCE
                connection.sock.settimeout(PATIENCE)
                return asked
            connection.close()
        raise AssertionError("the process that runs never answered")
    finally:
        os.kill(stopped, signal.SIGCONT)


def test_what_one_process_changes_the_other_shows_at_once(served: Served, both: tuple[Asked, Asked]) -> None:
    here, there = both
    ((session_id,),) = rows(served.data, "select id from agent_sessions_session")
    address = f"/s/{session_id}/{COST}"

    def read(asked: Asked) -> dict[str, Any]:
        status, text = asked.get(address)
        assert status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found

    before = read(there)  # its cache is full from now on
    assert read(here) == before
    prices = {"input": "20", "output": "100", "cache_read": "2", "cache_write": "25", "cache_write_1h": "40"}
    model = rows(served.data, "select distinct model from agent_sessions_session")[0][0]
    assert model == MODEL
    assert here.post("/settings/prices/", model="claude-sonnet-4-5", **prices)[0] == 302
    dearer = read(there)
    assert dearer["totals"]["cost_usd"]["low"] > before["totals"]["cost_usd"]["low"]
    assert there.post("/settings/prices/", model="claude-sonnet-4-5")[0] == 302
    assert read(here) == before
    assert here.post("/settings/models/", name=MODEL, window="96000")[0] == 302
    assert read(there)["window"] == 96_000
    assert there.post("/settings/models/", name=MODEL, window="95000")[0] == 302
    assert read(here)["window"] == 95_000
    assert there.post("/settings/models/", name=MODEL, window="")[0] == 302
    assert read(here) == before
    file = transcript(1, 2_000)
    assert here.upload(form(file), "multipart/form-data; boundary=ctxweb-faults-boundary")[0] == 302
    until(lambda: rows(served.data, "select state from agent_sessions_job order by id desc limit 1") == [("done",)])
    assert "Task 1: " in there.get("/")[1]
    assert here.post("/delete/", s=session_id)[0] == 302
    assert there.get(address)[0] == 404


def test_a_key_and_wrong_passwords_are_known_to_all_processes(served: Served, both: tuple[Asked, Asked]) -> None:
    here, there = both
    assert here.post("/settings/key/", key=KEY)[0] == 302
    there.cookies = here.cookies
    assert "ends in <code>4321</code>" in there.get("/settings/")[1]
    os.kill(_pid_of(served, here), signal.SIGKILL)
    assert "ends in <code>4321</code>" in there.get("/settings/")[1], "it is not the killed process that held it"
    assert [path for path in served.data.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []
    assert there.post("/settings/key/forget/")[0] == 302
    assert "No key." in there.get("/settings/")[1]


def test_wrong_passwords_are_counted_together(served: Served, both: tuple[Asked, Asked]) -> None:
    here, there = both
    ((session_id,),) = rows(served.data, "select id from agent_sessions_session")
    status, text = here.post(f"/s/{session_id}/share/?view=replay&policy=none", secret="correct-horse")
    assert status == 201
    path = re.search(r'value="http://[^"/]+(/l/[^"]+)"', text)[1]  # type: ignore[index]
    wrong = [(here, there)[n % 2].post(path, password="no")[0] for n in range(6)]
    assert wrong == [403] * 5 + [429]
    assert [one.post(path, password="correct-horse")[0] for one in both] == [429, 429]


def _pid_of(served: Served, asked: Asked) -> int:
    """The process at the other end of a connection."""
    assert asked.connection.sock is not None
    mine, theirs = asked.connection.sock.getsockname()[1], asked.connection.sock.getpeername()[1]
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    (inode,) = [line[9] for line in lines if line[1].endswith(f":{theirs:04X}") and line[2].endswith(f":{mine:04X}")]
    for pid in served.servers():
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{fd}") == f"socket:[{inode}]":
                    return pid
    raise AssertionError("nobody holds the connection")
