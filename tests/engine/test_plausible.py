"""Figures that no call can have are not measured: they are left out, and the session and the file say so."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.understood import plausible
from sessions.engine.transcript.types import Parsed, RecordedCompaction, Request, Transcript, Usage
from sessions.engine.why.document import why_document
from tests.engine.test_growth import MOST, work

if TYPE_CHECKING:
    from collections.abc import Callable

BAD = {
    "usages": lambda n: {"requests": tuple(Request(k, k, Usage(input=-5, output=k)) for k in range(n))},
    "marks": lambda n: {"compactions": tuple(RecordedCompaction(k, k, k, "auto", -5, k) for k in range(n))},
}
"""Parts of a session with figures that cannot be, so many of them and no two alike."""


def claude(usage: dict[str, Any]) -> bytes:
    lines = [
        {"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": "Go"}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s",
         "message": {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage,
                     "content": [{"type": "text", "text": "Done"}]}},
    ]  # fmt: skip
    return b"\n".join(json.dumps(line).encode() for line in lines)


def codex(window: int) -> bytes:
    info = {"model_context_window": window, "last_token_usage": {"input_tokens": 10, "output_tokens": 5}}
    said = [("user", "input_text"), ("assistant", "output_text")]
    lines = [
        {"type": "session_meta", "payload": {"id": "s"}},
        *({"type": "response_item",
           "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": "Go"}]}}
          for role, kind in said),
        {"type": "event_msg", "payload": {"type": "token_count", "info": info}},
    ]  # fmt: skip
    return b"\n".join(json.dumps(line).encode() for line in lines)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 2**63 - 1, "output_tokens": 5},
        {"input_tokens": 10, "output_tokens": 10**400},
        {"input_tokens": 10, "output_tokens": MAX_TOKENS + 1},
        {"input_tokens": -1, "output_tokens": 5},
        {"input_tokens": 10, "cache_read_input_tokens": -(2**63), "output_tokens": 5},
        {"input_tokens": MAX_TOKENS, "cache_read_input_tokens": MAX_TOKENS, "output_tokens": 5},
    ],
)
def test_usage_that_cannot_be_is_not_measured(usage: dict[str, Any]) -> None:
    parsed = read_transcripts(io.BytesIO(claude(usage)), "s.jsonl")
    (session,) = parsed.transcripts
    assert [request.usage for request in session.requests] == [None]
    assert any("Usage not used, request 0" in note for note in session.warnings)
    assert any("Usage not used, request 0" in note for note in parsed.warnings)
    assert why_document(parsed)["sessions"]


def test_a_large_but_possible_usage_stays() -> None:
    parsed = read_transcripts(io.BytesIO(claude({"input_tokens": MAX_TOKENS, "output_tokens": 5})), "s.jsonl")
    (request,) = parsed.transcripts[0].requests
    assert request.usage
    assert request.usage.input == MAX_TOKENS
    assert not parsed.warnings


@pytest.mark.parametrize("window", [-5, 10**9, 2**63, 10**400])
def test_a_window_that_cannot_be_is_not_taken(window: int) -> None:
    parsed = read_transcripts(io.BytesIO(codex(window)), "rollout.jsonl")
    assert parsed.transcripts[0].window is None
    assert any("context window not used" in note for note in parsed.warnings)


@pytest.mark.parametrize("what", [("usages",), ("marks",), ("usages", "marks")], ids=" and ".join)
def test_leaving_out_grows_with_what_is_left_out(what: tuple[str, ...]) -> None:
    def leaving(n: int) -> Callable[[], object]:
        facts = {name: value for one in what for name, value in BAD[one](n).items()}
        parsed = Parsed(format="claude_code", transcripts=(Transcript("s", "claude_code", (), **facts),))
        return lambda: plausible(parsed)

    small, large = (work(leaving(n)) for n in (1_000, 2_000))
    assert large <= MOST * small, (small, large)
