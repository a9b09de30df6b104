"""Requests refused for their size, in the words of providers and in the formats that record them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.formats._provider_errors import Refusal, refusal_of
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.verdict_files import Codex, Pi, png, words

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

CONTEXT = (
    ("prompt is too long: 205148 tokens > 200000 maximum", 205_148, 200_000),
    ("input length and `max_tokens` exceed context limit: 180,000 + 32,000 > 200,000, decrease", 180_000, 200_000),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.",
        130_512, 128_000,
    ),
    ("The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).", 1_050_000, 1_048_576),
    ("prompt token count of 74490 exceeds the limit of 72000", 74_490, 72_000),
    ('{"code":"context_length_exceeded"}', None, None),
    ("Codex ran out of room in the model's context window.", None, None),
    ("Input is too long for requested model.", None, None),
    ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 40_000, 32_768),
    ("Context window will overflow (estimated: 1060000, remaining: 12000)", 1_060_000, None),
    ("litellm.ContextWindowExceededError: too many", None, None),
    ("Prompt is too long", None, None),
    ("Context limit reached · /compact or /clear to continue", None, None),
)  # fmt: skip
BODY = (
    'API Error: 413 {"type":"error","error":{"type":"request_too_large","message":"Request too large"}}',
    "413 Request Entity Too Large",
    "413 (no body)",
    "unexpected status 413 Payload Too Large",
    "Request size exceeds the 32 MB limit",
)
OTHER = (
    "API Error: 429 rate_limit_error: too many input tokens per minute", "overloaded_error", "", "Connection error.",
    "API Error: 500 Internal server error", "invalid x-api-key",
)  # fmt: skip


@pytest.mark.parametrize(("text", "tokens", "limit"), CONTEXT)
def test_too_many_tokens(text: str, tokens: int | None, limit: int | None) -> None:
    refusal = refusal_of(text)
    assert refusal is not None
    assert (refusal.kind, refusal.tokens, refusal.limit) == ("context", tokens, limit)


@pytest.mark.parametrize("text", BODY)
def test_too_many_bytes(text: str) -> None:
    refusal = refusal_of(text)
    assert refusal is not None
    assert refusal.kind == "body"


@pytest.mark.parametrize("text", OTHER)
def test_other_errors_are_none(text: str) -> None:
    assert refusal_of(text) is None


def test_a_status_alone_says_body() -> None:
    assert refusal_of("<html>nginx</html>", 413) == Refusal("body", status=413)


def test_pi_and_codex_refusals_stand_before_the_next_request() -> None:
    pi, codex = Pi(), Codex()
    for session in (pi, codex):
        session.prompt()
        session.turn(200)
        session.refuse("prompt is too long: 205148 tokens > 200000 maximum")
        session.turn(200)
        (error,) = session.weighed().transcript.errors
        assert (error.kind, error.request, error.tokens, error.limit) == ("context", 1, 205_148, 200_000)


def opencode(entries: list[tuple[dict[str, Any], list[dict[str, Any]]]]) -> Transcript:
    """An export of these messages."""
    messages = [{"info": {"id": f"m{n}", **info}, "parts": parts} for n, (info, parts) in enumerate(entries)]
    document = {"info": {"id": "s", "title": "t", "version": "1"}, "messages": messages}
    return read_transcripts(io.BytesIO(json.dumps(document).encode()), "export.json").transcripts[0]


def opencode_reply(n: int, context: int, parts: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    tokens = {"input": 300, "output": 50, "reasoning": 0, "cache": {"read": context - 300, "write": 0}}
    info = {"role": "assistant", "modelID": "claude-opus-4-6", "providerID": "anthropic", "tokens": tokens}
    return info, [{"type": "text", "text": f"Look {n}."}, *parts]


def test_opencode_refused_for_its_bytes_at_a_quarter_of_the_window() -> None:
    """Overflow without a figure, few tokens, megabytes of screenshots: likely the body, not the tokens."""
    entries: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({"role": "user"}, [{"type": "text", "text": words(50)}])
    ]
    context = 12_000
    for n in range(24):
        shot = {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{png(400_000, 1_254)}"}
        state = {"status": "completed", "input": {}, "output": "done", "attachments": [shot]}
        entries.append(
            opencode_reply(n, context, [{"type": "tool", "tool": "shot", "callID": f"c{n}", "state": state}])
        )
        context += 1_600
    entries.append(({"role": "user"}, [{"type": "compaction", "auto": True, "overflow": True}]))
    summary = {"role": "assistant", "summary": True, "tokens": {"input": 40_000, "output": 900}}
    entries.extend(((summary, [{"type": "text", "text": words(400)}]), opencode_reply(99, 13_000, [])))
    transcript = opencode(entries)
    assert [(e.kind, e.request) for e in transcript.errors] == [("context", transcript.compactions[0].request)]
    compaction = verdicts_of(weigh(transcript))[-1]
    assert (compaction.what, compaction.cause) == ("compaction", "body_size_limit")
    assert compaction.certainty != "certain"


def test_opencode_errors_of_a_reply_are_read() -> None:
    error = {"name": "APIError", "data": {"message": "prompt is too long: 205148 tokens > 200000 maximum"}}
    failed = {"role": "assistant", "modelID": "claude-opus-4-6", "tokens": {}, "error": error}
    transcript = opencode([({"role": "user"}, [{"type": "text", "text": "hello there"}]), (failed, [])])
    assert [(e.kind, e.tokens) for e in transcript.errors] == [("context", 205_148)]


def test_cline_failed_requests_are_read() -> None:
    entries = [
        {"ts": 1, "type": "say", "say": "text", "text": "Do it"},
        {"ts": 2, "type": "say", "say": "api_req_started", "text": json.dumps({"request": "Do it", "tokensIn": 0})},
        {"ts": 3, "type": "ask", "ask": "api_req_failed", "text": "prompt is too long: 205148 tokens > 200000 maximum"},
        {
            "ts": 4, "type": "say", "say": "api_req_started",
            "text": json.dumps({"request": "Do it", "tokensIn": 900, "tokensOut": 5}),
        },
        {"ts": 5, "type": "say", "say": "text", "text": "Done"},
    ]  # fmt: skip
    transcript = read_transcripts(io.BytesIO(json.dumps(entries).encode()), "ui_messages.json").transcripts[0]
    assert [(e.kind, e.request, e.limit) for e in transcript.errors] == [("context", 0, 200_000)]


def test_a_compaction_for_a_refusal_does_not_count_it_again() -> None:
    """opencode: the error and the mark of its compaction are one refusal; without the error the mark alone tells it."""
    said = ({"role": "user"}, [{"type": "text", "text": "hello there"}])
    error = {"name": "ContextOverflowError", "data": {"message": "prompt is too long: 205148 tokens > 200000 maximum"}}
    failed = ({"role": "assistant", "modelID": "claude-opus-4-6", "tokens": {}, "error": error}, [])
    mark = ({"role": "user"}, [{"type": "compaction", "auto": True, "overflow": True}])
    summary = ({"role": "assistant", "summary": True, "tokens": {}}, [{"type": "text", "text": "A greeting."}])
    for entries, counts in (
        ([said, failed, mark, summary], [1]),
        ([said, mark, summary], [1]),
        ([said, failed, failed, mark, summary], [2]),
        ([said, failed, mark, summary, mark, summary], [1, 1]),
    ):
        assert [e.count for e in opencode([*entries, opencode_reply(99, 13_000, [])]).errors] == counts


@pytest.mark.parametrize(
    "text",
    [
        "Error during compaction: You've hit your session limit · resets 9pm",
        "Error running remote compact task: stream disconnected before completion",
        "Error: [compaction.failed] APIStatusError: 400 Invalid max_tokens value",
        "server_overloaded Error running remote compact task: We're currently experiencing high demand",
        "529: Auto-compaction failed: overloaded",
        "✕ Failed to compress chat history: Unable to submit request because it has a maxOutputTokens value",
    ],
)
def test_a_compaction_that_failed_for_another_reason_is_read(text: str) -> None:
    assert refusal_of(text) == Refusal(ErrorKind.COMPACTION, of_compaction=True)
    assert refusal_of(f"The log says: {text}") is None
