"""Conversations of Amazon Q and Kiro CLI, on small files of our own."""

from __future__ import annotations

from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FIXTURES, read

AMAZON_Q = FIXTURES / "amazon_q"


def test_an_entry_of_amazon_q_is_a_call_and_the_summary_stands_behind_what_was_kept() -> None:
    (session,) = read(AMAZON_Q / "compacted.json").transcripts
    assert [request.message for request in session.requests] == [1, 3, 6, 8]
    assert [request.model for request in session.requests][2:] == ["claude-sonnet-4.5", "claude-haiku-4.5"]
    assert session.messages[1].call_ids() == session.messages[2].result_ids() == {"tooluse_1"}
    assert session.messages[7].blocks[0].is_error
    assert [m.typed for m in session.messages if m.role.value == "user"] == [True, False, False, True, True]
    assert (session.window, session.project, len(session.system)) == (200_000, "/home/ada/fence", 1)
    assert session.warnings == ("Amazon Q's own count of the last call: 61,400 of 200k tokens",)
    assert [(str(event.kind), event.request) for event in session.events] == [("interruption", 3), ("error", 4)]
    assert "monthly usage limit" in session.events[1].words
    with (AMAZON_Q / "compacted.json").open("rb") as file:
        _, picture = read_contents(file, "amazon_q", session.messages[5])
        (result,) = read_contents(file, "amazon_q", session.messages[2])
    assert (picture.kind, picture.media_type, picture.data) == (Kind.IMAGE, "image/png", "iVBORw0KGgo=")
    assert [part.text for part in result.parts] == ["The gate is 2 metres wide.", '{"lines":1}']


def test_older_conversations_of_amazon_q_are_pairs_and_may_wait_for_an_answer() -> None:
    (session,) = read(AMAZON_Q / "pairs.json").transcripts
    assert [m.preview for m in session.messages] == [
        *("Read the hedge's notes.", "fs_read: hedge.md", "No such file", "There are none.", "And the gate's?"),
    ]
    assert (session.model, session.compactions) == ("claude-3.7-sonnet", ())
    assert [str(event.kind) for event in session.events] == ["compaction started", "interruption"]


def test_a_conversation_in_both_tables_of_amazon_q_is_one_session() -> None:
    parsed = read(AMAZON_Q / "data.db")
    assert [session.id for session in parsed.transcripts] == ["d-1", "d-2"]
    assert [skipped.reason for skipped in parsed.skipped] == ["a row of conversations that is no conversation"]
