"""The inspect format, on small files of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "inspect"


def read(name: str) -> tuple[Transcript, ...]:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_attachments_are_read_where_they_are_used(name: str) -> None:
    session = read(name)[0]
    with (FIXTURES / name).open("rb") as file:
        (system,) = read_contents(file, "inspect", session.messages[0])
        text, image = read_contents(file, "inspect", session.messages[1])
    assert system.text.startswith("A long system prompt")
    assert (text.kind, image.media_type, image.url) == (Kind.TEXT, "image/png", "")
    media = session.messages[1].blocks[1].media
    assert media
    assert (media.width, media.height) == (1, 1)
    assert session.system[0].n_chars > 100, "a tool's description can be an attachment too"


def test_model_events_are_requests_and_a_grader_is_off_the_branch() -> None:
    session = read("log.json")[0]
    assert [(r.message, r.on_branch, r.model) for r in session.requests] == [
        (2, True, "openai/gpt-4o"),
        (5, True, "openai/gpt-4o"),
        (7, True, "openai/gpt-4o"),
        (None, False, "openai/gpt-4o-mini"),
    ]
    used = [
        (r.usage.input, r.usage.cache_read, r.usage.cache_write, r.usage.output) for r in session.requests if r.usage
    ]
    assert used == [(300, 0, 0, 20), (46, 64, 0, 5), (40, 50, 6, 4), (70, 0, 0, 9)], "the total tells what is included"
    assert session.model == "openai/gpt-4o"


def test_compaction_events_keep_what_the_next_model_event_was_sent() -> None:
    session = read("log.json")[0]
    summary, trim = session.compactions
    assert (summary.boundary, summary.message, summary.request, summary.preserved) == (4, 4, 1, (0, 1))
    assert (summary.tokens_before, summary.tokens_after, summary.trigger) == (345, 110, "auto")
    assert (session.messages[4].summary, session.messages[4].compaction, session.messages[4].typed) == (True, 0, False)
    assert (trim.boundary, trim.message, trim.request, trim.preserved) == (7, None, 2, (0, 5, 6))
    assert (trim.tokens_before, trim.tokens_after) == (130, 96)


def test_a_summary_that_only_the_model_was_sent_is_a_message() -> None:
    session = read("log.eval")[1]
    assert [m.id for m in session.messages] == ["q", "x1", "zz", "x2"]
    (compaction,) = session.compactions
    assert (compaction.message, compaction.preserved, compaction.request) == (2, (), 1)
    assert session.requests[1].message == 3


def test_replies_without_ids_are_found_by_what_they_say() -> None:
    session = read("log.json")[1]
    assert [(r.message, r.usage.context) for r in session.requests if r.usage] == [(1, 10), (3, 20)]


def test_a_sample_without_messages_shows_what_its_model_was_last_sent() -> None:
    session = read("log.eval")[2]
    assert [m.id for m in session.messages] == ["yq"]
    assert session.id == "4_epoch_1"
    assert [r.on_branch for r in session.requests] == [False]


def test_thinking_that_is_redacted_is_a_payload_and_errors_are_results() -> None:
    session = read("log.json")[0]
    thinking, _, call = session.messages[2].blocks
    assert (thinking.kind, thinking.n_chars, thinking.n_payload) == (Kind.THINKING, 14, 14)
    (result,) = session.messages[3].blocks
    assert (result.call_id, result.is_error, result.n_chars) == (call.call_id, True, len("Command timed out"))
    assert [m.index for m in session.messages if m.typed] == [1]
