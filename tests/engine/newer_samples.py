"""Samples of the agents of late 2026 and what is true of them: a folder beside the older samples."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sessions.engine.jsonio import loads
from sessions.engine.reading import read_transcripts
from tests.samples import ROOT, find_samples, samples_dir

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.types import Content, Kind, Parsed, Transcript

FIXTURES = ROOT / "tests" / "fixtures" / "transcripts"


def folder() -> Path:
    """The newer samples' folder; skips visibly where there are no samples."""
    return samples_dir().parent / "samples-2026"


@cache
def truths() -> dict[str, dict[str, Any]]:
    older = find_samples()
    place = older.parent / "samples-2026" / "truth.json" if older else None
    found: dict[str, dict[str, Any]] = loads(place.read_bytes())["files"] if place and place.is_file() else {}
    return found


def names(of: str, suffix: str = ".jsonl") -> list[str]:
    """Names of an agent's samples; one placeholder where there are none, so that the tests show as skipped."""
    return [n for n in truths() if n.startswith(f"{of}/") and n.endswith(suffix)] or ["(no samples)"]


def truth(name: str) -> dict[str, Any]:
    folder()
    return truths()[name]


@cache
def sample(name: str) -> Parsed:
    return read(folder() / name)


def fixture(name: str) -> Parsed:
    return read(FIXTURES / name)


def read(path: Path) -> Parsed:
    with path.open("rb") as file:
        return read_transcripts(file, path.name)


def kinds(session: Transcript) -> dict[str, int]:
    """How many blocks of each kind the messages have, those inside results left out."""
    blocks = [str(b.kind) for m in session.messages for b in m.blocks]
    return {kind: blocks.count(kind) for kind in sorted(set(blocks))}


def n_of(session: Transcript, kind: Kind) -> int:
    return kinds(session).get(str(kind), 0)


def text_of(contents: tuple[Content, ...]) -> str:
    return "".join(content.text for content in contents)
