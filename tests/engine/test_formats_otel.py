"""The otel format, on small files of our own: no shared sample holds raw spans."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Usage
from tests.engine.test_formats_contract import FIXTURES, read

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

OTEL = FIXTURES / "otel"


def roles_and_kinds(session: Transcript) -> list[tuple[str, list[str]]]:
    return [(str(message.role), [str(block.kind) for block in message.blocks]) for message in session.messages]


def test_otlp_spans_of_the_genai_conventions_are_one_history() -> None:
    parsed = read(OTEL / "genai_otlp.json")
    (session,) = parsed.transcripts
    assert roles_and_kinds(session) == [
        ("user", ["text", "image"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    first, second = (request.usage for request in session.requests)
    assert first
    assert second
    assert (first.context, first.output) == (120, 9)
    assert (second.input, second.cache_read, second.output) == (40, 100, 5)
    assert [request.message for request in session.requests] == [1, 3]
    assert [block.name for block in session.system] == ["", "zoom"]
    assert parsed.warnings == ("Spans that are no model calls: 2, not context",)
    media = session.messages[0].blocks[1].media
    assert media
    assert (media.media_type, media.width, media.height) == ("image/png", 64, 48)


def test_openinference_messages_are_put_together_from_dotted_keys() -> None:
    path = OTEL / "openinference.jsonl"
    (session,) = read(path).transcripts
    assert roles_and_kinds(session) == [
        ("system", ["text"]),
        ("user", ["text", "image"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert [r.usage.context if r.usage else None for r in session.requests] == [50, 70]
    assert [r.usage.reasoning if r.usage else None for r in session.requests] == [3, 0]
    assert len(session.messages[1].origins) == 5
    with path.open("rb") as file:
        (call,) = read_contents(file, "otel", session.messages[2])
        (result,) = read_contents(file, "otel", session.messages[3])
    assert (call.name, call.call_id, call.target) == ("find", "h1", "hat")
    assert (result.kind, result.call_id, result.text) == (Kind.TOOL_RESULT, "h1", "Ann's")


def test_nested_attributes_and_the_older_prompt_keys() -> None:
    parsed = read(OTEL / "nested_and_old.json")
    nested, old = parsed.transcripts
    assert [message.preview for message in nested.messages] == ["Hi", "Hello."]
    assert [message.preview for message in old.messages] == ["Hi there", "Hello again. · wave: {}"]
    assert [(t.model, r.usage.context if r.usage else 0) for t in parsed.transcripts for r in t.requests] == [
        ("gpt-4o-mini", 12),
        ("claude-haiku-4-5", 9),
    ]
    assert len(parsed.skipped) == 1


def test_dotted_keys_in_an_otlp_list() -> None:
    (session,) = read(OTEL / "spread_otlp.json").transcripts
    assert [message.preview for message in session.messages] == ["Spread in OTLP", "Yes."]
    assert [request.usage for request in session.requests] == [None]


def test_spans_of_frameworks_keep_their_calls_and_each_model_call_counts_once() -> None:
    parsed = read(OTEL / "frameworks.jsonl")
    found = {session.id: session for session in parsed.transcripts}
    assert roles_and_kinds(found["sdk"]) == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert roles_and_kinds(found["adk"]) == [
        ("user", ["text"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
    ]
    assert roles_and_kinds(found["phoenix"]) == [("system", ["text"]), ("user", ["text"]), ("assistant", ["text"])]
    used = {name: [(r.usage.context, r.usage.output) for r in t.requests if r.usage] for name, t in found.items()}
    assert used == {"adk": [(20, 3)], "sdk": [(40, 12), (60, 3)], "phoenix": [(33, 2)]}
    names = {name: [block.name for block in session.system] for name, session in found.items()}
    assert names == {"adk": ["", "wave"], "sdk": ["weather"], "phoenix": ["weigh"]}
    assert parsed.warnings[-1] == "Spans around another one of the same call: 2, no requests"


def said(role: str, *parts: tuple[str, str]) -> dict[str, object]:
    """A message of spans: its role and (type, content) parts."""
    return {"role": role, "parts": [{"type": kind, "content": text} for kind, text in parts]}


def chat(n: int, sent: list[object], reply: object, provider: str, **more: object) -> dict[str, object]:
    """The n-th model call of one conversation as a flat span."""
    attributes = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.conversation.id": "c1",
        "gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps([reply]),
        "gen_ai.usage.input_tokens": 1_000 * n, "gen_ai.usage.output_tokens": 5, **more,
    }  # fmt: skip
    times = {"startTimeUnixNano": n * 10**9, "endTimeUnixNano": n * 10**9 + 5}
    return {"traceId": "t", "spanId": f"s{n}", "name": "chat", **times, "attributes": attributes}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("flagged", [(), (2,), (3,), (2, 3), (3, 4)])
def test_a_compaction_that_two_spans_tell_is_one(provider: str, flagged: tuple[int, ...]) -> None:
    """The block stands in the reply of call 2 and is sent by call 3; the flag may stand on either, or on both."""
    prompt, answer = said("user", ("text", "Count the ships.")), said("assistant", ("text", "Twelve."))
    block, more = ("compaction", "Twelve ships were counted."), said("user", ("text", "And the boats?"))
    compacted = said("assistant", block, ("text", "Thirty."))
    last, close = said("assistant", ("text", "Logged.")), said("user", ("text", "Close."))
    calls = [
        ([prompt], answer), ([prompt, answer, more], compacted), ([compacted, close], last),
        ([compacted, close, last, more], answer),
    ]  # fmt: skip
    flag = {"gen_ai.conversation.compacted": True}
    spans = [
        chat(n, sent, reply, provider, **(flag if n in flagged else {})) for n, (sent, reply) in enumerate(calls, 1)
    ]
    data = "\n".join(map(json.dumps, spans)).encode()
    (session,) = read_transcripts(io.BytesIO(data), "spans.jsonl").transcripts
    assert len(session.requests) == 4
    assert [compaction.outside for compaction in session.compactions] == [False]


def test_spans_that_a_console_exporter_printed_one_after_another_are_read() -> None:
    parsed = read(OTEL / "console_exporter.txt")
    (session,) = parsed.transcripts
    assert [(r.usage and r.usage.context, r.usage and r.usage.output) for r in session.requests] == [(9, 3)]
    assert parsed.warnings == ("Spans that are no model calls: 1, not context",)


def test_a_span_that_was_printed_at_its_start_and_twice_at_its_end_is_one() -> None:
    data = (OTEL / "console_exporter.txt").read_text(encoding="utf-8")
    first, second = json.loads("[" + data.replace("}\n{\n", "},{") + "]")
    told = {k: v for k, v in first["attributes"].items() if "usage" not in k and "completion" not in k}
    begun = {**first, "end_time": None, "attributes": told}
    lines = "\n".join(json.dumps(span, indent=4) for span in (begun, second, first, first))
    (session,) = read_transcripts(io.BytesIO(lines.encode()), "console.txt").transcripts
    assert [(r.usage and r.usage.context, r.usage and r.usage.output) for r in session.requests] == [(9, 3)]
    assert session.warnings == ()


def test_what_the_program_said_between_printed_spans_is_left_out() -> None:
    data = (OTEL / "console_exporter.txt").read_text(encoding="utf-8")
    assert "}\n{\n" in data
    said = data.replace("}\n{\n", "}\nWhy did the pirate go to school?\n{\n")
    parsed = read_transcripts(io.BytesIO(said.encode()), "console.txt")
    assert [len(session.messages) for session in parsed.transcripts] == [
        len(session.messages) for session in read(OTEL / "console_exporter.txt").transcripts
    ]
    with pytest.raises(UnreadableInput):
        read_transcripts(io.BytesIO(said.replace("school?", "school? " * 4_000).encode()), "console.txt")


def test_messages_may_be_events_of_their_span() -> None:
    """The conventions before 1.37, with the blocks of Bedrock's Converse as Strands writes them."""
    (session,) = read(OTEL / "events.json").transcripts
    assert roles_and_kinds(session)[:4] == [
        ("user", ["text"]), ("assistant", ["thinking", "text", "tool_use"]), ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]  # fmt: skip
    assert session.messages[1].call_ids() == session.messages[2].result_ids() == {"tu1"}
    with (OTEL / "events.json").open("rb") as file:
        thought, said, call = read_contents(file, "otel", session.messages[1])
    assert (thought.text, said.text, call.name) == ("A search is due.", "I look.", "shell")
    assert [(r.usage.input, r.usage.output) for r in session.requests if r.usage] == [(30, 12), (60, 9)]
    assert [(error.request, error.tokens, error.limit) for error in session.errors] == [(2, 4_097, 8_192)]


