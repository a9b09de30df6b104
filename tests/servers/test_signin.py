"""Guessing passwords at a real server, many guesses at once: the count is in the database, whichever it is."""

from __future__ import annotations

import http.client
import subprocess
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.cli.processes import set_up
from tests.cli.serving import Served
from tests.servers.servers import ROOT, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

TOKEN, PASSWORD = "a" * 32, "correct horse battery"


def sign_in(served: Served, password: str) -> int:
    """The status of the answer to the form."""
    form = urllib.parse.urlencode({"username": "alice", "password": password, "csrfmiddlewaretoken": TOKEN})
    headers = {"Cookie": f"ctxweb_csrf={TOKEN}", "Content-Type": "application/x-www-form-urlencoded"}
    connection = http.client.HTTPConnection("127.0.0.1", served.port(), timeout=120)
    connection.request("POST", "/login/", form, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def check(data: Path, **variables: str) -> None:
    """Six guesses at a time, then the right password; then a new one."""
    served = Served(data, CTXWEB_REQUIRE_LOGIN="1", **variables)
    try:
        served.port()  # it answers, so it has migrated
        new_password(data, PASSWORD, **variables)
        assert sign_in(served, PASSWORD) == 302
        with ThreadPoolExecutor(6) as pool:
            statuses = list(pool.map(lambda n: sign_in(served, f"wrong {n}"), range(6)))
        assert set(statuses) <= {200, 429}
        assert sign_in(served, PASSWORD) == 429
        new_password(data, "another long password", **variables)
        assert sign_in(served, "another long password") == 302
        assert "Traceback" not in served.output
    finally:
        served.stop()


def new_password(data: Path, password: str, **variables: str) -> None:
    """``ctxweb user`` beside the running server."""
    command = [sys.executable, "-m", "ctxweb", "user", "alice", "--password-stdin"]
    env = environment(data, **variables)
    subprocess.run(command, input=f"{password}\n", env=env, cwd=ROOT, text=True, check=True, timeout=120)


def test_sqlite(tmp_path: Path) -> None:
    check(set_up(tmp_path))


@pytest.mark.services
def test_postgresql(tmp_path: Path, postgres_url: str) -> None:
    check(tmp_path, DATABASE_URL=postgres_url)
