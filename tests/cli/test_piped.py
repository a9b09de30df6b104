"""Every command that takes a FILE reads what cannot be read twice: a named pipe, a device, what a shell pipes in."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from tests.engine.claude_lines import claude_session

SESSION = claude_session(n_turns=4, compact_after=2).encode()
TAKES_FILES = ("files", "corpus", "paths", "what")
NEEDED = {
    "replay": ("--policy", "none"), "sweep": ("--policy", "sliding_window", "--over", "trigger=50:80:2"),
    "diff": ("--policy", "sliding_window", "--window", "1000", "--set", "trigger=1"),
    "apply": ("--policy", "claude_code"), "probe": ("--policy", "sliding_window", "--window", "8000"),
    "export": ("--to", "jsonl"), "skeleton": ("--out", "{out}"), "share": ("--out", "{out}"),
    "report": ("--policy", "none"), "check": ("--policy", "none", "--max-compactions", "9"), "open": ("--no-browser",),
}  # fmt: skip
SAYS_NO = {"open": "ctxweb ingest -", "count": "key", "diff": "There is no compaction 1"}
"""Commands that need a file on a disk, a key, or a compaction, and say so."""


def commands() -> Iterator[str]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command
        words = [one for one in command.params if one.param_type_name == "argument" and one.name in TAKES_FILES]
        if words and not isinstance(words[0].type, click.Choice):
            yield name


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_named_pipe_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    pipe = tmp_path / "session.jsonl"
    os.mkfifo(pipe)
    monkeypatch.chdir(tmp_path)
    writer = threading.Thread(target=lambda: pipe.write_bytes(SESSION), daemon=True)
    writer.start()
    options = [one.format(out=tmp_path / "out") for one in NEEDED.get(name, ())]
    result = CliRunner().invoke(cli, [name, str(pipe), *options])
    said = result.output + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    if name in SAYS_NO:
        assert SAYS_NO[name] in said
        pipe.read_bytes() if writer.is_alive() else None
    else:
        assert result.exit_code == 0, said


@pytest.mark.parametrize(
    "line",
    [
        "cat {file} | {run} inspect /dev/stdin",
        "{run} inspect <(gzip -c {file})",
        "gzip -c {file} | {run} inspect -",
        "{run} inspect /dev/stdin < {file}",
    ],
)
def test_what_a_shell_pipes_in_is_read(tmp_path: Path, line: str) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(SESSION)
    done = subprocess.run(
        ["bash", "-c", line.format(file=file, run=f"{sys.executable} -m ctxweb")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "requests" in done.stdout


@pytest.mark.parametrize(("word", "words"), [("/dev/null", "empty"), ("/dev/zero", "more than 1,000 bytes")])
def test_a_device_is_read_as_far_as_a_file_may_be_long(word: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.engine.base.limits.MAX_UPLOAD_BYTES", 1_000)
    result = CliRunner().invoke(cli, ["inspect", word])
    assert words in str(result.exception) + result.output
