"""The opencode format, on a small file of our own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript
from tests.why_cases.others import opencode_summary_fails

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "opencode"
EXPORT = FIXTURES / "export.json"


@cache
def session() -> Transcript:
    with EXPORT.open("rb") as file:
        (found,) = read_transcripts(file, EXPORT.name).transcripts
    return found


def test_results_are_messages_after_their_reply() -> None:
    assert [(m.id, m.role) for m in session().messages] == [
        ("msg_1", Role.USER),
        ("msg_2", Role.ASSISTANT),
        ("msg_2.results", Role.USER),
        ("msg_3", Role.ASSISTANT),
        ("msg_3.results", Role.USER),
        ("msg_4", Role.ASSISTANT),
        ("msg_5", Role.USER),
        ("msg_6", Role.USER),
        ("msg_7", Role.USER),
        ("msg_8", Role.ASSISTANT),
    ]
    reply, results = session().messages[1:3]
    assert [b.kind for b in reply.blocks] == [Kind.THINKING, Kind.TEXT, *[Kind.TOOL_USE] * 3]
    assert reply.blocks[0].n_payload == 4
    assert [b.call_id for b in results.blocks] == ["c1", "c2"], "a running call has no result"
    assert session().messages[4].blocks[0].is_error
    assert [m.index for m in session().messages if m.typed] == [0]


def test_usage_excludes_the_cache_and_counts_reasoning_once() -> None:
    used = [
        (r.message, r.usage.input, r.usage.cache_read, r.usage.cache_write, r.usage.output)
        for r in session().requests
        if r.usage
    ]
    assert used == [(1, 10, 500, 90, 20), (3, 5, 600, 0, 42), (None, 700, 0, 0, 40), (9, 120, 0, 0, 8)]
    assert [r.on_branch for r in session().requests] == [True, True, False, True], "an aborted reply is no request"


def test_a_compaction_keeps_its_tail() -> None:
    (compaction,) = session().compactions
    assert (compaction.boundary, compaction.message, compaction.request) == (6, 7, 3)
    assert (compaction.trigger, compaction.preserved) == ("auto", (3, 4, 5))
    assert (compaction.tokens_before, compaction.tokens_after) == (605 + 42, 120)
    assert [m.compaction for m in session().messages[5:9]] == [None, 0, 0, None]


def test_images_count_once_and_text_files_are_not_sent() -> None:
    assert session().n_images == 2
    assert [b.kind for b in session().messages[0].blocks] == [Kind.TEXT, Kind.TEXT, Kind.IMAGE]
    with EXPORT.open("rb") as file:
        _, second = read_contents(file, "opencode", session().messages[2])
    assert [part.kind for part in second.parts] == [Kind.TEXT, Kind.IMAGE]


def test_an_unknown_part_is_opaque_and_a_pruned_result_is_named() -> None:
    assert [b.kind for b in session().messages[9].blocks] == [Kind.TEXT, Kind.OPAQUE]
    assert [(c.what, c.n_cleared) for c in session().clearings] == [("results", 1)]
    (call,) = session().clearings[0].calls
    assert call in {call for m in session().messages for call in m.result_ids()}
    assert (session().title, session().client, session().model) == ("Picture", "1.1.34", "claude-sonnet-4-5")
    assert [b.n_chars for b in session().system] == [9]


def test_a_summary_that_ended_in_an_error_is_no_compaction() -> None:
    session = opencode_summary_fails().transcript
    assert session.compactions == ()
    assert [(e.kind, e.of_compaction) for e in session.errors] == [("context", True)]


@pytest.mark.parametrize("name", ["messages.jsonl", "messages_list.json"])
def test_messages_without_their_export_are_sessions_by_the_id_that_they_name(name: str) -> None:
    with (FIXTURES / name).open("rb") as file:
        first, *others = read_transcripts(file, name).transcripts
    assert first.id == "ses_1"
    assert [(r.usage and r.usage.context, r.model) for r in first.requests] == [
        (1000, "big-pickle"),
        (1040, "big-pickle"),
    ]
    assert [b.kind for m in first.messages for b in m.blocks] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_RESULT, Kind.TEXT]
    assert [t.id for t in others] == (["ses_2"] if name.endswith("l") else [])


def test_the_events_of_a_run_are_the_messages_that_its_export_would_have() -> None:
    with (FIXTURES / "run.jsonl").open("rb") as file:
        (found,) = read_transcripts(file, "run.jsonl").transcripts
        texts = [read_contents(file, "opencode", message) for message in found.messages[:3]]
    assert [(m.id, m.role) for m in found.messages] == [
        ("msg_1", Role.ASSISTANT),
        ("msg_1.results", Role.USER),
        ("msg_2", Role.ASSISTANT),
        ("msg_3", Role.ASSISTANT),
    ]
    assert [c.kind for c in texts[0]] == [Kind.THINKING, Kind.TOOL_USE, Kind.TOOL_USE]
    assert [(c.call_id, c.is_error, c.text) for c in texts[1]] == [
        ("d1", False, "mallard teal"),
        ("d2", True, "no such pond"),
    ]
    used = [(r.usage.input, r.usage.cache_read, r.usage.output, r.usage.reasoning) for r in found.requests if r.usage]
    assert used == [(900, 200, 60, 20), (80, 1200, 20, 0)]
    assert [(e.words, e.code, e.status, e.request) for e in found.events] == [("Overloaded", "APIError", 529, 2)]
    assert found.stated_usd == 0.75
