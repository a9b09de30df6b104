"""The files that a command was given, alone or in folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def files_under(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """The files named (True) and those in folders named (False), hidden ones left out, sorted within a folder."""
    for path in paths:
        if not path.is_dir():
            yield path, True
            continue
        for found in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in found.relative_to(path).parts)
            if found.is_file() and not hidden:
                yield found, False
