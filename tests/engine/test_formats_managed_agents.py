"""Claude managed-agent sessions, on small files of our own."""

from __future__ import annotations

from pathlib import Path

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "managed_agents"


def sessions(name: str) -> tuple[Transcript, ...]:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts


def test_usage_is_that_of_the_request_before_or_after_its_events() -> None:
    found = sessions("events.jsonl")[0]
    assert [(r.message, r.usage and r.usage.context, r.usage and r.usage.output) for r in found.requests] == [
        (1, 1000, 20),
        (4, 300, 7),
    ]
    assert "Model requests that failed: 1; not counted as requests" in found.warnings


def test_the_events_of_a_reply_are_one_message_and_queued_ones_count_once() -> None:
    found = sessions("events.jsonl")[0]
    assert [m.role for m in found.messages] == [Role.USER, Role.ASSISTANT, Role.USER, Role.USER, Role.ASSISTANT]
    assert [b.kind for b in found.messages[1].blocks] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_USE]
    assert [m.typed for m in found.messages] == [True, False, False, False, False]
    assert (found.n_images, found.title) == (1, "How many plums?")


def test_results_name_their_calls() -> None:
    found = sessions("page.json")[0]
    with (FIXTURES / "page.json").open("rb") as file:
        (done,), (failed,) = (read_contents(file, "managed_agents", found.messages[n]) for n in (2, 3))
    assert (done.text, done.call_id, done.is_error) == ("p1 p2", "c1", False)
    assert (failed.call_id, failed.is_error) == ("c2", True)


def test_a_compaction_and_a_refusal_are_events() -> None:
    found = sessions("events.jsonl")[0]
    (compaction,) = found.compactions
    assert (compaction.boundary, compaction.request, compaction.message, compaction.trigger) == (4, 1, None, None)
    assert (compaction.tokens_before, compaction.tokens_after) == (1020, 300)
    (error,) = found.errors
    assert (error.tokens, error.limit, error.request) == (205_148, 200_000, 1)
    assert "What the compactions wrote and kept is not recorded: 1" in found.warnings


def test_a_thread_of_another_agent_is_a_session_of_its_own() -> None:
    assert [session.id for session in sessions("events.jsonl")] == ["events", "events.sthr_2"]


def test_events_beside_a_runners_fields_and_in_a_clients_calls_are_read_alike() -> None:
    """Eight events: one prompt, one reply of 500 tokens with a call, its result; what the client sent is told again."""
    for name in ("runner.jsonl", "client_calls.jsonl"):
        (found,) = sessions(name)
        assert [m.role for m in found.messages] == [Role.USER, Role.ASSISTANT, Role.USER]
        assert [b.kind for b in found.messages[1].blocks] == [Kind.TEXT, Kind.TOOL_USE]
        assert found.messages[2].result_ids() == {"e5"}
        assert [(r.usage and r.usage.context, r.usage and r.usage.output) for r in found.requests] == [(500, 12)]


def test_the_session_that_a_client_made_names_model_system_prompt_and_tools() -> None:
    (found,) = sessions("client_calls.jsonl")
    assert (found.id, found.model) == ("sesn_1", "claude-opus-4-8")
    assert [block.name for block in found.system] == ["", "weigh"]
    assert found.gaps == (), "what the client sent is told again by the stream"
