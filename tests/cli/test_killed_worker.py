"""A worker that is killed in the middle of an upload: after a restart the upload completes, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.processes import kill, rows, send, set_up, wait_for, worker
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.exhaustive

TURNS = 6_000


def big_file(path: Path) -> int:
    """About 20 MB: several beats of the worker, one a second, fall into reading it; returns the number of messages."""
    lines = Lines().prompt("Go")
    for turn in range(TURNS):
        words = "".join(f"{turn * 31 + n * 17:x} {n}:{turn % 97}\n" for n in range(160))
        lines.turn(words)
    path.write_bytes(lines.bytes())
    return 2 * TURNS + 1


def test_killed_in_the_middle_it_completes_once_after_a_restart(tmp_path: Path) -> None:
    n_messages = big_file(tmp_path / "big.jsonl")
    data = set_up(tmp_path / "data")
    send(data, tmp_path / "big.jsonl")
    job = "select state, attempts, done_bytes from agent_sessions_job where total_bytes > 1000000"
    with worker(data) as first:
        wait_for(lambda: rows(data, job)[0][0] == "reading" and rows(data, job)[0][2] > 0, "the worker reads")
        kill(first)
    state, attempts, _ = rows(data, job)[0]
    assert (state, attempts) == ("reading", 0), "killed in the middle"
    with worker(data):
        wait_for(lambda: rows(data, job)[0][0] not in {"queued", "reading"}, "the restarted worker finishes it")
    assert rows(data, job)[0][:2] == ("done", 0)
    of_big = "from agent_sessions_session where n_messages > 1000"
    assert rows(data, f"select count(*), min(n_messages) {of_big}") == [(1, n_messages)]
    facts = "select count(*) from agent_sessions_sessionfacts where session_id in"
    assert rows(data, f"{facts} (select id {of_big})") == [(1,)]
