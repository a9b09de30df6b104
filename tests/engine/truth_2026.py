"""The samples of late 2026 and their ``truth.json``, which lie beside the other shared samples."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sessions.engine.jsonio import loads
from sessions.engine.reading import read_transcripts
from tests.samples import find_samples, samples_dir

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.types import Kind, Parsed, Transcript

FOLDER = "samples-2026"


def names(folder: str) -> list[str]:
    """Names of a folder's samples, of all where ``folder`` is empty; one placeholder where there are none."""
    root = find_samples()
    truth = root.parent / FOLDER / "truth.json" if root else None
    if truth is None or not truth.is_file():
        return ["(no samples)"]
    return [name for name in loads(truth.read_bytes())["files"] if not folder or name.startswith(f"{folder}/")]


def place(name: str) -> Path:
    """The file of a sample."""
    return samples_dir().parent / FOLDER / name


@cache
def facts(name: str) -> dict[str, Any]:
    """Every fact of a sample; skips visibly where there are no samples."""
    found: dict[str, Any] = loads(place("truth.json").read_bytes())["files"][name]
    return found


@cache
def parsed(name: str) -> Parsed:
    """What we read from a sample."""
    with place(name).open("rb") as file:
        return read_transcripts(file, name)


def session(name: str) -> Transcript:
    """A sample's only session."""
    (found,) = parsed(name).transcripts
    return found


def lines(name: str) -> list[dict[str, Any]]:
    """The records of a sample, one a line."""
    return [loads(line) for line in place(name).read_bytes().splitlines() if line.strip()]


def n_blocks(name: str, *kinds: Kind) -> int:
    """How many blocks of these kinds the messages of a sample hold, parts of results included."""
    return sum(leaf.kind in kinds for message in session(name).messages for leaf in message.leaves())
