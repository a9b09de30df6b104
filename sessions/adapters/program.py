"""What this program works values out by, as one short name: kept values of another program are not read."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

OURS = Path(__file__).resolve().parents[1]
ELSEWHERE = frozenset({"migrations", "management", "api"})
"""Folders in which nothing is worked out of a session."""


@cache
def program() -> str:
    """A hash of the code and of the versions of other packages' plugins; once per process."""
    found = hashlib.sha256()
    for path in sorted(OURS.rglob("*.py")):
        place = path.relative_to(OURS)
        if place.parts[0] not in ELSEWHERE:
            found.update(f"{place.as_posix()}\0".encode())
            found.update(path.read_bytes())
    installed = entry_points()
    for group in sorted(each for each in installed.groups if each.startswith("ctxweb.")):
        for point in sorted(installed.select(group=group), key=lambda point: point.name):
            version = point.dist.version if point.dist else ""
            found.update(f"{group} {point.name} {point.value} {version}\0".encode())
    return found.hexdigest()[:16]
