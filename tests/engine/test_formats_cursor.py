"""Cursor's transcripts: every shared sample against its truth; pairs, requests and refusals on our own fixtures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Role
from tests.engine.truth_facts import FIXTURES, facts, fixture, n_of, parsed, place, sample_names

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

NAMES = sample_names("cursor", ".jsonl")
KINDS = {"text": Kind.TEXT, "thinking": Kind.THINKING, "tool_use": Kind.TOOL_USE, "tool_result": Kind.TOOL_RESULT}


def pairs(session: Transcript) -> list[tuple[str, str]]:
    """Names of calls with the preview of the message that answers each."""
    answers = {b.call_id: m.preview for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT}
    calls = [b for m in session.messages for b in m.blocks if b.kind is Kind.TOOL_USE]
    return [(call.name, answers[call.call_id]) for call in calls if call.call_id in answers]


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_equals_its_truth(name: str) -> None:
    said, whole = facts(name), parsed(name)
    (session,) = whole.transcripts
    assert (whole.format, whole.skipped) == ("cursor", ())
    roles = said["messages_by_role"]
    assert sum(m.role is Role.USER for m in session.messages) == roles["user"]
    assert sum(m.role is Role.ASSISTANT for m in session.messages) == roles["assistant"]
    for kind, blocks in (("text", KINDS["text"]), ("thinking", KINDS["thinking"])):
        assert n_of(session, blocks) == sum(n for key, n in said["blocks"].items() if key.endswith(f"/{kind}"))
    assert n_of(session, Kind.TOOL_USE) == said["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == said["tool_results"] == len(pairs(session))
    assert all(request.usage is None for request in session.requests)
    assert (session.n_images, len(session.compactions)) == (said["images"], said["compactions"])
    n_open = said["tool_calls"] - said["tool_results"]
    told = f"Tool calls whose result is not recorded: {n_open} of {said['tool_calls']}"
    assert (told in session.warnings) is (n_open > 0)


@pytest.mark.samples
def test_a_database_without_messages_is_refused() -> None:
    with place("cursor/as-store.db").open("rb") as file, pytest.raises(UnreadableInput):
        read_transcripts(file, "store.db")


def test_results_answer_the_newest_calls_in_order() -> None:
    (session,) = fixture("cursor/fence.jsonl").transcripts
    assert pairs(session) == [("Read", "Two coats. · brush"), ("Shell", "Two coats. · brush")]
    first, second = session.messages[2].blocks
    assert [b.call_id for b in session.messages[1].blocks if b.call_id] == [first.call_id, second.call_id]
    assert (first.is_error, second.is_error) == (False, True)
    assert "Tool calls whose result is not recorded: 2 of 4" in session.warnings
    assert session.n_images == 1


def test_a_reply_after_calls_is_a_request_of_its_own() -> None:
    (session,) = fixture("cursor/fence.jsonl").transcripts
    replies = [session.messages[r.message].preview for r in session.requests if r.message is not None]
    assert [reply.split(" · ")[0] for reply in replies] == [
        "Look first.",
        "The first coat.",
        "The second coat.",
        "Nearly.",
        "Green.",
    ]
    assert session.requests[3].n_messages == 2


def test_titles_prompts_and_refusals() -> None:
    whole = fixture("cursor/fence.jsonl")
    (session,) = whole.transcripts
    assert session.title == "Paint the fence"
    assert sum(m.typed for m in session.messages) == 3
    (error,) = session.errors
    assert (error.tokens, error.limit, error.request) == (205000, 200000, 4)
    assert whole.warnings == ("Ends of turns: 3, not messages",)


def test_a_sub_agents_file_is_found_by_its_folder_and_prompt() -> None:
    data = (FIXTURES / "cursor" / "subagent.jsonl").read_bytes()
    (child,) = read_transcripts(io.BytesIO(data), "agent-transcripts/fence/subagents/child.jsonl").kin
    (parent,) = fixture("cursor/fence.jsonl").kin
    (spawn,) = parent.spawns
    assert (child.session, child.home, child.prompt) == ("child", "fence", spawn.prompt)
    assert (parent.session, parent.home) == ("fence", "")


@pytest.mark.parametrize("key", ["uuid", "sessionId", "type"])
def test_lines_of_others_are_not_cursors(key: str) -> None:
    line = b'{"role": "user", "%s": "x", "message": {"content": "Hi"}}' % key.encode()
    with pytest.raises(UnreadableInput):
        read_transcripts(io.BytesIO(line * 2), "x.jsonl")
