"""The langchain format, on small dumps of our own: no shared sample holds one."""

from __future__ import annotations

import pytest

from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FIXTURES, read

LANGCHAIN = FIXTURES / "langchain"


def test_messages_to_dict() -> None:
    (session,) = read(LANGCHAIN / "messages_to_dict.json").transcripts
    assert [str(message.role) for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]
    assert [[str(block.kind) for block in message.blocks] for message in session.messages] == [
        ["text"],
        ["text", "image"],
        ["text", "tool_use", "tool_use"],
        ["tool_result"],
        ["tool_result"],
        ["text"],
    ]
    assert [message.id for message in session.messages[1:4]] == ["h1", "run-1", "t1"]
    assert [block.is_error for message in session.messages[3:5] for block in message.blocks] == [False, True]
    first, second = session.requests
    assert first.usage
    assert second.usage
    assert (first.usage.input, first.usage.cache_read, first.usage.cache_write) == (150, 300, 50)
    assert (first.usage.output, first.usage.reasoning) == (20, 12)
    assert (first.usage.context, first.response_id, first.model) == (500, "msg_1", "claude-sonnet-4-5")
    assert (second.usage.input, second.usage.cache_read, second.usage.output) == (50, 40, 5)


def test_serialised_constructors() -> None:
    parsed = read(LANGCHAIN / "dumpd.json")
    (session,) = parsed.transcripts
    assert [str(message.role) for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "assistant",
    ]
    assert session.messages[2].blocks[0].call_id == session.messages[3].blocks[0].call_id == "q1"
    assert [block.kind for block in session.messages[4].blocks] == [Kind.THINKING, Kind.TEXT]
    assert [r.message for r in session.requests] == [2, 4], "replies without ids are one request per run"
    assert session.requests[0].usage
    assert (session.requests[0].usage.input, session.requests[0].usage.cache_read) == (10, 90)
    assert [skipped.reason for skipped in parsed.skipped] == ["an entry that is no message"]


@pytest.mark.parametrize(
    ("name", "n_messages", "n_requests"),
    [("states.jsonl", [2, 2], [1, 1]), ("lines.jsonl", [5], [2]), ("lists.json", [2, 1], [1, 0])],
)
def test_states_lines_and_lists(name: str, n_messages: list[int], n_requests: list[int]) -> None:
    parsed = read(LANGCHAIN / name)
    assert [len(transcript.messages) for transcript in parsed.transcripts] == n_messages
    assert [len(transcript.requests) for transcript in parsed.transcripts] == n_requests
    with (LANGCHAIN / name).open("rb") as file:
        for transcript in parsed.transcripts:
            assert all(read_contents(file, "langchain", message) for message in transcript.messages)


def test_the_checkpoints_of_a_thread_are_one_session() -> None:
    """Newest first, one of them on a branch that was left; a thread of one checkpoint is a session of its own."""
    mill, other = read(LANGCHAIN / "thread_history.json").transcripts
    assert [message.id for message in mill.messages] == ["h1", "a1", "t1", "a2", "h2", "a3", "s1", "h3", "a4", "h4"]
    assert [compaction.preserved for compaction in mill.compactions] == [(5,), (7, 8)]
    assert [request.message for request in mill.requests] == [1, 3, 5, 8]
    assert (mill.id, [message.id for message in other.messages]) == ("mill", ["q1"])
    with (LANGCHAIN / "thread_history.json").open("rb") as file:
        (said,) = read_contents(file, "langchain", mill.messages[6])
    assert said.text.endswith("Sacks and barrels were weighed.")
