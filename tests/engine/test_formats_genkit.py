"""Genkit's traces: which spans are calls, what each sent, and whose counts leave the cache out."""

from __future__ import annotations

import io
import json

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Usage
from tests.engine.truth_facts import FIXTURES, fixture


def test_each_action_of_a_model_is_a_call_of_one_session() -> None:
    found = fixture("genkit/trace.json")
    (session,) = found.transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("system", ["text"]),
        ("user", ["text", "image"]),
        ("assistant", ["thinking", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
    ]
    assert session.messages[2].call_ids() == session.messages[3].result_ids() == {"c1"}
    assert [(r.message, r.model) for r in session.requests] == [
        (2, "claude-sonnet-4-5"), (4, "claude-sonnet-4-5"), (6, "gemini-2.5-flash"),
    ]  # fmt: skip
    assert [b.name for b in session.system] == ["look"]
    assert found.warnings == ("Spans that are no requests: 2",)
    with (FIXTURES / "genkit/trace.json").open("rb") as file:
        (_, call), (answer,) = (read_contents(file, "genkit", session.messages[n]) for n in (2, 3))
    assert (call.text, answer.text) == ('{"at":"sluice"}', '{"open":true}')


def test_the_input_leaves_out_the_cache_where_anthropic_counted() -> None:
    """By the provider's own answer, by the counts that the plugin passes on, by Gemini's with thoughts beside."""
    (session,) = fixture("genkit/trace.json").transcripts
    assert [r.usage for r in session.requests] == [
        Usage(5, cache_write=80, output=21),
        Usage(5, cache_read=80, cache_write=30, output=7),
        Usage(66, cache_read=64, output=14, reasoning=9),
    ]


def test_a_page_of_traces_whose_attributes_were_parsed_says_the_same() -> None:
    (whole,), (page,) = (fixture(f"genkit/{name}.json").transcripts for name in ("trace", "page"))
    assert [m.blocks for m in page.messages] == [m.blocks for m in whole.messages[:5]]
    assert [r.usage for r in page.requests] == [r.usage for r in whole.requests[:2]]


def test_a_trace_without_a_model_is_refused() -> None:
    span = {"spanId": "s", "traceId": "t", "attributes": {"genkit:type": "action", "genkit:metadata:subtype": "flow"}}
    with pytest.raises(UnreadableInput):
        read_transcripts(io.BytesIO(json.dumps({"traceId": "t", "spans": {"s": span}}).encode()), "trace.json")
