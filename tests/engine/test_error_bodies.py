"""One error, whatever body a provider or a gateway wrote it in."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sessions.engine.reading.formats._error_body import MAX_BODY_CHARS, MAX_DEPTH, error_body
from sessions.engine.reading.formats._provider_errors import error_of, refusal_of
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.recorded_events import EventKind

SAID = "prompt is too long: 205148 tokens > 200000 maximum"
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": SAID}}
BODIES: list[tuple[Any, str]] = [
    (SAID, ""),
    ({"message": SAID}, ""),
    ({"__type": "ValidationException", "message": SAID}, "ValidationException"),
    ({"detail": SAID}, ""),
    ({"detail": [{"loc": ["body"], "msg": SAID, "type": "value_error"}]}, "value_error"),
    (ANTHROPIC, "invalid_request_error"),
    ([ANTHROPIC], "invalid_request_error"),
    (json.dumps(ANTHROPIC), "invalid_request_error"),
    (f"API Error: 400 {json.dumps(ANTHROPIC)}", "invalid_request_error"),
    (f'{{"message":"Command failed","modelId":"sonnet"}} {SAID}', ""),
    (f"Error code: 400 - {ANTHROPIC!r}", "invalid_request_error"),
    ({"name": "APIError", "data": {"statusCode": 400, "responseBody": json.dumps(ANTHROPIC)}}, "invalid_request_error"),
    ({"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(ANTHROPIC)}},
     "invalid_request_error"),
    ({"error": {"code": "400", "message": "Bad", "innererror": {"code": "TooLong", "message": SAID}}}, "TooLong"),
    (f"<!DOCTYPE html><html><head><title>400 {SAID.replace('>', '&gt;')}</title></head><body>x</body></html>", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), BODIES, ids=range(len(BODIES)))
def test_every_body_says_the_same(body: Any, code: str) -> None:
    error = error_of(body)
    assert error is not None
    assert (error.kind, error.tokens, error.limit, error.code) == ("context", 205_148, 200_000, code)
    assert SAID in error.words


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("API Error: 529 Overloaded", 529, "API Error: 529 Overloaded"),
        ({"error": {"message": "slow down", "code": 429}}, 429, "slow down"),
        ("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>", 502,
         "502 Bad Gateway"),
        ("Your 450 tokens were lost", 0, "Your 450 tokens were lost"),
    ],
)  # fmt: skip
def test_an_error_of_no_size_keeps_its_words_and_status(body: Any, status: int, words: str) -> None:
    error = error_of(body)
    assert error is not None
    assert not error.of_size
    assert (error.kind, error.status, error.words) == (EventKind.ERROR, status, words)


@pytest.mark.parametrize("value", [None, "", "  ", [], {}, {"type": "error"}, 7, True])
def test_nothing_said_is_no_error(value: Any) -> None:
    assert error_of(value) is None


def test_a_failed_compaction_is_known_behind_the_body_of_its_error() -> None:
    error = error_of(f"Error during compaction: API Error: 400 {json.dumps(ANTHROPIC)}")
    assert error is not None
    assert error.of_compaction
    assert (error.kind, error.limit) == ("context", 200_000)


def test_a_hostile_body_ends() -> None:
    deep: Any = SAID
    for _ in range(MAX_DEPTH + 5):
        deep = {"error": deep}
    assert error_body(deep).words == ""
    for text in ("{" * MAX_BODY_CHARS, "{'a':" * 20_000, "<html>" + "<title>" * 20_000, "{" * 30_000 + "}" * 30_000):
        assert error_body(text).words


def test_an_error_that_quotes_a_request_is_no_refusal() -> None:
    """The words of an error are judged, not what stands beside them."""
    body = {"message": "Invalid header", "request": {"content": "prompt is too long"}}
    error = error_of(body)
    assert error is not None
    assert not error.of_size
    assert refusal_of(json.dumps(body)) is not None


def test_words_reach_the_transcript() -> None:
    lines = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "Hello"}},
    ]
    for n, words in enumerate(("529 overloaded", "529 overloaded", SAID)):
        usage = {"input": 0, "output": 0}
        reply = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": words, "usage": usage}
        lines.append({"type": "message", "id": f"b{n}", "parentId": f"b{n - 1}" if n else "a", "message": reply})
    data = "\n".join(map(json.dumps, lines)).encode()
    transcript = read_transcripts(io.BytesIO(data), "s.jsonl").transcripts[0]
    assert [(e.kind, e.words, e.limit) for e in transcript.errors] == [("context", SAID, 200_000)]
    assert [(e.kind, e.words, e.status, e.count) for e in transcript.events] == [("error", "529 overloaded", 529, 2)]
