"""How a command ends: at once, with everything done that waits for its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.processes import run
from tests.engine.claude_lines import claude_session

ENDS = """
import atexit, sys, threading, weakref
from ctxweb import cli, entry

class Held: pass
held = Held()
weakref.finalize(held, lambda: print("taken apart")).atexit = False
atexit.register(print, "asked at the end")
def command():
    {command}
cli.main = command
entry.main()
"""


def ended(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ENDS.format(command=command)], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("status", [0, 1, 2])
def test_what_waits_for_the_end_is_done_and_the_status_is_kept(status: int) -> None:
    done = ended(f"print('said', end=''); sys.exit({status})")
    assert (done.returncode, done.stdout, done.stderr) == (status, "saidasked at the end\n", "")


def test_a_thread_that_is_waited_for_is_waited_for() -> None:
    done = ended("threading.Timer(0.3, print, ['late']).start(); sys.exit(0)")
    assert (done.returncode, done.stdout.splitlines()[:2]) == (0, ["late", "asked at the end"])


def test_words_instead_of_a_status_are_said() -> None:
    done = ended("sys.exit('not like this')")
    assert (done.returncode, done.stderr) == (1, "not like this\n")


def test_ingest_leaves_no_log_of_the_database(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(claude_session(5), encoding="utf-8")
    done = run(tmp_path / "data", "ingest", str(file))
    assert done.returncode == 0, done.stderr
    left = [one.name for one in (tmp_path / "data").iterdir() if one.name.endswith(("-wal", "-shm"))]
    assert left == []
