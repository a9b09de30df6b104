"""What stands under and over the boundaries of rules that a stranger's session asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions.engine.transcript.types import Request, Transcript, Usage
from sessions.engine.why.cache_use import lost_by
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_why_evidence import told
from tests.engine.verdict_files import Claude, words


def logged(sizes: list[int], came: int) -> str:
    """A chat whose calls report these sizes, with about so many tokens of a prompt before each but the first."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Plan the harbour."}]
    lines = []
    for n, size in enumerate(sizes):
        said = {"role": "assistant", "content": words(10)}
        answer = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b",
                  "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": size, "completion_tokens": 20, "total_tokens": size + 20}}  # fmt: skip
        body = {"model": "desk-7b", "messages": [*messages]}
        record = {"url": "http://127.0.0.1/v1/chat/completions", "timestamp": f"2026-05-01T10:{n:02}:00.000Z"}
        lines.append(json.dumps({**record, "request": {"body": body}, "response": {"body": answer}}))
        messages += [said, {"role": "user", "content": words(came)}]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("sizes", "came", "is_told"),
    [
        ([800, 4_000, 4_090, 4_030, 4_080, 4_050], 900, True),
        ([800, 4_000, 4_090, 4_030, 4_080, 4_050], 300, False),  # under half of it came
        ([800, 4_000, 4_150, 4_030, 4_080, 4_050], 900, False),  # 3.75% apart
        ([800, 4_000, 4_090, 4_030], 900, False),  # three requests
    ],
)
def test_a_usage_just_under_a_room_is_a_prompt_that_is_cut(sizes: list[int], came: int, is_told: bool) -> None:
    (line,) = told("calls.jsonl", logged(sizes, came))
    assert ("the usage stands just under or at 4,090 for 5 requests" in line) == is_told


def lone(status: int, body: dict[str, Any], **request: Any) -> str:
    asked = {"model": "desk-7b", "messages": [{"role": "user", "content": "Plan the harbour."}], **request}
    record = {"timestamp": "2026-05-01T10:00:00Z", "method": "POST", "url": "http://127.0.0.1/v1/chat/completions"}
    return json.dumps({**record, "request": asked, "status": status, "response": body})


def test_a_lone_logged_call_says_why_it_was_refused() -> None:
    words = (
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, "
    )
    body = {"object": "error", "code": 400, "message": f"{words}6048 in the completion)."}
    (line,) = told("call.jsonl", lone(400, body, max_tokens=6_048))
    assert "6,616 of 6,048 tokens, 6,048 of them for the reply; the other 568 fit" in line


def test_a_call_to_the_address_that_compacts_belongs_to_what_it_continues() -> None:
    call = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    usage = {"input_tokens": 900, "output_tokens": 10, "total_tokens": 910}
    answer = {"id": "resp_1", "object": "response", "model": "gpt-5.2", "output": [call], "usage": usage}
    base = "https://api.example.com/v1/responses"
    asked = {"model": "gpt-5.2", "input": [{"role": "user", "content": words(600)}]}
    first = {"url": base, "request": asked, "status": 200, "response": answer}
    refused = {"error": {"message": "No tool output found for function call c1.", "type": "invalid_request_error"}}
    second = {"url": f"{base}/compact", "request": {"model": "gpt-5.2", "previous_response_id": "resp_1"},
              "status": 400, "response": refused}  # fmt: skip
    (line,) = told("calls.jsonl", "\n".join(map(json.dumps, (first, second))))
    assert line.startswith("Compaction failed before request 2: a call and its result were parted")


def first_line(file: Claude) -> str:
    """What is said of a session of Claude Code."""
    weighed = file.weighed()
    return headline(weighed, verdicts_of(weighed))


@pytest.mark.parametrize(("pre", "threshold"), [(167_020, "167,000"), (156_000, "155,000")])
def test_a_threshold_that_was_passed_again_and_again_is_another_versions(pre: int, threshold: str) -> None:
    """Claude Code 2.1.1 compacts at 155,000 by its rule; one that did not is held against the later one too."""
    file = Claude("claude-opus-4-5")
    file.version = "2.1.1"
    file.until(pre, 1_500)
    file.compact("auto", pre=pre)
    line = first_line(file.turns(2, 300))
    assert f"threshold, {threshold}" in line or f"this version's threshold, {threshold}" in line, line
    assert "requests before" not in line


def test_a_compaction_right_after_another_model_was_taken_says_so() -> None:
    file = Claude("claude-opus-4-5").until(40_000)
    file.model = "claude-sonnet-4-5"
    file.compact("auto")
    line = first_line(file.turns(2, 300))
    assert "as the model was changed from claude-opus-4-5 to claude-sonnet-4-5" in line
    assert "(likely)" in line


def unread(n: int, *, reads: int = 4, write: int = 0) -> str:
    """Requests that read the cache, then some that read nothing, then one that reads again."""
    file = Claude("claude-opus-4-5")
    file.turns(reads, 500)
    fresh = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": write}
    for _ in range(n):
        file.turns(1, 500, **fresh, input_tokens=file.context)
    return first_line(file.turns(1, 500))


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        (unread(3), True),
        (unread(2), False),  # two in a row
        (unread(3, reads=1), False),  # two others read it, in all
        (unread(3, write=9_000), False),  # written anew, which is told otherwise
    ],
)
def test_requests_in_a_row_that_read_nothing_from_a_cache_that_others_read(line: str, is_told: bool) -> None:
    assert ("nothing was read from it on 3 requests in a row" in line) == is_told, line


@pytest.mark.parametrize(("context", "is_told"), [(79_900, True), (80_400, False)])
def test_a_refusal_far_under_the_window_does_not_say_why(context: int, is_told: bool) -> None:
    """Two fifths of a window that a table names: 80,000 of 200,000."""
    file = Claude("claude-opus-4-5").until(context - 200, 1_000)
    file.reply(cache_read_input_tokens=context - 503)
    file.prompt()
    file.refuse("Prompt is too long")
    line = first_line(file)
    assert ("of the window: why it was too long is not recorded" in line) == is_told, line
    assert ("compact earlier" in line) != is_told, line


@pytest.mark.parametrize(("prompts", "is_told"), [(2, True), (1, False)])
def test_prompts_that_nothing_answers_are_counted(prompts: int, is_told: bool) -> None:
    rows = [{"role": "_checkpoint", "id": 0}, *({"role": "user", "content": "hi"} for _ in range(prompts))]
    (line,) = told("context.jsonl", "\n".join(map(json.dumps, rows)))
    assert (f"{prompts} prompts stand in the file, and no answer" in line) == is_told


@pytest.mark.parametrize(("cleared", "is_told"), [(0.1, True), (0.11, False)])
def test_a_clearing_that_loses_the_cache_says_what_it_cost(cleared: float, is_told: bool) -> None:
    usages = [Usage(1_000), Usage(500, 99_500), Usage(90_000, round(cleared * 99_500))]
    requests = tuple(Request(n, n, usage) for n, usage in enumerate(usages))
    session = Transcript("s", "opencode", (), requests)
    assert bool(lost_by(session, 2)) == is_told
    assert lost_by(session, 1) == lost_by(session, 3) == 0
