"""VS Code chats and Hugging Face's session traces on our own files: no shared sample holds either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.truth_facts import fixture

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript


def shape(session: Transcript) -> str:
    """Roles and kinds of blocks, in order."""
    return " | ".join(f"{m.role}: {', '.join(str(b.kind) for b in m.blocks)}" for m in session.messages)


@pytest.mark.parametrize(("name", "said"), [("session.json", "green"), ("log.jsonl", "blue")])
def test_rounds_are_requests_with_their_results_and_a_log_is_the_chat_it_leads_to(name: str, said: str) -> None:
    (session,) = fixture(f"vscode_chat/{name}").transcripts
    assert shape(session).removesuffix(" | user: text") == (
        "user: text | assistant: thinking, text, tool_use, tool_use | user: tool_result | user: tool_result"
        " | user: text | assistant: text | user: text | assistant: thinking, text"
    )
    assert [request.message for request in session.requests] == [1, 5, 7]
    assert session.messages[7].preview.endswith(f"Now it is {said}.")
    assert session.messages[3].preview == "two posts", "the text of a tree"
    assert session.model == "claude-sonnet-4.6"
    assert session.warnings == ("Attached files and selections: 1, whose text is not in the file",)


def test_a_summary_stands_behind_the_round_it_names() -> None:
    (session,) = fixture("vscode_chat/session.json").transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.trigger, compaction.tokens_before) == (4, 4, None, None)
    assert session.messages[4].summary
    (error,) = session.errors
    assert (error.tokens, error.limit, error.request) == (130000, 128000, 3)


def test_requests_that_a_log_takes_back_are_no_messages() -> None:
    (session,) = fixture("vscode_chat/log.jsonl").transcripts
    assert session.title == "Logged fence"
    assert [m.preview for m in session.messages if m.typed] == ["Paint the fence", "And now?"]
    assert not session.errors


def test_a_session_trace_names_its_harness() -> None:
    (session,) = fixture("hf_traces/session.jsonl").transcripts
    assert shape(session) == (
        "system: text | user: text | assistant: thinking, tool_use | user: tool_result | assistant: text"
    )
    assert (session.id, session.title, session.client, session.model) == (
        *("g1", "What time is it", "garden-agent", "tiny-1"),
    )
    assert session.messages[3].result_ids() == session.messages[2].call_ids() == {"t1"}


def test_rows_of_a_trace_data_set_are_sessions() -> None:
    sessions = fixture("hf_traces/rows.jsonl").transcripts
    assert [(t.id, t.client, t.n_tool_calls) for t in sessions] == [("s1", "codex", 0), ("s2", "pi", 1)]
