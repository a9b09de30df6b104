"""First lines of usage that is no size, of caches that are lost on and off, of empty replies and fallen windows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.test_why_evidence import calls, exchange, told
from tests.engine.verdict_files import words

Value = dict[str, Any]


@pytest.mark.parametrize(
    ("sizes", "is_told"),
    [
        ([40 * 6, 40 * 70, 40 * 135], True),
        ([40 * 6, 40 * 70 + 1, 40 * 135], False),  # no multiple of its reply
        ([40 * 6, 40 * 700, 40 * 135], False),  # one part is not the text before it
        ([800, 900, 1_000], False),  # as system prompt and tools would have it
    ],
)
def test_a_usage_that_adds_up_chunks_is_no_size(sizes: list[int], is_told: bool) -> None:
    (line,) = told("calls.jsonl", calls(sizes, 0, {}))
    assert ("5,400 tokens, is no size of a prompt: it is 40 times 135, and the reply has 40" in line) is is_told
    assert ("Peak" in line) is not is_told


def chat(*sizes: int, tool: bool = False) -> str:
    """A conversation in prose, or with a tool, each request of the size that its server reports."""
    messages: list[Value] = []
    lines = []
    for n, size in enumerate(sizes):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "page", "arguments": "{}"}}
        said: Value = {"role": "assistant", "content": words(15)} | ({"tool_calls": [call]} if tool else {})
        answer = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b",
                  "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": size, "completion_tokens": 15, "total_tokens": size + 15}}  # fmt: skip
        messages.append({"role": "user", "content": words(40)})
        lines.append(exchange(n, [*messages], 200, answer))
        messages += [said, *([{"role": "tool", "tool_call_id": f"c{n}", "content": "1"}] if tool else [])]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("sizes", "is_told"),
    [
        ([100, 300, 900, 2_700, 8_100], True),
        ([100, 300, 900, 1_090], False),  # by less than a thousand
        ([4_000, 5_000, 6_000, 8_100], False),  # to less than three times
        ([100, 8_200, 900, 8_100], False),  # not at each request
        ([100, 200, 300, 360, 420], False),  # as much as came
    ],
)
def test_a_usage_that_grows_by_what_never_came_is_told(sizes: list[int], is_told: bool) -> None:
    (line,) = told("calls.jsonl", chat(*sizes))
    assert ("The usage grows from request to request, 100, 300, 900, 2,700 … 8,100" in line) is is_told
    assert "grows" not in told("calls.jsonl", chat(*sizes, tool=True))[0]


def chats(*cached: int, system: str = "You keep the orders.", apart: int = 30, size: int = 3_000) -> str:
    """The same question asked again and again, each time with so many tokens read from the cache."""
    lines = []
    for n, read in enumerate(cached):
        minute, second = divmod(n * apart, 60)
        messages = [{"role": "system", "content": f"{system} {words(2_900)}"}, {"role": "user", "content": "Which?"}]
        usage = {"prompt_tokens": size, "completion_tokens": 9, "total_tokens": size + 9,
                 "prompt_tokens_details": {"cached_tokens": read}}  # fmt: skip
        said = {"role": "assistant", "content": f"Order {n}."}
        answer = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b",
                  "choices": [{"index": 0, "message": said, "finish_reason": "stop"}], "usage": usage}  # fmt: skip
        request = {"method": "POST", "url": "https://api.example.com/v1/chat/completions",
                   "body": {"model": "desk-7b", "messages": messages}}  # fmt: skip
        response = {"status": 200, "body": answer}
        at = f"2026-05-01T10:{minute:02}:{second:02}.000Z"
        lines.append(json.dumps({"timestamp": at, "request": request, "response": response}))
    return "\n".join(lines)


def test_prompts_of_which_some_read_the_cache_and_some_do_not_are_counted() -> None:
    line = " ".join(told("calls.jsonl", chats(0, 2_800, 0, 2_800, 0)))
    assert "Cache: of 4 prompts as long as the one before, up to 3,000 tokens, 2 read nothing from it" in line
    assert "time of day" not in line
    timed = " ".join(told("calls.jsonl", chats(0, 2_800, 0, 2_800, 0, system="Now: 2026-05-01 10:03.")))
    assert 'the system prompt begins with a time of day ("Now: 2026-05-01 10:03")' in timed


@pytest.mark.parametrize(
    ("cached", "apart"),
    [((0, 2_800, 2_800, 2_800, 2_800), 30), ((0, 2_800, 0, 2_800, 2_800), 30), ((0, 2_800, 0, 2_800, 0), 400)],
)
def test_one_miss_or_a_cache_that_may_have_died_is_not_told(cached: tuple[int, ...], apart: int) -> None:
    line = " ".join(told("calls.jsonl", chats(*cached, apart=apart, system="Now: 2026-05-01 10:03.")))
    assert "as long as the one before" not in line


def gemini(last: Value) -> str:
    """Two calls of Gemini's API, the second answered by ``last``."""
    said = {"role": "model", "parts": [{"text": "The ninth."}]}
    lines = []
    contents: list[Value] = [{"role": "user", "parts": [{"text": "Which orders are late?"}]}]
    for n, content in enumerate([said, last]):
        written = 9 if content.get("parts") else 0
        usage = {
            "promptTokenCount": 30 + 20 * n,
            "candidatesTokenCount": written,
            "totalTokenCount": 30 + 20 * n + written,
        }
        body = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage,
                "modelVersion": "gemini-3-flash"}  # fmt: skip
        request = {"method": "POST", "url": "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash"
                   ":generateContent", "body": {"contents": [*contents]}}  # fmt: skip
        response = {"status": 200, "body": body}
        lines.append(json.dumps({"timestamp": f"2026-05-01T10:0{n}:00Z", "request": request, "response": response}))
        contents += [content, {"role": "user", "parts": [{"text": "And which of them are paid?"}]}]
    return "\n".join(lines)


