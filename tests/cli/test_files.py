"""Which files commands look at that take files and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from ctxweb.commands._files import files_under
from ctxweb.commands.study import command as study

if TYPE_CHECKING:
    from pathlib import Path


def test_hidden_files_of_a_folder_are_left_out_and_a_named_one_is_not(tmp_path: Path) -> None:
    for name in (".hidden.jsonl", ".git/config", "b/2.jsonl", "a.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    found = [(path.relative_to(tmp_path).as_posix(), named) for path, named in files_under([tmp_path])]
    assert found == [("a.jsonl", False), ("b/2.jsonl", False)]
    assert list(files_under([tmp_path / ".hidden.jsonl"])) == [(tmp_path / ".hidden.jsonl", True)]


def test_study_counts_what_it_cannot_read_once_and_looks_at_nothing_hidden(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("no transcript")
    (tmp_path / "notes.txt").write_text("no transcript")
    result = CliRunner().invoke(study, [str(tmp_path), str(tmp_path / "notes.txt")])
    assert result.exit_code == 0
    assert "left out, no transcripts that can be read: 1\n" in result.output
