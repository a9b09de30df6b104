"""What first lines say by other counts than the provider's: a table's window, an agent's own, an answer's tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.reading.formats._error_body import error_body
from sessions.engine.weigh.calibration import context_windows as windows
from sessions.engine.why.causes_floor import freed
from tests.engine.test_why_evidence import calls, error, exchange, told

INFO = model_info("desk-7b")


@pytest.mark.parametrize(
    ("source", "whose"),
    [
        (windows.RECORDED, "the"), (windows.REFUSAL, "the"), (windows.ANSWER, "the"), (windows.DEFAULT, "the"),
        (windows.CLIENT, "the client's"), (windows.MODEL, "the model's"), (windows.LONG, "the model's"),
    ],
)  # fmt: skip
def test_a_window_that_a_table_alone_names_is_the_models(source: str, whose: str) -> None:
    assert windows.ModelWindow(INFO, 100_000, source).whose == whose


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (999, "it freed next to nothing"),
        (1_000, "it freed nothing"),
        (1_020, "it freed nothing"),
        (1_021, "it freed nothing, and made the context larger"),
    ],
)
def test_what_a_compaction_came_to(after: int, says: str) -> None:
    assert freed(1_000, after) == says
    assert freed(1_000, 1_001, larger=1).endswith("larger")


@pytest.mark.parametrize(
    ("words", "status"),
    [("404 page not found", 404), ("Context size increased from 404 to 17133", 0), ("it had 413 tokens", 0)],
)
def test_a_status_is_no_count(words: str, status: int) -> None:
    assert error_body(words).status == status


def answers(*sizes: tuple[int, int]) -> str:
    """Calls of one conversation, each with the tokens of its prompt and its answer."""
    messages: list[dict[str, Any]] = []
    lines = []
    for n, (sent, made) in enumerate(sizes):
        messages.append({"role": "user", "content": f"And street {n}?"})
        said = {"role": "assistant", "content": f"It is the one behind house {n}."}
        usage = {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        body = {"id": f"r{n}", "object": "chat.completion", "model": "desk-7b", "choices": [choice], "usage": usage}
        lines.append(exchange(n, [*messages], 200, body))
        messages.append(said)
    return "\n".join(lines)


@pytest.mark.parametrize(("made", "is_told"), [(114, False), (115, False), (116, True)])
def test_a_prompt_smaller_than_the_answer_before_it_did_not_hold_it(made: int, *, is_told: bool) -> None:
    (line,) = told("calls.jsonl", answers((14, made), (15, 20)))
    assert (f"Request 1 had 15 tokens, the answer before it alone {made}" in line) == is_told, line


def test_a_failed_compaction_that_took_its_list_for_far_less() -> None:
    """More than ten times as much was sent."""
    words = "Context size increased from {} to 17133 during condensing; skipping this attempt"
    for before, is_wrong in ((404, True), (8_399, True), (8_400, False)):
        entry = {"ts": 1_790_000_000_000, "type": "say", "say": "condense_context_error", "text": words.format(before)}
        started = {"tokensIn": 84_000, "tokensOut": 90, "cacheReads": 0, "cacheWrites": 0, "request": "<task>x</task>"}
        rows = [
            {"ts": 1_789_999_998_000, "type": "say", "say": "text", "text": "Sort the ledger."},
            {"ts": 1_789_999_999_000, "type": "say", "say": "api_req_started", "text": json.dumps(started)},
            {"ts": 1_789_999_999_500, "type": "say", "say": "text", "text": "I begin."},
            entry,
        ]
        (line,) = told("ui_messages.json", json.dumps(rows))
        assert (f"took the context for {before:,} tokens, the request before had 84,000" in line) == is_wrong, line


def test_a_file_with_an_error_never_says_that_it_has_none() -> None:
    assert told("calls.jsonl", calls([30_000, 31_000], 0, {}))[0].endswith("No error is recorded.")
    assert "No error is recorded" not in told("calls.jsonl", calls([30_000, 31_000], 500, error("overloaded")))[0]
