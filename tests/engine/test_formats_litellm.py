"""Rows of LiteLLM's spend log: with and without the texts, whose session each is, what failed and why."""

from __future__ import annotations

import io
import json

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Parsed, Usage
from tests.engine.truth_facts import FIXTURES, fixture


def read(*rows: dict[str, object]) -> Parsed:
    return read_transcripts(io.BytesIO(json.dumps(rows).encode()), "rows.json")


def row(name: str, **columns: object) -> dict[str, object]:
    plain = {"request_id": name, "call_type": "acompletion", "spend": 0.1, "prompt_tokens": 10, "completion_tokens": 2}
    return {**plain, "startTime": "2026-08-01T10:00:00Z", "model": "painter", "metadata": {}, **columns}


def test_rows_without_texts_are_requests_with_their_usage_and_errors() -> None:
    found = fixture("litellm/page.json")
    session, small = sorted(found.transcripts, key=lambda one: one.id)
    assert (small.id, small.window, [r.response_id for r in small.requests]) == ("s2", 8_192, ["q1"])
    assert [m.preview for m in small.messages][2:] == ["And the gate?", "Green, too."]
    assert (session.id, session.model, session.window) == ("s1", "bedrock/painter-2", 32_768)
    assert [r.response_id for r in session.requests] == ["r1", "r3"], "the page lists the newest first"
    assert session.requests[0].usage == Usage(21_200, output=80)
    assert session.requests[1].usage == Usage(8_100, 21_000, 1_000, 90, reasoning=40)
    (error,) = session.errors
    assert (error.tokens, error.limit, error.status, error.count) == (33_100, 32_768, 400, 2)
    assert (error.code, error.words[:33]) == ("ContextWindowExceededError", "litellm.ContextWindowExceededErro")
    assert "_pre_call_checks" in error.words
    assert [(e.kind, e.request, e.status, e.words) for e in session.events if e.kind != EventKind.LIMIT_SET] == [
        ("error", 1, 429, "litellm.RateLimitError: Too many requests"),
        ("retry", 1, 0, "LiteLLM tried again 1 time; LiteLLM fell back from painter-1"),
    ]
    assert found.warnings == ("Rows that are no model calls: 1",)


def test_texts_tell_a_session_where_each_row_has_an_id_of_its_own() -> None:
    found = fixture("litellm/texts.jsonl")
    (session,) = found.transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("system", ["text"]),
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text"]),  # what was refused
    ]
    assert [r.usage for r in session.requests] == [Usage(300, output=40), Usage(164, 256, output=12)]
    assert session.requests[0].timestamp == 1_785_578_400, "a time without a zone is UTC"
    assert [b.name for b in session.system] == ["brush"]
    assert (session.window, session.errors[0].tokens, session.errors[0].model) == (128_000, 130_512, "gpt-4o")
    assert found.warnings == ("Texts that LiteLLM cut before it stored them: 2; their sizes are of what is left",)
    with (FIXTURES / "litellm/texts.jsonl").open("rb") as file:
        assert [c.text for c in read_contents(file, "litellm", session.messages[4])] == ["It is green."]


def test_messages_of_a_row_are_what_was_sent_where_the_body_is_not_stored() -> None:
    said = [{"role": "user", "content": "Paint the fence."}]
    answer = {"id": "a", "choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "length"}]}
    (session,) = read(row("a", messages=said, response=answer)).transcripts
    assert [m.preview for m in session.messages] == ["Paint the fence.", "Done."]
    assert session.requests[0].usage == Usage(10, output=2)


def test_a_row_whose_texts_are_missing_goes_behind_the_one_before_it() -> None:
    said = [{"role": "user", "content": "Paint the fence."}]
    answer = {"choices": [{"message": {"role": "assistant", "content": "Done."}}]}
    failed = {"status": "failure", "error_information": {"error_message": "overloaded", "error_code": "529"}}
    rows = (
        row("a", session_id="s", messages=said, response=answer),
        row("b", session_id="s", startTime="2026-08-01T10:01:00Z"),
        row("c", session_id="s", startTime="2026-08-01T10:02:00Z", metadata=failed),
    )
    (session,) = read(*rows).transcripts
    assert [(r.response_id, r.message) for r in session.requests] == [("a", 1), ("b", None)]
    assert [(e.kind, e.request, e.status, e.words) for e in session.events] == [("error", 2, 529, "overloaded")]


def test_a_log_of_embeddings_alone_holds_no_session() -> None:
    with pytest.raises(UnreadableInput, match="no rows of model calls"):
        read(row("a", call_type="aembedding"))


@pytest.mark.parametrize("status", ["success", "failure"])
def test_a_failed_row_without_a_word_is_still_an_error(status: str) -> None:
    (session,) = read(row("a", status=status, session_id="s"), row("b", session_id="s")).transcripts
    assert len(session.events) == (status == "failure")
    assert len(session.requests) == 2 - (status == "failure")


def test_a_model_that_the_table_does_not_know_has_no_other_ones_limit() -> None:
    known = {"model_map_information": {"model_map_value": {"max_input_tokens": 200_000}}}
    rows = [row(f"a{n}", session_id="a", metadata=known) for n in range(2)]
    rows += [row(f"b{n}", session_id="b", model="my-local-8b") for n in range(2)]
    assert {one.id: one.window for one in read(*rows).transcripts} == {"a": 200_000, "b": None}


def test_standard_payloads_say_what_rows_do() -> None:
    """Redacted texts are none; an error stands beside the metadata, or in words alone."""
    told, redacted = sorted(fixture("litellm/payloads.jsonl").transcripts, key=lambda one: -len(one.messages))
    assert ([m.preview for m in told.messages], told.window) == (["Which blue?", "Cobalt."], 32_768)
    assert (redacted.id, len(redacted.messages), redacted.window, redacted.model) == ("t1", 0, 32_768, "painter-2")
    assert [r.usage for r in redacted.requests] == [
        Usage(20_900, cache_read=100, output=20), Usage(30_400, cache_read=100, output=20),
    ]  # fmt: skip
    assert [(e.tokens, e.limit, e.count, e.request) for e in redacted.errors] == [(33_100, 32_768, 2, 2)]
