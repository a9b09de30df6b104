"""What is run before a change is merged: every test, in one of two steps."""

from __future__ import annotations

import re
import subprocess

from tests.arch.repository import ROOT, text


def marks(*arguments: str) -> list[str]:
    """The choices by mark that ``make`` hands to pytest, in their order."""
    command = ["make", "--dry-run", "--no-print-directory", *arguments]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (run,) = [line for line in said.splitlines() if "-m pytest" in line]
    return re.findall(r""" -m ("[^"]*"|'[^']*'|\w+)""", run.partition("-m pytest")[2])


def test_what_make_test_leaves_out_the_gate_runs() -> None:
    assert marks("test") == ['"not exhaustive"']
    assert marks("test-exhaustive") == ["exhaustive"]
    steps = re.findall(r"^step \w+ tests (.*)$", text(ROOT / ".ci/run"), re.MULTILINE)
    assert {"make test", "make test-exhaustive"} <= set(steps)


def test_a_place_is_run_whole_and_a_mark_of_ones_own_comes_last() -> None:
    assert marks("test", "ARGS=tests/browser") == []
    assert marks("test", "ARGS=-m golden") == ['"not exhaustive"', "golden"]
