"""Files that are cut off, padded or rewritten on the way: a format reads what is left, or says why it cannot."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import registry
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.database import MAGIC
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents
from tests.engine.test_formats_mutations import FILES, measure

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed

N_CUTS = 8
TEXTS = [(name, path) for name, path in FILES if not path.read_bytes().startswith((b"PK", MAGIC))]
LINES = [(name, path) for name, path in FILES if path.suffix == ".jsonl"]


def parsed(name: str, data: bytes) -> Parsed | None:
    """What the format makes of ``data``, each message read again; None where it refuses with a reason."""
    source = Source(io.BytesIO(data), "file.json")
    try:
        found: Parsed = registry.get("formats", name).read(source, measure)
    except UnreadableInput:
        return None
    for transcript in found.transcripts:
        for message in transcript.messages:
            again = measure(read_contents(source, name, message))
            assert again == message.blocks, f"message {message.id}: contents() finds other blocks than parse()"
    return found


def n_messages(found: Parsed | None) -> int:
    return sum(len(transcript.messages) for transcript in found.transcripts) if found else 0


@pytest.mark.parametrize(("name", "path"), FILES, ids=[f"{name}/{path.name}" for name, path in FILES])
def test_a_file_that_is_cut_off_anywhere(name: str, path: Path) -> None:
    data = path.read_bytes()
    kept = [n_messages(parsed(name, data[: len(data) * cut // N_CUTS])) for cut in range(N_CUTS)]
    assert not kept[0]
    if path.suffix == ".jsonl" and b"\n" in data[: len(data) * (N_CUTS - 1) // N_CUTS]:
        assert kept[-1], "the lines before the cut are there"


@pytest.mark.parametrize(("name", "path"), TEXTS, ids=[f"{name}/{path.name}" for name, path in TEXTS])
def test_other_line_endings_and_blank_padding_lose_nothing(name: str, path: Path) -> None:
    data = path.read_bytes()
    whole = n_messages(parsed(name, data))
    assert n_messages(parsed(name, data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))) == whole
    assert n_messages(parsed(name, data + b"\n\n  \n")) == whole
    if path.suffix == ".jsonl":
        assert n_messages(parsed(name, data.rstrip(b"\n") + b"\n" + b"\0" * 64 + b"\n")) == whole
        assert n_messages(parsed(name, data.rstrip(b"\n") + b'\n{"cut": "o')) == whole


@pytest.mark.parametrize(("name", "path"), LINES, ids=[f"{name}/{path.name}" for name, path in LINES])
def test_every_line_twice_gives_unique_ids(name: str, path: Path) -> None:
    doubled = b"".join(line + b"\n" + line + b"\n" for line in path.read_bytes().splitlines() if line.strip(b"\0 "))
    found = parsed(name, doubled)
    assert found
    for transcript in found.transcripts:
        assert len({message.id for message in transcript.messages}) == len(transcript.messages)
