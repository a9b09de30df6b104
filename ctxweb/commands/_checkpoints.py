"""Stored checkpoints: ``<2 hex>/<10 hex>/<n>/full.jsonl`` beside ``metadata.json``, a session again and again.

Each holds the transcript so far, so that of one session the longest has all others in it (formats 2.1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxweb.terminal import say
from sessions.engine.reading.jsonio import JsonProblem, loads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TRANSCRIPT, FACTS = "full.jsonl", "metadata.json"
MAX_FACTS_BYTES = 1 << 20
_PLACE = re.compile(r"(?:^|/)[0-9a-f]{2}/[0-9a-f]{10}/(?:\d+/)?[^/]+$")


def longest(files: Sequence[tuple[str, Path]]) -> list[Path]:
    """The files, given by name and place, without what checkpoints hold but the longest transcript of each session."""
    folders = {_folder(name) for name, _ in files if _PLACE.search(name) and name.endswith(f"/{TRANSCRIPT}")}
    inside = {name for name, _ in files if _PLACE.search(name) and _of_checkpoint(name, folders)}
    places = dict(files)
    best: dict[str, tuple[int, str]] = {}
    stored = [name for name in inside if name.endswith(f"/{TRANSCRIPT}")]
    for name in sorted(stored):
        size = places[name].stat().st_size
        key = _session(places.get(f"{_folder(name)}/{FACTS}")) or name
        best[key] = max(best.get(key, (-1, "")), (size, name))
    kept = {name for _, name in best.values()}
    if len(stored) > len(kept):
        say(f"Checkpoints of the same sessions: {len(stored) - len(kept):,} left out, the longest are read")
    return [place for name, place in files if name not in inside or name in kept]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _of_checkpoint(name: str, folders: set[str]) -> bool:
    """Whether the file lies in a checkpoint's folder, or in the one above that is of all its sessions."""
    folder = _folder(name)
    return folder in folders or any(_folder(one) == folder for one in folders)


def _session(facts: Path | None) -> str:
    """The session that a checkpoint's metadata names, "" where they are missing or broken."""
    if facts is None:
        return ""
    try:
        with facts.open("rb") as file:
            found = loads(file.read(MAX_FACTS_BYTES))
    except (OSError, JsonProblem):
        return ""
    session = found.get("session_id") if isinstance(found, dict) else None
    return session if isinstance(session, str) else ""