def test_calls_of_which_only_the_newest_messages_were_recorded_are_one_session() -> None:
    """A prompt that begins with results goes on with the call before it; a failed call without one is told of it."""
    told, detailed = read(OTEL / "newest_messages.json").transcripts
    assert [kinds for _, kinds in roles_and_kinds(told)] == [
        ["text"], ["text", "tool_use"], ["tool_result"], ["text", "tool_use"], ["tool_result"], ["text", "tool_use"],
    ]  # fmt: skip
    assert [r.usage.context for r in told.requests if r.usage] == [900, 150_000, 190_000]
    with (OTEL / "newest_messages.json").open("rb") as file:
        assert [read_contents(file, "otel", message)[0].text for message in detailed.messages] == [
            "Name the harbour.", "Skagen.",
        ]  # fmt: skip


def test_calls_whose_prompts_were_not_recorded_go_on_with_the_one_before() -> None:
    document = json.loads((OTEL / "events.json").read_text(encoding="utf-8"))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for span in spans[:2]:
        span["events"] = [event for event in span["events"] if event["name"] == "gen_ai.choice"]
    (session,) = read_transcripts(io.BytesIO(json.dumps(document).encode()), "events.json").transcripts
    assert [request.message for request in session.requests] == [0, 1]
    assert len(session.errors) == 1


