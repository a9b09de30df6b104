"""Entire's condensed transcripts, on a small file of our own."""

from __future__ import annotations

from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role

FILE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "entire" / "transcript.jsonl"


def test_a_call_and_its_result_are_two_messages_and_nothing_is_measured() -> None:
    with FILE.open("rb") as file:
        (found,) = read_transcripts(file, FILE.name).transcripts
        done, failed = read_contents(file, "entire", found.messages[2])
    assert [m.role for m in found.messages] == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER]
    assert [b.kind for b in found.messages[1].blocks] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_USE]
    assert [(c.text, c.call_id, c.is_error) for c in (done, failed)] == [
        ("oak", "t1", False),
        ("no such file", "t2", True),
    ]
    assert [(r.message, r.usage) for r in found.requests] == [(1, None), (3, None)]
    assert [m.typed for m in found.messages] == [True, False, False, False, True]
    assert found.gaps == (), "its token counts are known, and no context"
