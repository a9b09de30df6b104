"""Every recorded session at hand: the shared samples, the newer ones and the corpus, where they are."""

from __future__ import annotations

import gzip
from io import BytesIO
from typing import TYPE_CHECKING

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import read_transcripts
from tests.samples import find_samples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed

FOLDERS = ("samples", "samples-2026", "corpus/claude-code")


def recordings(*folders: str) -> list[Path]:
    """The files of some of ``FOLDERS`` (all by default), sorted; none where the shared folder is missing."""
    samples = find_samples()
    if samples is None:
        return []
    return [
        path for folder in folders or FOLDERS for path in sorted((samples.parent / folder).rglob("*")) if path.is_file()
    ]


def content(path: Path) -> bytes:
    """The bytes of a recording, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def transcripts(paths: list[Path]) -> Iterator[tuple[str, Parsed]]:
    """Name and sessions of every file that is a transcript."""
    for path in paths:
        try:
            yield path.name, read_transcripts(BytesIO(content(path)), path.name.removesuffix(".gz"))
        except EngineError:
            continue