def test_a_block_of_an_event_that_names_its_type_is_read_by_it() -> None:
    document = json.loads((OTEL / "events.json").read_text(encoding="utf-8"))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    blocks = json.dumps([{"type": "reasoning", "text": "A search is due."}, {"text": "I look."}])
    held = [{"key": "message", "value": {"stringValue": blocks}}]
    spans[0]["events"] = [spans[0]["events"][0], {"name": "gen_ai.choice", "attributes": held}]
    (session, *_) = read_transcripts(io.BytesIO(json.dumps(document).encode()), "events.json").transcripts
    assert [str(block.kind) for block in session.messages[1].blocks] == ["thinking", "text"]


def test_a_result_in_json_keeps_its_call_and_typed_json_stays_a_prompt() -> None:
    text = (OTEL / "events.json").read_text(encoding="utf-8")
    document = json.loads(text)
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    result = {"name": "gen_ai.tool.message", "attributes": [
        {"key": "id", "value": {"stringValue": "tu1"}}, {"key": "content", "value": {"stringValue": '{"depth": 3}'}},
    ]}  # fmt: skip
    typed = {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "[1, 2]"}}]}
    spans[1]["events"] = [spans[1]["events"][0], spans[1]["events"][1], result, typed, spans[1]["events"][3]]
    (session, *_) = read_transcripts(io.BytesIO(json.dumps(document).encode()), "events.json").transcripts
    assert session.messages[2].result_ids() == {"tu1"}
    assert (session.messages[3].preview, session.messages[3].typed) == ("[1, 2]", True)


def test_calls_of_other_instructions_are_other_sessions_where_prompts_were_not_recorded() -> None:
    def span(n: int, system: str) -> dict[str, object]:
        said = {
            "stringValue": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": f"Answer {n}."}]}])
        }
        told = {"stringValue": json.dumps([{"type": "text", "content": system}])}
        held = {
            "gen_ai.operation.name": {"stringValue": "chat"}, "gen_ai.output.messages": said,
            "gen_ai.system_instructions": told,
        }  # fmt: skip
        return {
            "traceId": "t", "spanId": f"s{n}", "parentSpanId": "r", "name": "chat",
            "startTimeUnixNano": f"17875638{n:02d}000000000",
            "attributes": [{"key": key, "value": value} for key, value in held.items()],
        }  # fmt: skip

    spans = [span(1, "You translate."), span(2, "You judge."), span(3, "You translate.")]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    found = read_transcripts(io.BytesIO(json.dumps(document).encode()), "spans.json").transcripts
    assert sorted(len(session.requests) for session in found) == [1, 2]


def test_a_trace_of_mlflow_counts_each_call_once() -> None:
    """The agent's own sum is no call; blocks of Converse, a plain answer and a raw one are read; Anthropic's apart."""
    found = read(OTEL / "mlflow.json")
    mill, named, river = found.transcripts
    assert [[str(b.kind) for b in m.blocks] for m in mill.messages] == [
        ["text"], ["text", "tool_use"], ["tool_result"], ["text"],
    ]  # fmt: skip
    assert [r.usage for r in mill.requests] == [Usage(40, output=21), Usage(56, output=12)]
    assert (mill.id, mill.model, len(mill.system)) == ("mill", "eu.anthropic.claude-sonnet-4-20250514-v1:0", 1)
    assert mill.messages[1].call_ids() == mill.messages[2].result_ids() == {"t1"}
    assert [r.usage for r in named.requests] == [Usage(3, cache_read=70, cache_write=20, output=6)]
    assert [r.usage for r in river.requests] == [Usage(4, cache_read=8, output=4)]
    assert (named.model, river.model) == ("claude-haiku-4-5", "gpt-4.1-mini")
    assert [(e.request, e.words) for e in river.events] == [(1, "RateLimitError Error code: 429 - rate limit reached")]
    with (OTEL / "mlflow.json").open("rb") as file:
        said, call = read_contents(file, "otel", mill.messages[1])
        (answer,) = read_contents(file, "otel", mill.messages[3])
    assert (said.text, call.text, answer.text) == ("I look.", '{"at":"sluice"}', "It is open.")


def test_what_phoenix_keeps_of_a_cache_beside_a_spans_own_names_is_read() -> None:
    cached = {"gen_ai.usage.cache_read_input_tokens": 3_000, "gen_ai.usage.cache_write_input_tokens": 400}
    held = {
        "openinference.span.kind": "LLM", "llm.model_name": "claude-sonnet-4-5",
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Which orders are late?",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "The ninth.",
        "llm.token_count.prompt": 120, "llm.token_count.completion": 9, "metadata": json.dumps(cached),
    }  # fmt: skip
    span = {
        "name": "chat", "context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "parent_id": None,
        "start_time": "2026-05-01T10:00:00+00:00", "end_time": "2026-05-01T10:00:04+00:00", "attributes": held,
    }  # fmt: skip
    text = json.dumps({"data": [span]})
    (session,) = read_transcripts(io.BytesIO(text.encode()), "spans.json").transcripts
    assert session.requests[0].usage == Usage(120, cache_read=3_000, cache_write=400, output=9)
