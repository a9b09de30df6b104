"""``ctxweb restore`` of what the hook kept before a compaction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxweb.cli import cli
from tests.engine.claude_lines import claude_session


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["restore", *arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The text of a transcript of which the hook has kept a copy."""
    monkeypatch.setenv("CTXWEB_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "s.jsonl"
    path.write_text(claude_session(3), encoding="utf-8")
    given = json.dumps({"transcript_path": str(path), "session_id": "abc-1"})
    assert CliRunner().invoke(cli, ["hook", "precompact"], input=given).exit_code == 0
    return path.read_text(encoding="utf-8")


def test_copies_are_listed_and_one_message_comes_back(kept: str, tmp_path: Path) -> None:
    listed = json.loads(call("--copies", "--json").stdout)
    assert [(one["session"], one["copy"].endswith("-abc-1.jsonl.gz")) for one in listed["copies"]] == [("abc-1", True)]
    assert "session abc-1" in call("--copies").stdout
    assert call("abc", "--message", "0").stdout.startswith("Never touch the lock file.")
    text = json.loads(call("latest", "--message", "0", "--json").stdout)["text"]
    assert text == json.loads(kept.splitlines()[0])["message"]["content"]
    assert "it has " in call("latest", "--message", "999", code=1).stderr


def test_a_copy_is_unpacked_and_nothing_is_written_over(kept: str, tmp_path: Path) -> None:
    call("latest", "--into", str(tmp_path / "out"))
    (file,) = (tmp_path / "out").iterdir()
    assert file.read_text(encoding="utf-8") == kept
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("mine", encoding="utf-8")
    assert "was not changed" in call("latest", "--into", str(tmp_path / "out"), code=1).stderr
    assert file.read_text(encoding="utf-8") == "mine"


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXWEB_DATA", str(tmp_path / "data"))
    assert "ctxweb hook --help" in call("--copies").stdout
    assert "--copies" in call(code=2).stderr
    assert "No kept transcript" in call("latest", "--message", "1", code=2).stderr
    assert "does not exist" in call("nothing.tar", code=2).stderr
    damaged = tmp_path / "d.jsonl.gz"
    damaged.write_bytes(b"\x1f\x8bno")
    assert "damaged" in call(str(damaged), "--into", str(tmp_path / "out"), code=1).stderr
    assert not list((tmp_path / "out").iterdir())
