"""Runs the examples of README and docs on the demo session, and writes their output below each command.

A fenced block of the language ``console`` holds commands after ``$ `` and what they print.  ``python
scripts/examples.py`` rewrites the output; a test fails while it is not what the commands print.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMNS = 120
SECONDS = 300


def documents() -> list[Path]:
    """README and documents, where they have examples."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    return [path for path in found if BLOCK.search(path.read_text(encoding="utf-8"))]


def written(text: str) -> str:
    """``text`` with what its commands print now: all in one new folder, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def fill(block: re.Match[str]) -> str:
            commands = [line[2:] for line in block[1].splitlines() if line.startswith("$ ")]
            return "```console\n" + "".join(f"$ {line}\n{printed(line, folder)}" for line in commands) + "```"

        return BLOCK.sub(fill, text)


def printed(command: str, folder: Path) -> str:
    """What one command line prints on both streams, without blanks at the ends of lines."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": paths, "HOME": str(folder), "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
           "CTXWEB_DATA": str(folder / ".data"), "PYTHONPATH": str(ROOT)}  # fmt: skip
    done = subprocess.run(
        command, shell=True, cwd=folder, env=own, check=False, text=True, encoding="utf-8", timeout=SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def main() -> None:
    """Rewrite the documents in place."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        path.write_text(written(text), encoding="utf-8")


if __name__ == "__main__":
    main()
