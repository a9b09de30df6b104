"""A real ``ctxweb watch`` on a folder that is written to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ctxweb.commands import watch
from sessions.adapters.synced import files_below
from sessions.engine.reading.jsonio import loads
from sessions.services.live import Followed
from tests.cli.processes import ROOT, environment, kill, rows, set_up, wait_for
from tests.services.claude_lines import Lines, session

pytestmark = pytest.mark.exhaustive


class Watching:
    """The process and the documents it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(loads(line.encode()))

    def event(self, name: str, n_messages: int | None = None) -> dict[str, Any]:
        """The first document of that name, once it comes."""

        def found() -> list[dict[str, Any]]:
            return [one for one in self.said if one["event"] == name and n_messages in {None, one.get("messages")}]

        wait_for(lambda: bool(found()), f"{name} of {n_messages} messages in {self.said}")
        return found()[0]


@contextmanager
def watching(data: Path, folder: Path) -> Iterator[Watching]:
    """``ctxweb watch --json``, ended by SIGTERM."""
    command = [sys.executable, "-m", "ctxweb", "watch", str(folder), "--json"]
    process = subprocess.Popen(
        command,
        env=environment(data),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield Watching(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        kill(process)  # type: ignore[arg-type]
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    folder, data = tmp_path / "in" / "deep", set_up(tmp_path / "data")
    folder.mkdir(parents=True)
    file, lines = folder / "a.jsonl", Lines().prompt("Watch me").turn("one")
    file.write_bytes(lines.bytes())
    (folder / "notes.txt").write_bytes(b"nothing to read\n")
    with watching(data, tmp_path / "in") as watched:
        new = watched.event("new")
        assert (new["file"], new["format"], new["messages"], new["skipped"]) == (str(file), "claude_code", 3, 0)
        for n in range(4):
            file.write_bytes(lines.turn(f"result {n}").bytes())
            assert watched.event("grown", 5 + 2 * n)["sessions"] == new["sessions"]
        with file.open("ab") as end:
            end.write(session(1)[:100])
        later = folder / "later.jsonl"
        later.write_bytes(session(2, session="22222222-2222-3333-4444-555555555555"))
        watched.event("new", 5)
        assert [one["event"] for one in watched.said].count("grown") == 4, "the half line waits"
        watched.event("unreadable")
        later.unlink()
        watched.event("gone")
        wait_for(lambda: rows(data, "select max(n_skipped) from agent_sessions_upload") == [(1,)], "the cut line")
    assert rows(data, "select count(*) from agent_sessions_session") == [(2,)]


def test_a_restart_reads_only_what_changed(tmp_path: Path) -> None:
    folder, data = tmp_path / "in", set_up(tmp_path / "data")
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(session(1))
    (folder / "b.jsonl").write_bytes(session(1, session="22222222-2222-3333-4444-555555555555"))
    with watching(data, folder) as watched:
        wait_for(lambda: len(watched.said) == 2, "both files")
    (folder / "b.jsonl").write_bytes(session(2, session="22222222-2222-3333-4444-555555555555"))
    with watching(data, folder) as watched:
        watched.event("grown", 5)
    assert [one["event"] for one in watched.said] == ["grown"]


def test_a_write_is_read_within_a_second() -> None:
    """A look comes twice a second, and a file that is read quickly does not rest."""
    assert watch.POLL_SECONDS <= 0.5
    seen = watch.Seen(os.stat(__file__), 0.0)
    seen.was_read(seen.mark, watch.time.monotonic(), waiting=False)
    assert seen.not_before == 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still until a test moves it."""
    now = [1_000.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    return now


def test_a_file_that_takes_long_rests(tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    from sessions.services import live

    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x")
    reads: list[float] = []

    def slow(**_: object) -> Followed:
        reads.append(clock[0])
        clock[0] += 2
        return live.Followed(live.Change.SAME, None)

    monkeypatch.setattr(live, "follow_file", slow)
    monkeypatch.setattr(live, "unchanged", lambda *_: False)
    watcher = watch.Watcher(lambda: files_below(tmp_path), tmp_path, as_json=True)
    for n in range(100):
        with path.open("ab") as file:
            file.write(b"x")
        os.utime(path, ns=(n, n))
        watcher.look()
        watcher.read_due()
        clock[0] += 0.5
    assert len(reads) == 5, "2 s of reading, 10 s of rest"
    assert min(later - earlier for earlier, later in pairwise(reads)) >= 12
