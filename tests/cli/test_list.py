"""``ctxweb list`` and ``latest``: what agents keep on this machine, listed without being read."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import pytest
from click.testing import CliRunner, Result

from ctxweb.cli import cli
from ctxweb.commands import list as list_module  # loaded before a test replaces the reader
from sessions.adapters.local import local_files
from sessions.engine.agents.agent import agents
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Parsed
from tests.engine.claude_lines import claude_session


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two agents' sessions, a subagent's file, and one that cannot be read as a transcript."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CTXWEB_DATA", str(tmp_path / ".data"))
    project = tmp_path / ".claude/projects/-work-shop"
    files = {
        project / "old.jsonl": claude_session(4),
        project / "new.jsonl": claude_session(30, compact_after=20),
        project / "new/subagents/agent-1.jsonl": claude_session(3),
        tmp_path / ".codex/sessions/2026/11/22/rollout-1.jsonl": "no transcript\n",
        tmp_path / ".claude/settings.json": "{}",
        project / "empty.jsonl": "",
    }
    for age, (path, text) in enumerate(files.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_790_000_000 - age * 60,) * 2)
    os.utime(project / "new.jsonl", (1_790_000_900,) * 2)
    return tmp_path


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_sessions_are_found_newest_first_subagents_and_settings_left_out(home: Path) -> None:
    found = local_files()
    assert [one.path.name for one in found] == ["new.jsonl", "old.jsonl", "rollout-1.jsonl"]
    assert [one.agent.name for one in found] == ["claude_code", "claude_code", "codex"]
    assert len({one.id for one in found}) == 3


def test_a_folder_that_leads_elsewhere_is_not_followed(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "other.jsonl").write_text(claude_session(3), encoding="utf-8")
    (home / ".claude/projects/linked").symlink_to(elsewhere)
    assert "other.jsonl" not in [one.path.name for one in local_files()]


def test_nothing_is_read_before_a_yes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.engine.reading.reading.read_transcripts", lambda *_: pytest.fail("read"))
    said = call("list").output
    assert "3 of 3 sessions." in said
    assert "peak" not in said
    assert call().output == said


def test_each_is_told_of_after_a_yes(home: Path) -> None:
    said = call("list", "--yes").output
    assert call("--yes").output == call("list").output
    assert "`ctxweb list --yes`" in call("--yes", "list", code=2).stderr
    assert "1 compaction." in said
    assert "0 compactions." in said
    assert "(measured)" in said
    document = json.loads(call("list", "--yes", "--json", "--latest", "2").stdout)
    assert document["n_found"] == 3
    assert [one["n_compactions"] for one in document["sessions"]] == [1, 0]
    assert document["sessions"][0]["headline"]
    assert json.loads(call("list", "--agent", "codex", "--yes", "--json").stdout)["sessions"][0]["error"]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, in order."""
    names: list[str] = []

    def counted(stream: BinaryIO, name: str) -> Parsed:
        names.append(Path(name).name)
        return read_transcripts(stream, name)

    monkeypatch.setattr("sessions.engine.reading.reading.read_transcripts", counted)
    return names


def test_a_file_is_read_again_only_once_it_changed(home: Path, read: list[str]) -> None:
    call("list", "--yes")
    assert read == ["new.jsonl", "old.jsonl", "rollout-1.jsonl"]
    assert "1 compaction." in call("list").output
    with (home / ".claude/projects/-work-shop/old.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    said = call("list", "--yes").output
    assert read[3:] == ["old.jsonl"]
    assert said.count("(measured)") == 2
    call("list", "--yes", "--json")
    assert len(read) == 4


def test_a_large_file_does_not_hold_up_the_first_verdict(
    home: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_module, "AT_ONCE", (home / ".claude/projects/-work-shop/new.jsonl").stat().st_size - 1)
    call("list", "--yes")
    assert read == ["old.jsonl", "rollout-1.jsonl", "new.jsonl"]


def test_what_is_not_shown_is_read_in_the_background_after_a_yes(
    home: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, started = [], []
    monkeypatch.setattr("ctxweb.commands.list.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setattr("click.confirm", lambda words, **_: asked.append(words) or len(asked) == 1)
    monkeypatch.setattr(
        list_module.subprocess, "Popen", lambda command, **_: started.append(command) or SimpleNamespace(pid=7)
    )
    monkeypatch.setattr(list_module.os, "nice", lambda _: None)
    said = call("list", "--latest", "1").output
    assert "all 3, the rest in the background" in asked[0]
    assert read == ["new.jsonl"]
    assert "by process 7" in said
    assert started[0][-2:] == ["list", "--rest"]
    assert call(*started[0][-2:]).output == ""
    assert read == ["new.jsonl", "old.jsonl", "rollout-1.jsonl"]
    assert call("list").output.count("(measured)") == 2
    assert len(asked) == 2, "nothing is new, so nothing is asked"
    gone = list_module.data_dir() / list_module.FOLDER / f"{local_files()[0].id}.json"
    local_files()[0].path.unlink()
    call("list", "--rest")
    assert not gone.exists()
    with (gone.parent / "lock").open("w") as lock:  # another process reads
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.utime(local_files()[0].path)
        call("list", "--rest")
    assert len(read) == 3


def test_the_latest_and_an_id_stand_for_their_files(home: Path) -> None:
    newest, old = local_files()[:2]
    by_path = call("inspect", str(old.path), "--json").stdout
    assert call("inspect", old.id, "--json").stdout == by_path
    assert call("why", "--json").stdout == call("why", str(newest.path), "--json").stdout
    assert call("why", "latest", "--json").stdout == call("why", str(newest.path), "--json").stdout


def test_an_empty_home_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "ctxweb list --where" in call("list").stderr
    assert "Name a file" in call("why", code=1).stderr
    assert str(tmp_path) in call("list", "--where").stdout
    assert "Agents: " in call("list", "--agent", "nobody", code=2).stderr


def test_every_folder_says_what_its_transcripts_are_called() -> None:
    listed = [(name, place) for agent in agents() for name, place in agent.places.items() if name != "cursor_db"]
    assert listed
    for name, place in listed:
        assert place.folder.startswith("~") == bool(place.patterns), name
