"""A transcript that stands under a key of another file, or as its one list, is read as a file of its own would be."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from sessions.engine.reading.reading import read_contents, read_transcripts
from tests.engine.test_formats_contract import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed

OF_AGENTS = ("acp", "claude_code", "cline", "codex", "dsh", "gemini_cli", "goose", "opencode", "openhands", "pi")
FILES = [(name, path) for name, path in TEXTS if name in OF_AGENTS]


def value_of(data: bytes) -> Any:
    try:
        return loads(data)
    except JsonProblem:
        return [loads(line) for line in data.splitlines() if line.strip()]


def said(parsed: Parsed, data: bytes) -> list[tuple[str, tuple[str, ...], int | None]]:
    """Each message's role, its texts as they are found again, and the tokens of its usage."""
    return [
        (m.role.value, tuple(c.text for c in read_contents(BytesIO(data), t.format, m)), usage)
        for t in parsed.transcripts
        for m, usage in zip(t.messages, _usages(t), strict=True)
    ]


def _usages(transcript: Any) -> list[int | None]:
    found = {r.message: r.usage.context for r in transcript.requests if r.usage}
    return [found.get(m.index) for m in transcript.messages]


def readable(path: Path) -> tuple[bytes, Any] | None:
    data = path.read_bytes()
    try:
        return data, value_of(data)
    except JsonProblem:
        return None


@pytest.mark.parametrize(("name", "path"), FILES, ids=[f"{name}/{path.name}" for name, path in FILES])
def test_what_stands_under_a_key_is_read_as_its_file(name: str, path: Path) -> None:
    found = readable(path)
    if found is None:
        pytest.skip("a file with broken lines")
    data, value = found
    held = dumps({"note": "of a run", "log": value}).encode()
    own, inner = read_transcripts(BytesIO(data), path.name), read_transcripts(BytesIO(held), "run.json")
    assert (inner.format, said(inner, held)) == (own.format, said(own, data))
    assert "under 'log'" in inner.reason
    again = read_transcripts(BytesIO(held), "run.json", format=name)
    assert said(again, held) == said(inner, held)


def test_of_two_transcripts_in_one_file_none_is_taken() -> None:
    value = value_of(next(path for name, path in FILES if name == "goose").read_bytes())
    with pytest.raises(UnreadableInput, match="inside another file"):
        read_transcripts(BytesIO(dumps({"first": value, "second": value}).encode()))
    with pytest.raises(UnreadableInput, match="inside another file"):
        read_transcripts(BytesIO(dumps([value, value]).encode()))


@pytest.mark.parametrize("name", ["acp", "claude_code", "codex", "dsh", "pi"])
def test_records_that_a_runner_wrapped_line_by_line_are_read(name: str) -> None:
    path = next(path for own, path in FILES if own == name and path.suffix == ".jsonl" and readable(path))
    data, value = readable(path) or (b"", [])
    held = b"".join(dumps({"at": n, "event": one}).encode() + b"\n" for n, one in enumerate(value)) + b"{cut\n"
    own, inner = read_transcripts(BytesIO(data), path.name), read_transcripts(BytesIO(held), "run.jsonl")
    assert (inner.format, said(inner, held)) == (own.format, said(own, data))
    assert [one.line for one in inner.skipped][:1] == [len(value) + 1]
