"""Factory Droid: every shared sample against its truth; branches, answers and refusals on our own fixtures."""

from __future__ import annotations

import io

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Role
from tests.engine.truth_facts import FIXTURES, facts, fixture, n_of, parsed, sample_names

NAMES = sample_names("factory-droid", ".jsonl")


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_equals_its_truth(name: str) -> None:
    said, whole = facts(name), parsed(name)
    (session,) = whole.transcripts
    assert (whole.format, whole.skipped, whole.warnings) == ("factory_droid", (), ())
    assert n_of(session, Kind.TOOL_USE) == said["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == said["tool_results"]
    assert all(request.usage is None for request in session.requests)
    assert (session.n_images, len(session.compactions)) == (said["images"], said["compactions"])
    roles = said["messages_by_role"]
    if said["kind"] == "session store":
        assert sum(m.role is Role.USER for m in session.messages) == roles["user"]
        assert sum(m.role is Role.ASSISTANT for m in session.messages) == roles["assistant"]
        texts = sum(n for key, n in said["blocks"].items() if key.endswith("/text"))
        assert n_of(session, Kind.TEXT) == texts
        assert (session.title, session.client) == (said["title"], said["version"])
    else:
        kinds = said["lines_by_type"]
        assert len(session.messages) == sum(kinds.values()) - kinds.get("system", 0)
        assert session.messages[-1].preview == said["final_text"]
        assert session.model == (said["model"] or "")
        texts = [m for m in session.messages if m.blocks[0].kind is Kind.TEXT and m is not session.messages[-1]]
        assert len(texts) == sum(roles.values())


def test_a_store_is_read_on_the_branch_of_its_last_message() -> None:
    (session,) = fixture("factory_droid/store.jsonl").transcripts
    assert [m.id for m in session.messages] == ["m1", "m3", "m4", "m5", "m6", "m7"]
    assert [r.on_branch for r in session.requests] == [False, True, True]
    assert session.requests[2].n_messages == 2, "replies with no call between are one request"
    assert (session.id, session.title, session.client) == ("fence-9", "Paint the fence", "0.81.0")
    assert session.n_images == 1
    assert [b.is_error for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT] == [True]


def test_what_may_be_a_compaction_is_said_and_not_guessed() -> None:
    whole = fixture("factory_droid/store.jsonl")
    (session,) = whole.transcripts
    assert session.compactions == ()
    assert any(
        "'compaction_state', which may record compactions and are not understood: 1" in w for w in session.warnings
    )
    assert "1 record of type 'todo_state' was not read" in whole.warnings


def test_an_answer_that_only_the_completion_has_is_a_reply() -> None:
    (session,) = fixture("factory_droid/stream.jsonl").transcripts
    assert [m.preview for m in session.messages if m.role is Role.ASSISTANT][-1] == "It is painted."
    assert [r.n_messages for r in session.requests] == [2, 1]
    assert session.model == "glm-4.6"
    (error,) = session.errors
    assert (error.request, error.tokens, error.limit) == (1, 205000, 200000)


def test_an_answer_that_the_completion_repeats_is_counted_once() -> None:
    (session,) = fixture("factory_droid/stream_answered.jsonl").transcripts
    assert [m.preview for m in session.messages] == ["Name the cat", "Mimi"]


def test_a_store_without_its_header_is_no_session_of_pi() -> None:
    lines = (FIXTURES / "factory_droid" / "store.jsonl").read_bytes().splitlines(keepends=True)
    assert read_transcripts(io.BytesIO(b"".join(lines[1:])), "cut.jsonl").format == "factory_droid"
