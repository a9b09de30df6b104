"""The goose format, on small files of our own."""

from __future__ import annotations

from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Parsed

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "goose"


def read(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def test_hidden_messages_and_a_summary_are_a_compaction() -> None:
    parsed = read("export.json")
    (session,) = parsed.transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.preserved, compaction.request) == (4, 4, (), 2)
    assert [m.compaction for m in session.messages] == [None] * 4 + [0, 0] + [None] * 5
    assert [m.typed for m in session.messages] == [True] + [False] * 5 + [True] + [False] * 4
    assert parsed.warnings == ("Messages that only the user saw (notifications): 1",)


def test_runs_of_replies_are_requests_and_totals_are_no_usage() -> None:
    session = read("export.json").transcripts[0]
    assert [(r.message, r.usage) for r in session.requests] == [(1, None), (3, None), (7, None), (10, None)]
    assert [r.n_messages for r in session.requests] == [1, 1, 2, 1]
    assert session.warnings[0] == "The file reports a total of the session only (4,000 tokens): no usage of calls"
    assert (session.id, session.title, session.model) == ("20260301_1", "Run a file", "claude-sonnet-4-5")


def test_what_is_for_the_user_alone_is_not_sent() -> None:
    session = read("export.json").transcripts[0]
    with (FIXTURES / "export.json").open("rb") as file:
        (result,) = read_contents(file, "goose", session.messages[2])
    assert (result.text, result.call_id, result.is_error) == ("a.py", "c1", False)


def test_failed_calls_and_results_images_and_unknown_items() -> None:
    session = read("export.json").transcripts[0]
    denied, shot = session.messages[9].blocks
    assert (denied.is_error, denied.n_chars, shot.parts[0].kind) == (True, 6, Kind.IMAGE)
    assert session.n_images == 2
    assert [b.kind for b in session.messages[10].blocks] == [Kind.TEXT, Kind.OPAQUE]
    assert session.messages[8].blocks[0].call_id == "c3"


def test_the_older_lines_with_metadata_first() -> None:
    (session,) = read("legacy.jsonl").transcripts
    assert [m.id for m in session.messages] == ["L2", "L3", "L4"]
    assert (session.title, session.n_tool_calls, len(session.requests)) == ("Say hello", 1, 1)
