"""Agents that keep their sessions in a database: Crush, Cursor, Hermes, on our own files and the shared samples."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats.cursor_db import context_of, wires
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript, Usage
from tests.engine.truth_facts import FIXTURES, fact, facts, fixture, n_of, one_session, parsed, place, sample_names

if TYPE_CHECKING:
    from pathlib import Path


def said(session: Transcript) -> list[str]:
    return [message.preview for message in session.messages]


def test_a_summary_of_crush_is_where_the_context_starts() -> None:
    session, helper = fixture("crush/crush.db").transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.request, compaction.trigger) == (4, 4, 2, None)
    assert (session.messages[4].role, session.messages[4].summary) == (Role.USER, True)
    (error,) = session.errors
    assert (error.tokens, error.limit, error.request) == (213462, 200000, 2)
    assert [request.message for request in session.requests] == [1, 3, 6]
    assert all(request.usage is None for request in session.requests), "a session's counts are no call's"
    assert session.warnings == ("Crush's own count of the last call: 4,100 tokens sent, 60 received",)
    assert (helper.parent_id, helper.model) == ("s1", "claude-haiku-4-5")


def test_rows_of_goose_are_messages_as_its_export_has_them() -> None:
    found = fixture("goose/sessions.db")
    (session,) = found.transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert (session.id, session.title, session.model, session.window) == ("g1", "Paint the fence", "small", 32_768)
    assert session.project == "/home/dev/fence"
    assert session.warnings == (
        "The file reports a total of the session only (9,000 tokens): no usage of calls",
        "goose's own count of the last call: 4,000 tokens sent, 100 received, 4,100 in all",
    )
    assert found.warnings == ("Messages that only the user saw (notifications): 1",)
    with (FIXTURES / "goose/sessions.db").open("rb") as file:
        assert [c.name for c in read_contents(file, "goose", session.messages[1])] == ["", "developer__shell"]


def test_parts_of_crush_are_blocks() -> None:
    session = fixture("crush/crush.db").transcripts[0]
    assert [str(b.kind) for b in session.messages[0].blocks] == ["text", "image", "text"]
    assert session.messages[1].blocks[0].n_payload == 4
    assert session.messages[1].blocks[2].target == "fence.md"
    assert session.messages[2].result_ids() == session.messages[1].call_ids() == {"c1"}
    assert "exit code 0" in said(session)[5]


def test_the_ledger_of_goose_has_the_usage_of_each_reply(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes((FIXTURES / "goose/sessions.db").read_bytes())
    with closing(sqlite3.connect(path)) as database:
        ident, at = database.execute(
            "SELECT session_id, created_timestamp FROM messages WHERE role = 'assistant' ORDER BY created_timestamp"
        ).fetchone()
        names = "session_id, created_timestamp, model, input_tokens, output_tokens, cache_read_tokens, is_compaction"
        database.execute(f"CREATE TABLE usage_ledger ({names}, cache_write_tokens)")
        rows = [(ident, at, "lab-9", 5_000, 40, 4_000, 0), (ident, at, "lab-9", 9_000, 900, 0, 1)]
        database.executemany(f"INSERT INTO usage_ledger ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.commit()
    with path.open("rb") as file:
        session = next(t for t in read_transcripts(file, "sessions.db").transcripts if t.id == ident)
    (request, *_) = [r for r in session.requests if r.usage]
    assert (request.usage, request.model) == (Usage(1_000, cache_read=4_000, output=40), "lab-9")


def test_bubbles_of_cursor_are_messages_and_results_stand_behind_their_calls() -> None:
    session, helper = fixture("cursor_db/state.vscdb").transcripts
    assert [str(b.kind) for m in session.messages for b in m.blocks] == [
        *("text", "thinking", "text", "tool_use", "tool_result", "text"),
    ]
    assert (session.title, session.model, session.window) == ("Green fence", "claude-4.5-sonnet", 200_000)
    assert [r.usage.context if r.usage else None for r in session.requests] == [None, 9000]
    assert session.warnings == (
        "Messages that Cursor no longer keeps: 1",
        "Cursor's own count of its context at the end: 51,000 tokens",
        "Cursor keeps a summary of this conversation; when it compacted is not recorded",
    )
    assert (helper.parent_id, helper.model, helper.messages[2].blocks[0].is_error) == ("c1", "", True)


def test_a_summary_of_cursor_stands_behind_the_message_that_was_the_last_then() -> None:
    path = FIXTURES / "cursor_db/summarized.vscdb"
    (session,) = fixture("cursor_db/summarized.vscdb").transcripts
    (made,) = session.compactions
    assert (made.boundary, made.preserved, made.message) == (4, (2, 3), 4)
    with path.open("rb") as file:
        (text,) = (c.text for c in read_contents(Source(file), "cursor_db", session.messages[4]))
    assert text == "The moorings are sorted by harbour and by length."


def test_nothing_but_conversations_is_read_of_cursors_database() -> None:
    path = FIXTURES / "cursor_db/state.vscdb"
    assert b"never-read" in path.read_bytes()
    with path.open("rb") as file:
        source = Source(file)
        whole = read_transcripts(file)
        texts = [c.text for t in whole.transcripts for m in t.messages for c in read_contents(source, "cursor_db", m)]
    assert texts
    assert not any("never-read" in text for text in texts)


def test_the_newest_root_of_a_cursor_chat_lists_its_messages() -> None:
    """Six of seven are there: the last one's blob is not in the file (formats 49.1)."""
    path = FIXTURES / "cursor_db/store.db"
    (session,) = fixture("cursor_db/store.db").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks], m.typed) for m in session.messages] == [
        ("system", ["text"], False),
        ("user", ["text"], False),
        ("user", ["text"], True),
        ("assistant", ["thinking", "text", "tool_use"], False),
        ("user", ["tool_result"], False),
        ("assistant", ["text"], False),
    ]
    assert session.messages[4].result_ids() == session.messages[3].call_ids() == {"t1"}
    assert [request.message for request in session.requests] == [3, 5]
    assert (session.id, session.title, session.model, session.window) == (
        *("7b1c", "Green fence", "claude-4.5-sonnet"), 200_000
    )  # fmt: skip
    assert session.warnings == (
        "Messages of the chat that its store does not hold in a known form: 1",
        "Cursor's own count of its context at the end: 12,215 tokens",
    )
    with path.open("rb") as file:
        source = Source(file)
        texts = [[c.text for c in read_contents(source, "cursor_db", m)] for m in session.messages]
    assert texts[3] == ["Two coats.", "The first coat.", '{"command":"brush --green"}']
    assert texts[4] == ["wet"]