def test_a_last_reply_without_content_is_told() -> None:
    (line,) = told("calls.jsonl", gemini({"role": "model"}))
    assert "The last reply is empty: nothing came after a prompt of 50 tokens" in line
    assert "empty" not in told("calls.jsonl", gemini({"role": "model", "parts": [{"text": "None."}]}))[0]


def codex(*windows: int, model: str = "maker-flash", then: str = "maker-flash") -> str:
    """A rollout with a turn of each window, and a compaction before the last turn."""
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words(30)}]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words(20)}]}
    summary = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Summary: all done."}]}
    lines: list[Value] = [{"type": "session_meta", "payload": {"id": "s", "cli_version": "0.140.0", "cwd": "/"}}]
    for n, window in enumerate(windows):
        lines.append({"type": "turn_context", "payload": {"model": then if n else model, "cwd": "/"}})
        lines.append({"type": "event_msg", "payload": {"type": "task_started", "model_context_window": window}})
        if n == len(windows) - 1:
            lines.append({"type": "compacted", "payload": {"message": "", "replacement_history": [prompt, summary]}})
        size = 9_000 if n == len(windows) - 1 else 27_000 + 600 * n
        usage = {"input_tokens": size, "cached_input_tokens": 0, "output_tokens": 200, "total_tokens": size + 200}
        info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": window}
        lines += [{"type": "response_item", "payload": prompt}, {"type": "response_item", "payload": said}]
        lines.append({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
    stamped = [{"timestamp": f"2026-08-01T10:00:{n:02}.000Z"} | line for n, line in enumerate(lines)]
    return "\n".join(map(json.dumps, stamped))


def test_a_recorded_window_that_fell_under_one_model_is_told() -> None:
    (line,) = told("rollout.jsonl", codex(950_000, 30_400, 30_400, 30_400))
    assert "the recorded window fell from 950,000 to 30,400 tokens while the model stayed maker-flash" in line
    assert "fell" not in told("rollout.jsonl", codex(950_000, 30_400, 30_400, 30_400, model="maker-pro"))[0]
    assert "fell" not in told("rollout.jsonl", codex(30_400, 30_400, 30_400, 30_400))[0]


def test_a_usage_that_the_peak_leaves_out_is_told_with_its_request() -> None:
    (line,) = told("calls.jsonl", calls([9_000, 9_100, 60_000, 9_300, 9_400], 0, {}))
    assert "Peak 9,400 tokens" in line
    assert "; request 2 reports 60,000" in line
    assert "reports" not in told("calls.jsonl", calls([9_000, 9_100, 9_200, 9_300, 9_400], 0, {}))[0]
