"""What files say without words: a bare status, an answer cut to nothing, replies that are alike, counts."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sessions.engine.reading.formats._counts import local_usage
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.said import meaning_of
from tests.engine.test_why_first_lines import first


def one(value: Any, name: str = "file.json") -> Transcript:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (found,) = read_transcripts(io.BytesIO(data), name).transcripts
    return found


def test_a_status_without_words_is_an_error() -> None:
    error = error_of({"raw": None}, 500)
    assert error is not None
    assert (error.status, error.words) == (500, "")
    assert error_of({"raw": None}) is None
    assert error_of(None, 200) is None


def test_a_log_of_calls_that_all_failed_says_so() -> None:
    body = {"model": "small", "messages": [{"role": "user", "content": "Solve it"}], "tools": [], "max_tokens": 9}
    call = {"request": {"path": "/v1/chat/completions", "body": body}}
    call |= {"response": {"status_code": 500, "headers": {}, "body": {"raw": None}}}
    said = first(weigh(one("\n".join([json.dumps(call)] * 3).encode(), "log.jsonl"))).text
    assert said == "Failed 3 times at the first request: no words of its error are recorded (500)."


def test_an_empty_answer_at_its_maximum_was_cut_off() -> None:
    run = {"id": "r", "trace_id": "r", "run_type": "llm", "start_time": "2025-07-07T08:20:01", "error": None}
    run["inputs"] = {"messages": [[{"type": "human", "content": "Answer from the context only. " * 40}]]}
    generation = {
        "text": "",
        "generation_info": {"finish_reason": "MAX_TOKENS"},
        "message": {"kwargs": {"content": ""}},
    }
    run["outputs"] = {"generations": [[generation]]}
    (event,) = one([run]).events
    assert event.words == "the reply was cut off: MAX_TOKENS"


def test_replies_that_are_alike_are_told_at_the_end() -> None:
    words = "[Reply unavailable due to model error.]"
    lines = [
        {"role": role, "content": text}
        for text in ("hello", "are you there?")
        for role, text in (("user", text), ("assistant", words))
    ]
    said = first(weigh(one(lines))).text
    assert said.endswith(f'The last 2 replies are alike: "{words}".')
    lines[-1]["content"] = "Yes, I am here and I can help."
    assert "alike" not in first(weigh(one(lines))).text


def test_llama_cpps_counts_add_up_to_the_context() -> None:
    usage = local_usage({"cache_n": 30_804, "prompt_n": 278, "predicted_n": 351, "input_tokens": 278})
    assert usage is not None
    assert (usage.context, usage.cache_read, usage.output) == (31_082, 30_804, 351)


SENT = (1_200, 2_400, 3_600, 4_800)


@pytest.mark.parametrize(
    ("is_part", "contexts"), [(True, [1_200, 2_400, 3_600, 4_800]), (False, [1_200, 3_600, 6_000, 8_400])]
)
def test_tokens_sent_that_include_the_cached_ones_are_counted_once(contexts: list[int], *, is_part: bool) -> None:
    """What is read follows what was sent before: then it is a part of it; where it does not, it stands beside."""
    entries: list[dict[str, Any]] = [{"ts": 1, "type": "say", "say": "task", "text": "Tidy the drawer"}]
    for n, sent in enumerate(SENT):
        body = {"request": "x", "tokensIn": sent if is_part else SENT[0], "tokensOut": 9}
        body["cacheReads"] = (sent - SENT[0]) * (1 if is_part else 2)
        entries += [
            {"ts": 10 * n + 2, "type": "say", "say": "api_req_started", "text": json.dumps(body)},
            {"ts": 10 * n + 3, "type": "say", "say": "text", "text": f"step {n}"},
        ]
    found = one(entries, "ui_messages.json")
    assert [request.usage.context if request.usage else 0 for request in found.requests] == contexts
    assert any("counts them twice" in note for note in found.warnings) == is_part


def test_the_words_of_an_exit_go_before_its_name() -> None:
    words = "HTTP 400: {'error': {'message': 'context_length_exceeded'}}"
    messages = [
        {"role": "system", "content": "You can run commands."},
        {"role": "user", "content": "Mend the parser"},
        {"role": "assistant", "content": "```bash\nls\n```"},
        {"role": "exit", "content": words, "extra": {"exit_status": "APIError", "exception_str": words}},
    ]
    document = {"info": {"exit_status": "APIError", "mini_version": "2.4"}, "messages": messages}
    (error,) = one(document | {"trajectory_format": "mini-swe-agent-1.1"}).errors
    assert (error.kind, error.words) == ("context", "HTTP 400: context_length_exceeded")


@pytest.mark.parametrize(
    ("words", "because"),
    [
        ("No tool output found for function call call_1.", "a call in it stands without its result"),
        (
            "messages with role 'tool' must be a response to a preceding message",
            "a tool result in it stands without its call",
        ),
        ("Invalid 'max_output_tokens': integer below minimum value, but got 1", "no room was left for the reply"),
        ("Request contains an invalid argument.", "the request was not accepted as it was made"),
        ("Unrecognized request argument supplied: effort", "the request was not accepted as it was made"),
    ],
)
def test_what_an_errors_words_mean(words: str, because: str) -> None:
    found = meaning_of(words)
    assert found is not None
    assert found.because == because
