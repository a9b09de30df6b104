"""Antigravity: the shared sample against its truth; results in order, checkpoints and refusals on our own fixture."""

from __future__ import annotations

import io

import pytest

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role
from tests.engine.truth_facts import FIXTURES, facts, fixture, n_of, parsed, sample_names

NAMES = sample_names("antigravity", ".jsonl")
FILE = FIXTURES / "antigravity" / "transcript.jsonl"


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_equals_its_truth(name: str) -> None:
    said, whole = facts(name), parsed(name)
    (session,) = whole.transcripts
    kinds = said["by_type"]
    assert (whole.format, whole.skipped) == ("antigravity", ())
    assert whole.warnings == ("Steps of type CONVERSATION_HISTORY: 1, not messages",)
    assert len(session.messages) == said["lines"] - kinds["CONVERSATION_HISTORY"]
    assert sum(m.role is Role.ASSISTANT for m in session.messages) == len(session.requests) == kinds["PLANNER_RESPONSE"]
    assert sum(m.typed for m in session.messages) == kinds["USER_INPUT"]
    assert sum(m.meta for m in session.messages) == kinds["SYSTEM_MESSAGE"]
    others = ("PLANNER_RESPONSE", "USER_INPUT", "SYSTEM_MESSAGE", "CONVERSATION_HISTORY", "CHECKPOINT")
    assert n_of(session, Kind.TOOL_RESULT) == said["lines"] - sum(kinds[kind] for kind in others)
    assert n_of(session, Kind.TOOL_USE) == said["tool_calls"]
    assert len(session.compactions) == said["compactions"] == kinds["CHECKPOINT"]
    assert [m.origins[0].line for m in session.messages if m.summary] == said["checkpoints"]
    told = f"Steps whose text was cut when it was recorded: {said['truncated_content']}; sizes are at least"
    assert told in session.warnings
    assert all(request.usage is None for request in session.requests)
    assert session.n_images == said["images"]
    assert (session.title, session.model) == ("List the files.", "Gemini 3.5 Flash (Medium)")


def test_results_follow_their_calls_in_order() -> None:
    (session,) = fixture("antigravity/transcript.jsonl").transcripts
    calls = [b for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_USE]
    results = [b for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT]
    assert [call.target for call in calls] == ["fence.md", "ls"]
    assert [result.call_id for result in results] == [calls[0].call_id, calls[1].call_id, ""]
    assert [result.is_error for result in results] == [False, True, False]
    assert "Results whose call is not recorded: 1" in session.warnings
    with FILE.open("rb") as file:
        thought, first, _ = read_contents(file, "antigravity", session.messages[1])
    assert (thought.kind, first.text) == (Kind.THINKING, '{"path":"fence.md","lines":3}')


def test_a_checkpoint_is_a_compaction_and_a_refusal_an_event() -> None:
    (session,) = fixture("antigravity/transcript.jsonl").transcripts
    (compaction,) = session.compactions
    assert (compaction.request, compaction.preserved, compaction.trigger, compaction.tokens_before) == (
        2,
        (),
        None,
        None,
    )
    assert compaction.message == compaction.boundary == 6
    (error,) = session.errors
    assert (error.tokens, error.limit, error.request) == (1050000, 1048576, 2)
    assert [m.preview for m in session.messages if m.meta] == ["<SYSTEM_MESSAGE>It rains.</SYSTEM_MESSAGE>"]
    assert session.model == "Gemini 3.5 Pro (High)"


@pytest.mark.parametrize(
    ("name", "session"),
    [("brain/ab-1/.system_generated/logs/transcript.jsonl", "ab-1"), ("transcript.jsonl", "transcript")],
)
def test_a_session_is_called_as_its_folder(name: str, session: str) -> None:
    assert read_transcripts(io.BytesIO(FILE.read_bytes()), name).transcripts[0].id == session
