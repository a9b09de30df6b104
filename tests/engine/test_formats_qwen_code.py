"""Qwen Code: every shared sample against its truth; compressions, refusals and branches on our own fixtures."""

from __future__ import annotations

import pytest

from sessions.engine.transcript.types import Kind, Role
from tests.engine.truth_facts import facts, fixture, n_of, parsed, sample_names

NAMES = sample_names("qwen-code", ".jsonl")


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_equals_its_truth(name: str) -> None:
    said, whole = facts(name), parsed(name)
    (session,) = whole.transcripts
    assert (whole.format, whole.skipped) == ("qwen_code", ())
    assert session.client == said["versions"][0]
    used = [request.usage for request in session.requests if request.usage]
    assert [(u.context, u.output) for u in used] == [
        (u["promptTokenCount"], u["candidatesTokenCount"]) for u in said["usage"]
    ]
    assert n_of(session, Kind.TOOL_USE) == said["tool_calls"]
    assert n_of(session, Kind.TOOL_RESULT) == said["tool_results"]
    assert session.n_images == said["images"]
    assert len(session.compactions) == said["compactions"]
    n_off = sum(not request.on_branch for request in session.requests)
    assert bool(n_off) == bool(said["rewinds"])
    text = n_of(session, Kind.TEXT) + n_off  # one text on the branch that was left
    assert text == sum(n for part, n in said["parts"].items() if part.endswith("/text"))
    assert n_of(session, Kind.THINKING) == said["parts"].get("assistant/thought", 0)
    assert {r.model for r in session.requests} == set(said["models"])


@pytest.mark.samples
def test_a_rewind_takes_the_titles_of_its_branch() -> None:
    (session,) = parsed("qwen-code/as-rewind.jsonl").transcripts
    assert session.title == "Active branch title"
    assert session.model == "synthetic-active-model"
    assert [m.role for m in session.messages] == [Role.USER, Role.USER, Role.ASSISTANT]


def test_one_uuid_is_one_message_and_its_thoughts_are_output() -> None:
    session = fixture("qwen_code/compression.jsonl").transcripts[0]
    reply = session.messages[1]
    assert [b.kind for b in reply.blocks] == [Kind.THINKING, Kind.TOOL_USE]
    assert len(reply.origins) == 2
    first, second, third = (request.usage for request in session.requests)
    assert first
    assert second
    assert third
    assert (first.context, first.cache_read, first.output, first.reasoning) == (12000, 8000, 60, 20)
    assert (second.output, second.reasoning) == (40, 10), "the total says that thoughts come on top"
    assert third.context == 5100
    assert session.window == 1_000_000
    assert session.n_images == 1


def test_a_compression_keeps_what_stood_before() -> None:
    session = fixture("qwen_code/compression.jsonl").transcripts[0]
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == (None, 12250, 5100)
    assert compaction.request == 2
    assert [session.messages[i].preview for i in compaction.preserved] == ["Which colour?"]
    made = [m for m in session.messages if m.compaction == 0]
    assert [(m.role, m.summary) for m in made] == [(Role.USER, True), (Role.ASSISTANT, False)]
    assert sum(m.preview == "Which colour?" for m in session.messages) == 1


def test_a_refusal_a_title_and_what_nobody_typed() -> None:
    session = fixture("qwen_code/compression.jsonl").transcripts[0]
    (error,) = session.errors
    assert (error.kind, error.request, error.tokens, error.limit, error.status) == ("context", 1, 140000, 131072, 400)
    assert session.title == "The green fence"
    assert [m.preview for m in session.messages if m.typed] == [session.messages[0].preview, "Which colour?"]
    assert session.messages[-1].meta


def test_a_sub_agent_is_a_session_of_its_own() -> None:
    main, helper = fixture("qwen_code/compression.jsonl").transcripts
    assert (helper.parent_id, helper.model, len(helper.requests)) == (main.id, "qwen3-coder-flash", 1)
    assert len(main.requests) == 3


def test_a_command_asked_for_a_compression_and_one_that_could_not_be_counted_failed() -> None:
    (session,) = fixture("qwen_code/command.jsonl").transcripts
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("manual", 9_440, 5_300)
    (failed,) = session.errors
    assert (failed.kind, failed.of_compaction, failed.request) == ("compaction", True, 3)
