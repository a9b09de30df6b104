"""Zed's threads: packed and plain rows, each version's messages, each call's usage, what a compaction left."""

from __future__ import annotations

import io
import json
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.packing import zstd
from sessions.engine.reading.database import Database
from sessions.engine.reading.formats.zed import RETAINED_BYTES
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Usage
from tests.engine.truth_facts import FIXTURES, fixture

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

TABLE = "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"


def database(*cells: bytes) -> io.BytesIO:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(TABLE)
        for number, cell in enumerate(cells):
            made.execute("INSERT INTO threads VALUES (?, 't', '2026-08-01T10:00:00Z', 'zstd', ?)", (str(number), cell))
        made.commit()
        return io.BytesIO(made.serialize())


def thread(*messages: Any) -> Transcript:
    cell = zstd.frame(json.dumps({"version": "0.3.0", "messages": messages}).encode())
    return read_transcripts(database(cell), "threads.db").transcripts[0]


def user(name: str, text: str) -> dict[str, Any]:
    return {"User": {"id": name, "content": [{"Text": text}]}}


def agent(text: str) -> dict[str, Any]:
    return {"Agent": {"content": [{"Text": text}], "tool_results": {}}}


SUMMARY = {"Compaction": {"Summary": "so far"}}


def test_a_packed_thread_is_read_with_each_kind_of_message() -> None:
    session = fixture("zed/threads.db").transcripts[0]
    assert [(str(m.role), [str(b.kind) for b in m.blocks], m.typed) for m in session.messages] == [
        ("user", ["text", "text", "image"], True),
        ("assistant", ["thinking", "opaque", "text", "tool_use"], False),
        ("user", ["tool_result"], False),
        ("assistant", ["text"], False),
        ("user", ["text"], False),
        ("user", ["text"], True),
        ("assistant", ["text"], False),
        ("user", ["text"], False),
        ("user", ["text"], True),
        ("assistant", ["text", "tool_use"], False),
        ("user", ["tool_result"], False),
        ("user", ["text"], False),
        ("assistant", ["text"], False),
    ]
    assert session.messages[0].blocks[1].name == "/home/dev/fence/plan.md"
    assert [str(part.kind) for part in session.messages[2].blocks[0].parts] == ["text", "image"]
    assert session.messages[10].result_ids() == session.messages[9].call_ids() == {"c2"}
    assert session.messages[10].blocks[0].is_error
    assert session.messages[11].preview == "Continue where you left off"
    assert (session.title, session.model, session.project) == ("Paint the fence", "claude-sonnet-4", "/home/dev/fence")
    assert {request.provider for request in session.requests} == {"github-copilot"}
    assert session.warnings[-3:] == (
        "Zed's sum over all calls of the thread: 2,960 tokens sent, 99 received",
        "Zed's completion mode: burn",
        "1 record of type 'Hologram' was not read",
    )


def test_the_usage_of_a_prompt_is_that_of_its_last_call() -> None:
    first, *_, last = fixture("zed/threads.db").transcripts
    assert [r.usage for r in first.requests] == [
        None, Usage(500, 200, output=30), Usage(300, output=20), None, Usage(260, output=9)
    ]  # fmt: skip
    assert [(r.message, r.usage) for r in last.requests] == [(1, Usage(50, output=5)), (None, Usage(70))]


def test_who_compacted_is_told_by_an_empty_prompt() -> None:
    first, *_, last = fixture("zed/threads.db").transcripts
    assert [(c.boundary, c.message, c.trigger, c.preserved) for c in first.compactions] == [
        (4, 4, "auto", (0,)),
        (7, 7, "manual", (0, 5)),
    ]
    assert [(c.trigger, c.preserved) for c in last.compactions] == [("auto", ())]


def test_messages_with_a_role_are_those_of_older_versions() -> None:
    _, old, oldest, _ = fixture("zed/threads.db").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks], m.typed) for m in old.messages] == [
        ("user", ["text", "text"], True),
        ("assistant", ["thinking", "text", "tool_use"], False),
        ("user", ["tool_result"], False),
        ("assistant", ["text"], False),
        ("user", ["text"], False),
    ]
    assert [r.usage for r in old.requests] == [Usage(900, 0, 100, 40), None], "a copied usage is none"
    (error,) = old.errors
    assert (error.tokens, error.code, error.model, error.request) == (
        213_462,
        "exceeded_window_error",
        *("claude-sonnet-4", 2),
    )
    assert [event.kind for event in old.events] == ["session end"]
    assert [m.preview for m in oldest.messages] == ["Paint.", 'I paint. · paint: {"color":"green"}', "wet", "Painted."]
    assert oldest.parent_id == "t1"


def test_a_thread_that_cannot_be_unpacked_is_skipped() -> None:
    found = fixture("zed/threads.db")
    assert [skipped.reason for skipped in found.skipped] == ["the thread t5 is no object in JSON, packed as 'zstd'"]


def test_texts_of_a_packed_thread_are_read_again() -> None:
    with (FIXTURES / "zed/threads.db").open("rb") as file:
        source = Source(file)
        session = read_transcripts(file).transcripts[0]
        texts = ["".join(c.text for c in read_contents(source, "zed", m)) for m in session.messages]
    assert texts[3:6] == [
        "One coat is on.",
        "The previous conversation was compacted. Use this summary as context:\n\nOne of two coats is on.",
        "And the second coat?",
    ]


@pytest.mark.parametrize(("n_bytes", "kept"), [(RETAINED_BYTES - 1, (0, 2)), (RETAINED_BYTES, (2,))])
def test_prompts_stay_in_front_of_a_summary_as_far_as_they_fit(n_bytes: int, kept: tuple[int, ...]) -> None:
    session = thread(user("a", "x"), agent("done"), user("b", "é" * (n_bytes // 2) + "x" * (n_bytes % 2)), SUMMARY)
    assert session.compactions[0].preserved == kept


def test_a_cell_that_unpacks_to_more_than_a_document_stays_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = zstd.frame(b"{}" + b" " * 998)
    assert [row["data"] for row in Database(database(cell)).rows("SELECT data FROM threads")] == ["{}" + " " * 998]
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 999)
    assert [len(row["data"]) < 100 for row in Database(database(cell)).rows("SELECT data FROM threads")] == [True]


def test_a_database_whose_cells_unpack_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Database(database(*[zstd.frame(b"{}" + b" " * 9_998)] * 3))
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 20_000)
    with pytest.raises(UnreadableInput, match="unpack to over 20,000 bytes"):
        list(made.rows("SELECT data FROM threads"))


def test_what_a_damaged_cell_unpacked_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = zstd.frame(random.Random(7).randbytes(300_000))[:250_000]
    made = Database(database(*[cut] * 3))
    assert len(list(made.rows("SELECT data FROM threads"))) == 3
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 200_000)
    with pytest.raises(UnreadableInput, match="unpack to over 200,000 bytes"):
        list(made.rows("SELECT data FROM threads"))
