"""Mastra's traces: which span is a call, what each sent, whose results stand where, how a run ended."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Parsed, Usage
from tests.engine.truth_facts import FIXTURES, fixture


def read(*spans: dict[str, Any]) -> Parsed:
    return read_transcripts(io.BytesIO(json.dumps({"traceId": "t", "spans": spans}).encode()), "trace.json")


def span(name: str, parent: str | None, kind: str, **fields: Any) -> dict[str, Any]:
    return {"traceId": "t", "spanId": name, "parentSpanId": parent, "spanType": kind, "name": name, **fields}


ASKED = {"messages": [{"role": "user", "content": "Paint."}]}


def test_each_step_of_a_generation_is_a_call() -> None:
    session, helper = fixture("mastra/trace.json").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]),
        ("assistant", ["thinking", "text", "tool_use", "tool_use"]),
        ("user", ["tool_result"]),
        ("user", ["tool_result"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert [r.usage for r in session.requests] == [
        Usage(150, 100, 50, 60, reasoning=20), Usage(420, output=30), Usage(480, output=12)
    ]  # fmt: skip
    assert (session.id, session.model, [b.name for b in session.system]) == ("fence", "painter-2", ["", "paint"])
    assert [m.result_ids() for m in session.messages if m.result_ids()] == [{"c1"}, {"c2"}, {"c3"}]
    assert session.messages[5].blocks[0].is_error
    assert session.messages[5].preview == "Tool input validation failed for paint"
    assert (helper.parent_id, helper.parent_call_id, helper.model) == ("fence", "c2", "painter-small")


def test_a_preview_of_a_growing_list_says_less_than_the_spans() -> None:
    """The second step's input sums up calls and results in words: they are taken from the spans instead."""
    with (FIXTURES / "mastra/trace.json").open("rb") as file:
        session = read_transcripts(file).transcripts[0]
        texts = [[c.text for c in read_contents(file, "mastra", m)] for m in session.messages]
    assert texts[1] == ["Two coats, then.", "The first coat.", '{"color":"green"}', '{"whom":"neighbour"}']
    assert texts[2:4] == [['{"coats":1}'], ['{"text":"She likes it."}']]
    assert not any("tool-call" in text for said in texts for text in said)


def test_a_step_that_failed_is_refused_in_its_own_session() -> None:
    (session,) = fixture("mastra/spans.jsonl").transcripts
    assert [r.usage for r in session.requests] == [Usage(144, 256, output=20)]
    (error,) = session.errors
    assert (error.request, error.tokens, error.limit, error.status) == (1, 130_512, 128_000, 400)
    assert error.words.startswith("This model's maximum context length")
    assert "y.js" not in error.words, "a stack says nothing"
    assert [str(m.role) for m in session.messages] == ["system", "user", "assistant", "user"]


def test_a_session_that_is_cut_off_again_and_again_says_how_often() -> None:
    (session,) = fixture("mastra/tree.json").transcripts
    assert [r.on_branch for r in session.requests] == [False, True], "each step sent the same"
    (event,) = (event for event in session.events if event.kind != EventKind.LIMIT_SET)
    assert (event.kind, event.request, event.code) == ("session end", 2, "length")
    assert event.words == (
        'the reply was cut off: it ends with "length", 2 times in a row, up to maxSteps 2, at maxOutputTokens 64'
    )
    assert fixture("mastra/tree.json").warnings == (
        "Spans that are no requests: 2", "Answers that were cut off at a limit of their own: 2"
    )  # fmt: skip


def test_a_generation_without_steps_is_a_call_of_its_own() -> None:
    usage = {"promptTokens": 12, "completionTokens": 3}
    made = {"text": "", "object": {"color": "green"}, "reasoning": [{"payload": {"text": "Green."}}]}
    (session,) = read(
        span("g", None, "llm_generation", attributes={"model": "m", "usage": usage}, input=ASKED, output=made)
    ).transcripts
    assert session.requests[0].usage == Usage(12, output=3)
    assert [[str(b.kind) for b in m.blocks] for m in session.messages] == [["text"], ["thinking", "text"]]


def test_a_run_that_was_stopped_says_so() -> None:
    (aborted,) = fixture("mastra/aborted.json").transcripts
    assert [(e.kind, e.request, e.words) for e in aborted.events] == [("interruption", 1, "aborted: the user left")]
    stopped = {"status": "suspended", "toolName": "ask"}
    (session,) = read(
        span("g", None, "model_generation", attributes={"model": "m"}, input=ASKED, output=stopped),
        span("s", "g", "model_step", attributes={"usage": {"inputTokens": 9}}, output={"text": "I ask."}),
    ).transcripts
    assert [(e.kind, e.words) for e in session.events] == [("interruption", "suspended: ask")]


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"error": {"message": "overloaded", "stack": "at x"}}, "session end", "overloaded"),
        ({"attributes": {"tripwireAbort": {"reason": "a secret"}}}, "session end", "tripwire: a secret"),
    ],
)
def test_the_error_of_a_run_ends_its_last_call(fields: dict[str, Any], kind: str, words: str) -> None:
    (session,) = read(
        span("a", None, "agent_run", **fields),
        span("g", "a", "model_generation", input=ASKED),
        span("s", "g", "model_step", attributes={"usage": {"inputTokens": 9}}, output={"text": "Yes."}),
    ).transcripts
    assert [(e.kind, e.words) for e in session.events] == [(kind, words)]


def test_a_trace_without_a_model_call_holds_no_session() -> None:
    with pytest.raises(UnreadableInput):
        read(span("a", None, "workflow_run"))


def test_the_threads_of_a_storage_have_the_calls_of_its_spans() -> None:
    """A message's steps take the calls that began before it was written; a call that failed after them is told."""
    looms, dyes = fixture("mastra/storage.db").transcripts
    assert [[str(b.kind) for b in m.blocks] for m in looms.messages] == [
        ["text"], ["tool_use"], ["tool_result"], ["text"], ["text"], ["text", "tool_use"], ["tool_result"],
    ]  # fmt: skip
    assert [(r.message, r.usage, r.model) for r in looms.requests] == [
        (1, Usage(1_000, output=5), "lab-model-5"),
        (3, Usage(200, cache_read=900, output=5), "lab-model-5"),
        (5, Usage(1_200, output=5), "lab-model-5"),
    ]
    assert [(e.request, e.tokens, e.limit) for e in looms.errors] == [(3, 214_338, 200_000)]
    assert looms.warnings == (
        "Observational memory, by its own count: 21,942 tokens wait for it, it observes from 30,000 on, it has"
        " condensed 0 times",
    )
    assert (looms.title, [m.preview for m in dyes.messages]) == ("Looms", ["Name a dye.", "Madder."])
    with (FIXTURES / "mastra/storage.db").open("rb") as file:
        (call,) = read_contents(file, "mastra", looms.messages[1])
        (result,) = read_contents(file, "mastra", looms.messages[2])
        (plain,) = read_contents(file, "mastra", dyes.messages[1])
    assert (call.name, result.text, plain.text) == ("look", "the third", "Madder.")
