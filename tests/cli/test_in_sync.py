"""Sessions of this computer that were added on the dashboard: read by themselves, new and grown ones too."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from ctxweb.supervisor import Follower
from sessions.adapters.synced import Progress, Synced, add_agents, keep_synced, progress
from tests.cli.processes import ROOT, environment, kill, rows, set_up, wait_for
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.exhaustive


def test_what_was_added_is_read_and_read_again_when_it_grows(tmp_path: Path) -> None:
    data, project = set_up(tmp_path / "data"), tmp_path / ".claude/projects/-a"
    project.mkdir(parents=True)
    lines = Lines().prompt("Keep me in sync").turn("one")
    (project / "1.jsonl").write_bytes(lines.bytes())
    (project / "no.jsonl").write_text("no transcript\n")
    add_agents(data, ["claude_code"])
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxweb", "watch"], cwd=ROOT, env={**environment(data), "HOME": str(tmp_path)},
        start_new_session=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: progress(data) == Progress(2, 2, 1), "both files are settled, one of them unread")
        before = rows(data, "SELECT id, n_messages FROM agent_sessions_session")
        (project / "1.jsonl").write_bytes(lines.turn("two").bytes())
        (project / "2.jsonl").write_bytes(Lines().prompt("Another").turn("one").bytes())
        wait_for(lambda: len(rows(data, "SELECT id FROM agent_sessions_session")) == 2, "the new file is stored")
        wait_for(
            lambda: rows(data, "SELECT id, n_messages FROM agent_sessions_session ORDER BY rowid") != before, "it grew"
        )
        assert before[0][0] in {one[0] for one in rows(data, "SELECT id FROM agent_sessions_session")}
    finally:
        kill(process)


def test_a_process_follows_exactly_while_something_is_chosen(tmp_path: Path, settings: Settings) -> None:
    settings.DATA = tmp_path
    follower = Follower()
    follower.look()
    assert follower.process is None
    keep_synced(tmp_path, Synced(folders=(str(tmp_path / "mine"),)))
    follower.look()
    first = follower.process
    assert first is not None
    follower.look()
    assert follower.process is first
    first.kill()
    first.wait()
    follower.look()
    assert follower.process is None  # not again at once
    follower.next_start = time.monotonic()
    follower.look()
    assert follower.process is not None
    keep_synced(tmp_path, Synced(folders=("x",), paused=True))
    follower.look()
    assert follower.process is None
