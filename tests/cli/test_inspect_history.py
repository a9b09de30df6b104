"""`inspect` names what came before a file."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from ctxweb.commands.inspect import command
from tests.engine.verdict_files import Codex


def shown(tmp_path: Path, history: int) -> str:
    session = Codex(window=258_400, overhead=20_000 + history)
    session.prompt()
    for _ in range(3):
        session.turn(200)
    session.overhead = 20_000
    session.compact()
    session.turn(200)
    session.turn(200)
    file = tmp_path / "rollout.jsonl"
    file.write_text("\n".join(session.lines) + "\n")
    done = CliRunner().invoke(command, [str(file)], env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_history_before_the_file_has_its_tokens_and_label(tmp_path: Path) -> None:
    assert "history before this file: 50," in shown(tmp_path, 50_000)
    assert "tokens (calibrated), window" in shown(tmp_path, 50_000)


def test_a_session_that_begins_with_its_file_says_nothing_of_it(tmp_path: Path) -> None:
    assert "history before" not in shown(tmp_path, 0)
