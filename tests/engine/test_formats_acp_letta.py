"""ACP logs and Letta's messages, on small files of our own."""

from __future__ import annotations

from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FIXTURES, read

ACP, LETTA = FIXTURES / "acp", FIXTURES / "letta"


def test_chunks_are_messages_and_calls_have_their_results() -> None:
    (session,) = read(ACP / "session.jsonl").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages[:4]] == [
        ("user", ["text"]),
        ("assistant", ["thinking", "text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    with (ACP / "session.jsonl").open("rb") as file:
        said = read_contents(file, "acp", session.messages[1])
        (result,) = read_contents(file, "acp", session.messages[2])
    assert [content.text for content in said] == ["Tall, so shears.", "I look at it.", '{"path":"hedge.md"}']
    assert (result.call_id, result.parts[0].text, session.window) == ("c1", "2 metres", 200_000)


def test_a_summary_may_come_in_chunks_and_an_id_counts_once() -> None:
    (session,) = read(ACP / "session.jsonl").transcripts
    assert [m.preview for m in session.messages if m.summary] == ["The hedge has 2 metres.", "A hedge of one metre."]
    typed = [m.typed for m in session.messages if m.role.value == "user"]
    assert typed == [True, False, False, True, True, False, True]
    assert all(request.usage is None for request in session.requests)


def test_updates_without_their_envelope() -> None:
    (session,) = read(ACP / "updates_alone.jsonl").transcripts
    assert [m.preview for m in session.messages] == ["Oil the gate.", "Oiled.", "And the lock?", "That too."]
    assert [request.message for request in session.requests] == [1, 3]


def test_a_step_of_lettas_is_one_reply() -> None:
    (session,) = read(LETTA / "messages.json").transcripts
    assert [b.kind for b in session.messages[2].blocks] == [Kind.THINKING, Kind.TOOL_USE]
    assert [request.message for request in session.requests] == [2, 4, 7, 10]
    assert session.messages[3].result_ids() == {"c1"}
    assert session.window == 100_000
    assert "After a compaction Letta counted 7,000 tokens, without tools" in session.warnings


def test_lettas_list_may_be_newest_first() -> None:
    (session,) = read(LETTA / "newest_first.jsonl").transcripts
    assert [m.preview for m in session.messages] == ["And today?", "Dry."]


def test_an_agent_file_says_what_is_in_the_context() -> None:
    (session,) = read(LETTA / "agents.json").transcripts
    assert [compaction.preserved for compaction in session.compactions] == [(0,), (0, 7, 8)]
    assert [message.index for message in session.messages if message.summary] == [5, 9]
    assert [message.index for message in session.messages if message.typed] == [1, 10]
    assert [request.message for request in session.requests] == [2, 4, 7, 11]
    assert session.messages[3].result_ids() == session.messages[2].call_ids() == {"c1"}
    assert (session.window, session.model, session.title) == (32_000, "lab-model-5", "miller")
    assert [block.name for block in session.system] == ["archival_memory_search"]
    with (LETTA / "agents.json").open("rb") as file:
        (result,) = read_contents(file, "letta", session.messages[3])
    assert result.text == "Twelve sacks."


def test_an_older_agent_file_numbers_what_is_in_the_context() -> None:
    (session,) = read(LETTA / "agent_without_summary.json").transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.preserved, compaction.message) == (4, (0,), None)
