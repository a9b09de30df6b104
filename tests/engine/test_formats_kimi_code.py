"""The Kimi Code format, on small files of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "kimi_code"


def session(name: str) -> Transcript:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts[0]


def test_a_step_is_one_message_of_several_lines() -> None:
    reply = session("wire.jsonl").messages[1]
    assert [b.kind for b in reply.blocks] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_USE]
    assert [origin.line for origin in reply.origins] == [10, 11, 12, 13]


def test_usage_that_stands_twice_counts_once() -> None:
    found = [(r.message, r.usage.context, r.usage.output) for r in session("wire.jsonl").requests if r.usage]
    assert found == [(1, 1500, 20), (5, 1700, 8), (7, 1800, 6), (None, 1900, 4), (None, 2300, 50), (10, 1250, 3)]
    assert [r.on_branch for r in session("wire.jsonl").requests] == [True, True, True, False, False, True]


def test_a_compaction_keeps_prompts_and_is_measured_by_the_calls_around_it() -> None:
    (compaction,) = session("wire.jsonl").compactions
    assert (compaction.trigger, compaction.preserved, compaction.message) == ("manual", (0, 6), 8)
    assert (compaction.tokens_before, compaction.tokens_after) == (1806, 1250)


def test_what_was_undone_is_off_the_branch() -> None:
    found = session("wire.jsonl")
    assert "Forget it" not in [message.preview for message in found.messages]
    assert "Messages undone: 2; their requests are counted" in found.warnings


def test_a_refusal_for_size_is_an_event() -> None:
    (error,) = session("wire.jsonl").errors
    assert (error.kind, error.request, error.limit) == ("context", 5, 262_144)


def test_a_failed_result_has_the_note_for_the_model() -> None:
    found = session("wire.jsonl")
    with (FIXTURES / "wire.jsonl").open("rb") as file:
        (result,) = read_contents(file, "kimi_code", found.messages[3])
    assert (result.is_error, result.call_id) == (True, "Bash_1")
    assert [part.text for part in result.parts] == ["no such folder", "<system>Exit code 2</system>"]


def test_an_older_compaction_keeps_the_newest_messages_and_a_clear_keeps_none() -> None:
    first, second = session("legacy.jsonl").compactions
    assert (first.preserved, first.trigger, first.tokens_before) == ((1, 2), None, None)
    assert (second.preserved, second.trigger, second.message, second.boundary) == ((), "manual", None, 5)


def test_a_session_is_named_by_its_folder() -> None:
    data = (FIXTURES / "wire.jsonl").read_bytes()
    read = [
        read_transcripts(io.BytesIO(data), f"sessions/d/s1/agents/{agent}/wire.jsonl").transcripts[0].id
        for agent in ("main", "agent-0")
    ]
    assert read == ["s1", "s1.agent-0"]
