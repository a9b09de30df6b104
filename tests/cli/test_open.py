"""``ctxweb open`` and the ways that lead to a session's page: ids, addresses, the newest ones."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb import datalock
from ctxweb.cli import cli
from tests.cli.processes import environment, rows, run, set_up
from tests.engine.claude_lines import claude_session

pytestmark = pytest.mark.exhaustive

ADDRESS = "http://127.0.0.1:8499/"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A transcript."""
    path = tmp_path / "session.jsonl"
    path.write_text(claude_session(4))
    return path


def test_a_session_opens_where_the_dashboard_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is stored once; its id opens the same page; ingest prints both."""
    data, seen = set_up(tmp_path / "data"), tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >>{seen}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with datalock.held(data, ADDRESS):
        assert datalock.holder(data) == ADDRESS
        opened = run(data, "open", str(file))
        (ident,) = (row[0] for row in rows(data, "SELECT id FROM agent_sessions_session"))
        assert opened.stdout == f"{ADDRESS}s/{ident}/\n"
        assert seen.read_text() == opened.stdout
        assert run(data, "open", ident, "--no-browser").stdout == opened.stdout
        assert f"{ident}  {ADDRESS}s/{ident}/" in run(data, "ingest", str(file)).stderr
        unknown = run(data, "open", "s_nope")
        assert unknown.returncode == 2
        assert "No session 's_nope'" in unknown.stderr
    assert seen.read_text() == opened.stdout
    assert not datalock.holder(data)
    assert f"`ctxweb open {ident}`" in run(data, "ingest", str(file)).stderr


def test_the_dashboard_is_started_where_none_runs(file: Path, tmp_path: Path) -> None:
    data = set_up(tmp_path / "data")
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxweb", "open", str(file), "--no-browser"],
        env=environment(data), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout
    try:
        said = iter(process.stdout.readline, "")
        page = next(found[0] for line in said if (found := re.search(r"http://\S+/s/s_\w+/", line)))
        with urllib.request.urlopen(page, timeout=60) as answer:
            assert answer.status == 200
        assert datalock.holder(data) == page.partition("s/s_")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_the_newest_ones_are_asked_for_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".claude/projects/-work-shop"
    place.mkdir(parents=True)
    for number in range(3):
        (place / f"{number}.jsonl").write_text(claude_session(3 + number))
    invoke = CliRunner().invoke
    said = invoke(cli, ["why", "--latest", "2"]).output
    assert sum(f"{number}.jsonl" in said for number in range(3)) == 2
    assert invoke(cli, ["why", "--latest", "2", str(place)]).exit_code == 2
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    assert "No agent on this machine" in invoke(cli, ["aftermath", "--latest", "2"]).output
