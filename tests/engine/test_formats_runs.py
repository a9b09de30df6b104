"""LangSmith runs and Braintrust spans on our own files: no shared sample holds either."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sessions.engine.reading.jsonio import dumps, loads
from sessions.engine.reading.reading import read_transcripts
from tests.engine.test_formats_contract import FIXTURES
from tests.engine.truth_facts import fixture

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript


def shape(session: Transcript) -> str:
    """Roles and kinds of blocks, in order."""
    return " | ".join(f"{m.role}: {', '.join(str(b.kind) for b in m.blocks)}" for m in session.messages)


def used(session: Transcript) -> list[tuple[int, int, int]]:
    return [(r.usage.context, r.usage.cache_read, r.usage.output) for r in session.requests if r.usage]


def test_runs_of_langsmith_are_one_session_of_their_trace() -> None:
    whole = fixture("langsmith/runs.jsonl")
    (session,) = whole.transcripts
    assert shape(session) == (
        "system: text | user: text | assistant: tool_use | user: tool_result | assistant: tool_use | user: tool_result"
    )
    assert used(session) == [(50, 20, 6), (80, 0, 5)], "the reply's own counts, else the run's"
    assert session.messages[-1].preview == "fetched", "told by the tool's run, for no later call sends it"
    assert (session.id, session.model, [block.name for block in session.system]) == ("tr1", "gpt-4o", ["find"])
    assert whole.warnings == ("Runs that are no requests: 3",)


def test_a_run_that_was_refused_for_its_size_is_no_request() -> None:
    (session,) = fixture("langsmith/runs.jsonl").transcripts
    (error,) = session.errors
    assert (error.kind, error.limit, error.request) == ("context", 8192, 2)
    assert len(session.requests) == 2


def test_a_page_of_runs_holds_those_inside_them() -> None:
    (session,) = fixture("langsmith/page.json").transcripts
    assert (session.id, session.model, used(session)) == ("tr2", "gpt-5", [(7, 0, 2)])
    assert [m.preview for m in session.messages] == ["Hello", "Hi."]


def test_a_runs_end_may_come_after_it_in_a_record_or_a_batch_of_its_own() -> None:
    (session,) = fixture("langsmith/client_batches.jsonl").transcripts
    assert [m.preview for m in session.messages] == [
        "Where is the kettle?",
        "On the stove.",
        "And the cups?",
        "Beside it.",
    ]
    assert used(session) == [(30, 0, 5), (50, 0, 4)]


def test_a_trace_whose_first_model_call_comes_late_is_langsmiths() -> None:
    """One long run of a chain fills the head; what it was given is a chat set's record to the letter."""
    lines = (FIXTURES / "langsmith" / "runs.jsonl").read_bytes().splitlines(keepends=True)
    root = loads(lines[0]) | {"inputs": {"messages": [{"role": "user", "content": "hat " * 300_000}]}}
    data = io.BytesIO(dumps(root).encode() + b"\n" + b"".join(lines[1:]))
    parsed = read_transcripts(data, "runs.jsonl")
    assert (parsed.format, len(parsed.transcripts[0].requests)) == ("langsmith", 2)


def test_spans_of_braintrust_are_one_session_of_their_root() -> None:
    whole = fixture("braintrust/spans.jsonl")
    (session,) = whole.transcripts
    assert shape(session) == "system: text | user: text | assistant: tool_use | user: tool_result | assistant: text"
    assert used(session) == [(40, 10, 6), (60, 0, 4)]
    assert (session.id, session.model) == ("r1", "gpt-4o")
    assert whole.warnings == ("Spans that are no requests: 2",)