def test_a_count_of_cursors_that_does_not_add_up_is_not_believed() -> None:
    """480 + 11,592 = 12,072; field 1 of field 5 states the sum, field 2 the window."""
    parts = b"".join(
        b"\x1a" + bytes([len(part)]) + part for part in (b"\x0a\x01a\x18\xe0\x03", b"\x0a\x01b\x18\xc8\x5a")
    )
    window = b"\x10\xc0\x9a\x0c"
    for stated, found in ((b"\x08\xa8\x5e", (12_072, 200_000)), (b"\x08\xa9\x5e", (0, 0)), (b"", (0, 0))):
        held = stated + window + parts
        assert context_of(wires(b"\x2a" + bytes([len(held)]) + held)) == found


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\x20abc", b"\xff" * 12, b"\x0b", b"\x80"])
def test_bytes_that_are_no_protobuf_have_no_fields(data: bytes) -> None:
    assert wires(data) == []


@pytest.mark.samples
def test_a_store_of_a_cursor_chat_without_messages_says_what_it_is() -> None:
    told = fact("cursor/as-store.db", "meta")
    with place("cursor/as-store.db").open("rb") as file, pytest.raises(UnreadableInput) as refused:
        read_transcripts(file)
    assert told["name"] in str(refused.value)
    assert told["lastUsedModel"] in str(refused.value)


@pytest.mark.samples
@pytest.mark.parametrize("name", sample_names("hermes"))
def test_a_session_file_of_hermes_equals_its_truth(name: str) -> None:
    truth, session = facts(name), one_session(name)
    assert (parsed(name).format, parsed(name).skipped, session.model) == ("hermes", (), truth["model"])
    roles = {"user": 0, "assistant": 0, "tool": 0}
    for message in session.messages:
        is_result = any(block.kind is Kind.TOOL_RESULT for block in message.blocks)
        roles["tool" if is_result else str(message.role)] += 1
    assert {role: n for role, n in roles.items() if n} == {
        role: n for role, n in truth["messages_by_role"].items() if role != "session_meta"
    }
    assert len(session.messages) == truth["message_count"]
    assert n_of(session, Kind.TOOL_USE) == truth["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == truth["tool_results"]
    assert n_of(session, Kind.THINKING) == truth["reasoning"]
    assert all(request.usage is None for request in session.requests)
    assert (session.n_images, len(session.compactions)) == (truth["images"], truth["compactions"])


@pytest.mark.parametrize("name", ["state.db", "export.jsonl"])
def test_a_session_that_a_compaction_cut_is_one(name: str) -> None:
    session = fixture(f"hermes/{name}").transcripts[0]
    (compaction,) = session.compactions
    assert compaction.message is not None
    assert session.messages[compaction.message].summary
    assert session.messages[compaction.message].preview.startswith("[CONTEXT ")
    assert compaction.trigger is None
    assert [session.messages[index].preview for index in compaction.preserved] == ["Start"] * (name == "state.db")


def test_rows_of_hermes_that_left_in_place_are_a_compaction_and_those_rewound_are_none() -> None:
    whole = fixture("hermes/state.db")
    session, helper, placed = whole.transcripts
    assert session.warnings == ("Messages that were rewound: 1, not messages",)
    assert "a slip" not in said(session)
    assert (helper.id, helper.parent_id, helper.n_images) == ("h3", "h1", 1)
    (compaction,) = placed.compactions
    assert (compaction.boundary, compaction.preserved, compaction.message) == (3, (2,), 3)
    assert said(placed)[-1] == "They too."


def test_the_database_of_opencode_says_the_same_as_its_export() -> None:
    exported, stored, helper = (
        *fixture("opencode/export.json").transcripts,
        *fixture("opencode/opencode.db").transcripts,
    )
    assert [(m.id, m.role, m.blocks) for m in stored.messages] == [(m.id, m.role, m.blocks) for m in exported.messages]
    assert [(r.message, r.usage) for r in stored.requests] == [(r.message, r.usage) for r in exported.requests]
    assert stored.compactions == exported.compactions
    assert (stored.id, stored.title, stored.client, stored.system) == (
        *(exported.id, exported.title, exported.client, exported.system),
    )
    assert (helper.id, helper.parent_id) == ("ses_child", stored.id)
