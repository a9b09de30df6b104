"""Traces of the OpenAI Agents SDK, on files of our own; its database is in test_formats_protocols."""

from __future__ import annotations

import io
import json

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Transcript, Usage
from tests.engine.truth_facts import FIXTURES, fixture


def sessions(name: str) -> tuple[Transcript, ...]:
    return fixture(f"agents_sdk/{name}").transcripts


def contexts(session: Transcript) -> list[int | None]:
    return [request.usage and request.usage.context for request in session.requests]


def test_traces_of_one_group_are_one_session_and_a_tool_s_agent_another() -> None:
    desk, cellar = sessions("responses.json")
    assert (desk.id, desk.title, contexts(desk)) == ("dairy", "Cheese desk", [500, 620, 650])
    assert (cellar.id, cellar.parent_id, cellar.parent_call_id) == ("dairy.f2", "dairy", "f2")
    assert contexts(cellar) == [200, 240]
    usage = desk.requests[0].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (372, 128, 40, 10)
    assert [request.response_id for request in desk.requests] == ["resp_r1", "resp_r4", "resp_r5"]


def test_calls_of_responses_are_the_tools_that_ran_after_them() -> None:
    desk = sessions("responses.json")[0]
    assert [(block.name, block.call_id) for block in desk.messages[0].blocks] == [("weigh", "f1"), ("ask_cellar", "f2")]
    assert [message.result_ids() for message in desk.messages[1:3]] == [{"f1"}, {"f2"}]
    assert [len(message.blocks) for message in desk.messages[3:]] == [0, 1, 1]
    with (FIXTURES / "agents_sdk/responses.json").open("rb") as file:
        (call,) = read_contents(file, "agents_sdk", desk.messages[4])
    assert call.text == '{"wheel": 2}'


def test_traces_that_hold_their_spans_are_read_alike() -> None:
    items = json.loads((FIXTURES / "agents_sdk/responses.json").read_text(encoding="utf-8"))["data"]
    traces = [
        {**item, "spans": [one for one in items if one.get("trace_id") == item["id"]]}
        for item in items
        if item["object"] == "trace"
    ]
    found = read_transcripts(io.BytesIO(json.dumps({"traces": traces}).encode())).transcripts
    assert [(s.id, s.title, contexts(s)) for s in found] == [
        (s.id, s.title, contexts(s)) for s in sessions("responses.json")
    ]


def test_a_tool_that_failed_gave_out_its_error() -> None:
    (session,) = sessions("tool_failed.jsonl")
    (failed,) = session.messages[1].blocks
    with (FIXTURES / "agents_sdk/tool_failed.jsonl").open("rb") as file:
        (told,) = read_contents(file, "agents_sdk", session.messages[1])
    assert (failed.is_error, told.text) == (True, "Error running tool (non-fatal): no gas")
    assert (contexts(session), session.events) == ([70, 95], ())


def test_errors_of_calls_and_of_agents_are_told() -> None:
    desk = sessions("responses.json")[0]
    (refused,) = desk.errors
    assert (refused.code, refused.status, refused.count) == ("context_length_exceeded", 400, 1)
    assert [(event.kind, event.words, event.request) for event in desk.events] == [
        ("session end", "Max turns exceeded", 3),
    ]  # fmt: skip
    assert fixture("agents_sdk/responses.json").warnings == ("1 record of type 'hologram' was not read",)


@pytest.mark.parametrize("name", ["responses.json", "generations.jsonl"])
def test_an_error_is_told_once_though_the_agent_s_span_repeats_it(name: str) -> None:
    text = (FIXTURES / "agents_sdk" / name).read_text("utf-8")
    spans = json.loads(text)["data"] if name.endswith(".json") else list(map(json.loads, text.splitlines()))
    failed = next(span for span in spans if "context_length_exceeded" in json.dumps(span))
    agent = next(span for span in spans if span["id"] == failed["parent_id"])
    agent["error"] = {"message": "Error in agent run", "data": failed["error"]["data"]}
    session = read_transcripts(io.BytesIO(json.dumps(spans).encode())).transcripts[0]
    assert [(error.kind, error.count) for error in session.errors] == [("context", 1)]
    assert len(session.events) == len(sessions(name)[0].events)


def test_generations_repeat_the_history_that_is_one() -> None:
    (session,) = sessions("generations.jsonl")
    assert (session.id, session.model, contexts(session)) == ("g1", "gpt-4o-mini", [90, 110])
    assert [m.preview for m in session.messages] == [
        "You sort stamps.", "Sort the red stamps.", 'count: {"colour":"red"}', "14", "There are 14.",
        "And the blue ones?",
    ]  # fmt: skip
    assert session.messages[3].result_ids() == {"c1"}
    assert [(error.kind, error.tokens, error.limit) for error in session.errors] == [("context", 130_512, 128_000)]


def test_responses_that_a_processor_exports_whole_are_read() -> None:
    (session,) = sessions("with_words.json")
    assert (session.id, session.model, contexts(session)) == ("b1", "gpt-4.1-2025-04-14", [60, 80])
    assert [m.preview for m in session.messages] == ["Bind the atlas.", "sew: {}", "sewn", "Bound."]
    assert session.messages[2].result_ids() == {"call_1"}
    assert len(session.system) == 2


def test_spans_without_a_model_call_are_refused_in_words() -> None:
    span = {"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "agent", "name": "Desk"}}
    with pytest.raises(UnreadableInput) as refused:
        read_transcripts(io.BytesIO(json.dumps({"data": [span]}).encode()))
    assert "none is a model call" in refused.value.next_step


def test_the_usage_of_a_turn_is_a_call_s_where_it_had_one() -> None:
    (session,) = fixture("agents_sdk/advanced.db").transcripts
    assert [(r.message, r.usage) for r in session.requests] == [
        (1, Usage(24, cache_read=16, output=9, reasoning=4)), (3, None), (5, None),
    ]  # fmt: skip
    sums = "130 tokens sent and 21 received in 2 requests"
    assert session.warnings == (f"Counts of turns whose single calls the file does not count: {sums}",)


def test_events_of_a_processor_are_the_spans_that_they_hold() -> None:
    """{event, span} at a span's start and at its end: one span, as the end tells it."""
    lines = [
        json.loads(line)
        for line in (FIXTURES / "agents_sdk/generations.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    spans = [line for line in lines if line.get("object") == "trace.span"]
    assert spans
    started = [{**s, "ended_at": None, "span_data": {**s["span_data"], "output": None}} for s in spans]
    told = [{"event": "trace_start", "trace": line} for line in lines if line.get("object") == "trace"]
    told += [{"event": "span_start", "timestamp": "t", "span": one} for one in started]
    told += [{"event": "span_end", "timestamp": "t", "span": one} for one in spans]
    found = read_transcripts(io.BytesIO(b"".join(json.dumps(one).encode() + b"\n" for one in told)), "events.jsonl")
    own = read_transcripts(io.BytesIO((FIXTURES / "agents_sdk/generations.jsonl").read_bytes()), "generations.jsonl")
    assert [[m.preview for m in t.messages] for t in found.transcripts] == [
        [m.preview for m in t.messages] for t in own.transcripts
    ]
    assert [len(t.requests) for t in found.transcripts] == [len(t.requests) for t in own.transcripts]
