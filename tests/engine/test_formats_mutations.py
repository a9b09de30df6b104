"""No value in the wrong place brings a format down: fixtures with parts replaced, lost and out of order."""

from __future__ import annotations

import io
import random
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.base import registry
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.database import is_database
from sessions.engine.reading.jsonio import JsonProblem, Source, dumps, loads
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Block, Content
from tests.every import EVERY

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
FILES = [(name, path) for name in registry.plugins("formats") for path in sorted((FIXTURES / name).glob("*"))]
STRANGE: list[Any] = [None, True, 0, -1, 3.5, "", "x", [], {}, [[]], [None], {"type": 1}, {"type": "text"}, 10**30]
N_SEEDS, N_EVERY = 12, 1_000
"""Mutations of every fixture; with ``CTXWEB_EVERY=1`` so many of every format, spread over its fixtures."""


def measure(contents: Any) -> tuple[Block, ...]:
    """Lengths alone: what is asked here is whether the same contents come back."""
    return tuple(
        Block(kind=c.kind, n_chars=len(c.text), n_payload=len(c.payload), call_id=c.call_id, parts=measure(c.parts))
        for c in contents
        if isinstance(c, Content)
    )


def mutated(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.04:
        return chance.choice(STRANGE)
    if isinstance(value, dict):
        return {key: mutated(item, chance) for key, item in value.items() if chance.random() > 0.02}
    if isinstance(value, list):
        return [mutated(item, chance) for item in value]
    return value


def mutated_file(path: Path, chance: random.Random) -> bytes:
    data = path.read_bytes()
    if data.startswith(b"PK"):
        return mutated_archive(data, chance)
    if is_database(data):
        return mutated_database(data, chance)
    if path.suffix == ".json":
        return dumps(mutated(loads(data), chance)).encode()
    lines = []
    for line in data.splitlines():
        mark = b"data: " if line.startswith(b"data: ") else b""
        try:
            lines.append(mark + dumps(mutated(loads(line.removeprefix(mark)), chance)).encode())
        except JsonProblem:
            lines.append(line)
    if chance.random() < 0.3:
        chance.shuffle(lines)
    return b"\n".join(lines)


def mutated_archive(data: bytes, chance: random.Random) -> bytes:
    """The same members with their values mutated; now and then the end of the file is lost."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(name, dumps(mutated(loads(before.read(name)), chance)))
    return packed.getvalue()[: -chance.randrange(1, 400)] if chance.random() < 0.1 else packed.getvalue()


def mutated_database(data: bytes, chance: random.Random) -> bytes:
    """The same rows with their cells mutated, and the JSON in them; now and then the end of the file is lost."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.deserialize(data)
        for (table,) in made.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'").fetchall():
            columns = [row[1] for row in made.execute(f"PRAGMA table_info({table})") if not row[5]]
            for rowid, *cells in made.execute(f"SELECT rowid, {', '.join(columns)} FROM {table}").fetchall():
                for column, cell in zip(columns, cells, strict=True):
                    found = mutated_cell(cell, chance)
                    made.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (found, rowid))
        packed = made.serialize()
    return packed[: -chance.randrange(1, 400)] if chance.random() < 0.1 else packed


def mutated_cell(cell: Any, chance: random.Random) -> Any:
    try:
        text = cell.decode() if isinstance(cell, bytes) else cell
    except UnicodeDecodeError:
        return mutated_bytes(cell, chance)
    try:
        found = dumps(mutated(loads(text.encode()), chance)) if isinstance(text, str) else mutated(text, chance)
    except JsonProblem:
        found = mutated(text, chance)
    plain = found is None or isinstance(found, (str, float)) or (isinstance(found, int) and abs(found) < 2**60)
    return found if plain else dumps(found)


def mutated_bytes(cell: bytes, chance: random.Random) -> bytes:
    """Bytes that are no text: one of them another, now and then the end lost."""
    at = chance.randrange(len(cell))
    found = cell[:at] + bytes([chance.randrange(256)]) + cell[at + 1 :]
    return found[: chance.randrange(len(found))] if chance.random() < 0.3 else found


@pytest.mark.parametrize(("name", "path"), FILES, ids=[f"{name}/{path.name}" for name, path in FILES])
def test_a_format_survives_strange_values(name: str, path: Path) -> None:
    n_fixtures = sum(of == name for of, _ in FILES)
    n_seeds = -(-N_EVERY // n_fixtures) if EVERY else N_SEEDS
    n_left = sum(survived(name, path, random.Random(seed)) for seed in range(n_seeds))
    assert n_left, "every mutation lost every message"


@pytest.mark.parametrize("name", list(registry.plugins("formats")))
@settings(max_examples=15)
@given(chance=st.randoms(use_true_random=True), data=st.data())
def test_a_format_survives_whatever_hypothesis_finds(name: str, chance: random.Random, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for format_name, path in FILES if format_name == name]))
    survived(name, path, chance)


def survived(name: str, path: Path, chance: random.Random) -> int:
    """Parse a mutated file: no exception but a typed one, unique ids, every text found again.

    What is left: messages, or of a log without any its requests, compactions and errors.
    """
    source = Source(io.BytesIO(mutated_file(path, chance)), path.name)
    try:
        head = source.head()
        for other in registry.plugins("formats").values():
            other.sniff(head)
        parsed = registry.get("formats", name).read(source, measure)
    except UnreadableInput:
        return 0
    except Exception as error:
        error.add_note(
            "A value may be of any type: text_of, as_dict, as_list, count_of read it (CONTRIBUTING, step 3)."
        )
        raise
    for transcript in parsed.transcripts:
        assert len({message.id for message in transcript.messages}) == len(transcript.messages)
        for message in transcript.messages:
            again = measure(read_contents(source, name, message))
            assert again == message.blocks, f"message {message.id}: contents() finds other blocks than parse()"
    return sum(len(t.messages or (*t.requests, *t.compactions, *t.errors)) for t in parsed.transcripts)
