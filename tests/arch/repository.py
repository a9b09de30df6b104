"""The repository as the architecture tests see it: committed files, and those about to be committed."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """All files that git tracks or would add, with one of ``suffixes`` (any, if none is given)."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = (ROOT / name for name in sorted(set(names)) if name)
    return tuple(path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes))


@cache
def templates() -> tuple[Path, ...]:
    """The templates of the pages."""
    return tuple(path for path in files(".html") if "templates" in path.parts)


@cache
def text(path: Path) -> str:
    """What ``path`` holds, read once; bytes that are no UTF-8 are replaced."""
    return path.read_text(encoding="utf-8", errors="replace")


def relative(path: Path) -> str:
    """``path`` as the repository names it."""
    return path.relative_to(ROOT).as_posix()


def nobody(offenders: list[str], advice: str) -> None:
    """Fail with all offenders at once, one a line, below what to do about them."""
    assert not offenders, "\n".join([f"{len(offenders)} found. {advice}", *(f"  {line}" for line in offenders)])
