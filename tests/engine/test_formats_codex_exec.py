"""Events of ``codex exec --json``, on small files of our own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "codex_exec"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def test_calls_stand_where_they_began_and_results_where_they_ended() -> None:
    (found,) = parsed("turns.jsonl").transcripts
    kinds = [block.kind for message in found.messages for block in message.blocks]
    assert kinds[:6] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_USE, Kind.TOOL_RESULT, Kind.TOOL_RESULT]
    assert [(b.call_id, b.name) for m in found.messages[2:4] for b in m.blocks] == [
        ("item_2", "command_execution"),
        ("item_3", "command_execution"),
    ]
    with (FIXTURES / "turns.jsonl").open("rb") as file:
        (failed,), (done,) = (read_contents(file, "codex_exec", found.messages[n]) for n in (4, 5))
    assert (failed.call_id, failed.text, failed.is_error) == ("item_3", "no such file", True)
    assert (done.call_id, done.text, done.is_error) == ("item_2", "roses", False)
    assert found.id == "0199-aa"


def test_a_run_of_items_is_one_request_and_a_plan_is_told_once() -> None:
    (found,) = parsed("turns.jsonl").transcripts
    assert [r.message for r in found.requests] == [0, 6, 9, 10, 11, 13]
    names = [b.name for m in found.messages for b in m.blocks if b.kind is Kind.TOOL_USE]
    assert names == ["command_execution"] * 2 + ["todo_list", "file_change", "forecast", "web_search"]


def test_usage_is_the_threads_sum_so_that_a_turn_has_the_difference() -> None:
    (found,) = parsed("turns.jsonl").transcripts
    assert [r.usage for r in found.requests] == [None, None, None, Usage(100, 1000, 0, 8, reasoning=2), None, None]
    assert "A turn reports only its total: 3,000 input and 90 output tokens over 3 requests" in found.warnings
    (one,) = parsed("one_reply.jsonl").transcripts
    assert [r.usage for r in one.requests] == [Usage(17613, 4992, 0, 40, reasoning=33)]


def test_a_turn_that_failed_for_size_is_a_refusal() -> None:
    (found,) = parsed("turns.jsonl").transcripts
    assert [error.request for error in found.errors] == [6]


def test_what_the_runner_wrote_is_told_and_nothing_else_is_left_out() -> None:
    assert [skipped.line for skipped in parsed("turns.jsonl").skipped] == [1]
    assert all(m.role is not Role.SYSTEM for t in parsed("turns.jsonl").transcripts for m in t.messages)
