"""Every reader hands on every event: what it says that files record is shown by a fixture, and no error is dropped."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.formats import UNKNOWN, Records
from sessions.engine.reading.formats._error_body import error_body
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.recorded_events import ErrorKind, EventKind
from sessions.engine.transcript.types import Transcript
from tests.engine.test_formats_contract import FILES, FORMATS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHAPES = frozenset(
    {"error", "errorMessage", "error_message", "errorDetails", "streamingFailedMessage", "compact_error",
     "errorReason", "failure", "statusMessage"}
)  # fmt: skip
"""Names under which some recorder keeps an error."""
OF_TOOLS = frozenset(
    {"functionResponse", "toolResult", "toolCall", "run", "state", "tool_result", "result_of", "invalid_tool_calls"}
)
"""Above it, an error is a tool's: it stands in the message that the model reads."""
READ_BY_THE_MODEL = {
    "ai_sdk/results.jsonl": "a step's part of type tool-error is its tool's result",
    "smolagents/ledger.json": "the error of a step with an output goes back to the model",
    "agents_sdk/tool_failed.jsonl": "a function's span has its error",
    "browser_use/history.json": "what went wrong in a step is told to the model",
    "openhands/events_v1.jsonl": "an AgentErrorEvent is told to the model",
    "inspect/log.json": "a tool's message has its error",
    "mastra/trace.json": "a tool's span has its error",
    "gemini_cli/stream_json.jsonl": "a tool_result has its error",
    "vscode_chat/log.jsonl": "a later line of the log takes the request away again",
    "copilot_cli/compaction.jsonl": "a tool.execution_complete has its error",
}
EVENTS = {
    EventKind.SETTINGS: "window",
    EventKind.RETRY: "retry", EventKind.INTERRUPTION: "interruption", EventKind.SESSION_END: "end",
    EventKind.COMPACTION_LEFT: "compaction",
    EventKind.ERROR: "error", EventKind.COMPACTION_STARTED: "begun", EventKind.COMPACTION_CANCELLED: "begun",
}  # fmt: skip


@cache
def sessions(path: Path) -> tuple[Transcript, ...]:
    parsed = read_transcripts(io.BytesIO(path.read_bytes()), path.name)
    return (*parsed.transcripts, *parsed.alternatives)


def shown(session: Transcript) -> set[str]:
    """What a session shows, in the names of ``Records``."""
    # That a reply was cut off, and the limits that a file sets, are looked for in every format alike.
    alike = EventKind.REPLY_CUT, EventKind.LIMIT_SET, EventKind.CONTEXT_LISTED
    told = [EventKind(event.kind) for event in session.events if event.kind not in alike]
    found = {EVENTS[kind] for kind in told}
    found |= {
        "failed" if error.kind == ErrorKind.COMPACTION or error.of_compaction else "error" for error in session.errors
    }
    found |= {"compaction"} if session.compactions else set()
    found |= {"who"} if any(compaction.trigger for compaction in session.compactions) else set()
    found |= {"clearing"} if session.clearings else set()
    found |= {"window"} if session.window or any(request.window for request in session.requests) else set()
    found |= {"threshold"} if session.trigger_at or session.events_at else set()
    return found | ({"model"} if any(request.model for request in session.requests) else set())


@pytest.mark.parametrize("name", FORMATS)
def test_where_a_format_says_that_an_event_stands_a_fixture_has_it(name: str) -> None:
    coverage = getattr(registry.get("formats", name), "coverage", UNKNOWN)
    said = {field.name for field in fields(Records) if getattr(coverage, field.name)}
    found = set().union(*(shown(session) for of, path in FILES if of == name for session in sessions(path)))
    assert said - found == set(), "no fixture shows these"
    assert found - said == set(), "fixtures show these, which its records call not recorded"


def errors_in(value: Any) -> Iterator[str]:
    """The words of everything in a document that has the shape of an error, those of tools apart."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, dict):
        for key, held in value.items():
            if key in SHAPES and held and not isinstance(held, (bool, int)):
                body = error_body(held)
                yield from (body.words,) if body.words else body.codes
            elif key not in OF_TOOLS:
                yield from errors_in(held)
    elif isinstance(value, list):
        for held in value:
            yield from errors_in(held)


def documents(path: Path) -> Iterator[Any]:
    data = path.read_bytes()
    for text in (data, *data.splitlines()):
        try:
            yield json.loads(text)
        except ValueError:
            continue
        if text is data:
            return


@pytest.mark.parametrize(("name", "path"), TEXTS, ids=[f"{name}/{path.name}" for name, path in TEXTS])
def test_no_record_with_the_shape_of_an_error_is_ignored(name: str, path: Path) -> None:
    if f"{name}/{path.name}" in READ_BY_THE_MODEL:
        pytest.skip(READ_BY_THE_MODEL[f"{name}/{path.name}"])
    told = [f"{told.words} {told.code}" for session in sessions(path) for told in (*session.errors, *session.events)]
    # Of errors told several times before one answer the first that gives figures stays.
    heard = {words for document in documents(path) for words in errors_in(document)}
    lost = {words for words in heard if not any(words[:40] in text or text.strip()[:40] in words for text in told)}
    assert {words for words in lost if " " in words} == set()
    assert told or not heard


def test_a_retry_without_a_word_is_a_retry() -> None:
    (path,) = [path for of, path in FILES if (of, path.name) == ("claude_code", "events.jsonl")]
    told = [(event.kind, event.code, event.status, event.request) for event in sessions(path)[0].events]
    assert told[:2] == [("retry", "overloaded_error", 529, 0), ("retry", "", 0, 0)]
    assert [kind for kind, *_ in told[2:]] == ["interruption", "error", "session end"]


def test_what_no_reader_knows_is_counted_by_its_type() -> None:
    (path,) = [path for of, path in FILES if (of, path.name) == ("acp", "events.jsonl")]
    assert "1 record of type 'leaf_update' was not read" in sessions(path)[0].warnings


@pytest.mark.parametrize("words", ["413 Request too large for the tier: Limit 10000 tokens per minute", "overloaded"])
def test_a_try_that_cline_writes_down_twice_counts_once(words: str) -> None:
    """As the request's own failure and as a question; two tries of one request are told apart by what is between."""
    started = {"type": "say", "say": "api_req_started", "ts": 1_700_000_000_001}
    failed = {"type": "ask", "ask": "api_req_failed", "ts": 1_700_000_000_002, "text": json.dumps({"message": words})}
    again = {"type": "say", "say": "api_req_retried", "ts": 1_700_000_000_003}
    body = {"request": "Sail.", "streamingFailedMessage": failed["text"]}
    said = {"type": "say", "say": "task", "ts": 1_700_000_000_000, "text": "Sail."}
    entries = [said, {**started, "text": json.dumps(body)}, failed, again, failed]
    (session,) = read_transcripts(io.BytesIO(json.dumps(entries).encode()), "ui_messages.json").transcripts
    assert [(event.kind, event.words, event.count) for event in session.events] == [(EventKind.ERROR, words, 2)]
