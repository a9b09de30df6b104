"""Gemini CLI: the old file, the log with its rewinds and replacements, the events of a run."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage
from tests.engine.truth_facts import fixture

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "gemini_cli"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def session(name: str) -> Transcript:
    (found,) = parsed(name).transcripts
    return found


def test_a_record_is_a_reply_and_its_results() -> None:
    old = session("session.json")
    assert [message.id for message in old.messages] == ["m1", "m3", "m3.results", "m4", "m6", "m7"]
    kinds = [[str(leaf.kind) for leaf in message.leaves()] for message in old.messages[:3]]
    assert kinds == [
        ["text", "image"], ["thinking", "text", "tool_use", "tool_use", "tool_use", "tool_use"],
        ["tool_result", "tool_result", "text", "image", "tool_result"],
    ]  # fmt: skip
    assert sorted(old.messages[1].call_ids()) == ["c1", "c2", "c3", "c4"]
    assert [(block.call_id, block.is_error) for block in old.messages[2].blocks] == [
        ("c1", False), ("c2", False), ("c3", True),
    ]  # fmt: skip
    assert (old.id, old.title, old.model) == ("gem-1", "What is in these?", "gemini-2.5-pro")
    assert old.warnings == ("Records for the screen (info, error, warning): 2, not context",)
    with (FIXTURES / "session.json").open("rb") as file:
        thought, *_ = read_contents(file, "gemini_cli", old.messages[1])
    assert (thought.kind, thought.text) == (Kind.THINKING, "Reading\nboth files")


def test_tokens_of_a_record_include_the_cached_ones() -> None:
    old = session("session.json")
    assert [(r.message, r.usage) for r in old.requests] == [
        (1, Usage(700, 300, 0, 27, reasoning=7)), (3, Usage(300, 900, 0, 5)), (5, None),
    ]  # fmt: skip


def test_the_last_writing_of_a_record_counts_and_a_rewind_takes_off() -> None:
    log = session("log.jsonl")
    assert [message.id for message in log.messages] == [
        "a1", "a2", "a2.results", "a3", "a6", "a7", "s1", "s2", "a8", "a9",
    ]  # fmt: skip
    assert [(r.message, r.on_branch, r.usage and r.usage.context) for r in log.requests] == [
        (1, True, 100), (3, True, 140), (None, False, 160), (5, True, 161), (9, True, 70),
    ]  # fmt: skip
    assert log.messages[2].preview == "a b"
    assert log.title == "A short session"
    assert log.warnings == (
        "Records for the screen (info, error, warning): 1, not context",
        "Messages that a rewind took off: 2; their requests are counted",
    )
    assert [skipped.reason for skipped in parsed("log.jsonl").skipped] == [
        "neither a record of a message nor a change to one"
    ]


def test_a_replaced_list_is_a_compression() -> None:
    log = session("log.jsonl")
    (compaction,) = log.compactions
    assert (compaction.boundary, compaction.preserved, compaction.message, compaction.request) == (6, (4, 5), 6, 4)
    assert (compaction.tokens_before, compaction.tokens_after) == (169, 70)
    assert [(m.compaction, m.summary) for m in log.messages[6:9]] == [(0, True), (0, False), (None, False)]


def test_events_of_a_run() -> None:
    run = session("stream_json.jsonl")
    assert [(message.role, len(message.blocks)) for message in run.messages] == [
        (Role.USER, 1), (Role.ASSISTANT, 3), (Role.USER, 1), (Role.USER, 1), (Role.ASSISTANT, 1),
    ]  # fmt: skip
    assert run.messages[1].preview == "I will look. · ls: /x · ls: {}"
    assert [origin.line for origin in run.messages[1].origins] == [3, 4, 5, 6]
    assert [sorted(message.result_ids()) for message in run.messages[2:4]] == [["t1"], ["t2"]]
    assert run.messages[3].blocks[0].is_error
    assert [(r.message, r.usage) for r in run.requests] == [(1, None), (4, None)]
    assert run.warnings == ("The run reports only its total: 300 input and 30 output tokens over 2 requests",)
    assert (run.id, run.model) == ("run-1", "gemini-2.5-flash")


def test_the_total_of_a_run_with_one_reply_is_its_usage() -> None:
    run = session("stream_json_one_reply.jsonl")
    assert [r.usage for r in run.requests] == [Usage(30, 20, 0, 10, reasoning=6)]
    assert not run.warnings


def test_every_run_behind_a_preamble_is_a_session_and_its_total_its_own() -> None:
    whole = fixture("gemini_cli/stream_json_preamble.jsonl")
    first, second = whole.transcripts
    assert len(whole.skipped) == 2, "a line of text, and a line of the runner's"
    assert [(t.id, t.model, len(t.messages)) for t in whole.transcripts] == [
        ("run-a", "gemini-2.5-pro", 2),
        ("run-b", "gemini-2.5-flash", 4),
    ]
    (usage,) = [request.usage for request in first.requests]
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output) == (45, 5, 10)
    assert second.warnings == ("The run reports only its total: 80 input and 10 output tokens over 2 requests",)


def test_masked_results_are_a_clearing_and_the_messages_keep_what_was_sent() -> None:
    """Before the clearing 5,000 tokens were sent, after it 2,100 (formats 8; policies 7.2)."""
    masked = session("masked.jsonl")
    (clearing,) = masked.clearings
    assert (clearing.request, clearing.message, clearing.n_cleared) == (3, 7, 2)
    results = [m for m in masked.messages if m.result_ids()]
    assert set(clearing.calls) == results[0].result_ids() | results[1].result_ids()
    assert masked.compactions == ()
    assert [r.usage.context if r.usage else None for r in masked.requests] == [1000, 3000, 5000, 2100]
    assert [m.blocks[0].n_chars for m in masked.messages if m.blocks[0].kind is Kind.TOOL_RESULT] == [5600, 5200, 7]
    assert all(request.on_branch for request in masked.requests)


def test_a_list_that_changes_more_than_masks_is_no_clearing() -> None:
    """A prompt changed beside the masks: a new list, as after a compression."""
    data = (FIXTURES / "masked.jsonl").read_bytes()
    head, line, rest = data.partition(b'{"$set"')
    changed = head + line + rest.replace(b"Why does the build fail?", b"What then?")
    (other,) = read_transcripts(io.BytesIO(changed), "log.jsonl").transcripts
    assert (other.clearings, len(other.compactions)) == ((), 1)


def test_a_prompt_that_a_runner_wrote_before_the_run_counts_once() -> None:
    whole = fixture("gemini_cli/stream_json_runner_prompt.jsonl")
    (run,) = whole.transcripts
    assert [m.blocks[0].kind for m in run.messages] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_RESULT, Kind.TEXT]
    assert (whole.skipped, run.gaps) == ((), ())
    assert run.warnings[0] == "Prompts that a runner wrote before the run, which has its own: 1"


NOTE = (
    "IMPORTANT: This conversation approached the input token limit for gemini-3-pro. A compressed context will be sent "
    "for future messages (compressed from: 734,210 to 98,304 tokens)."
)
SNAPSHOT = [{"id": "s1", "type": "user", "content": [{"text": "<state_snapshot>Mapped.</state_snapshot>"}]}]


def told(*lines: dict[str, Any]) -> Transcript:
    """A log: a reply at 734,000 tokens, what ``lines`` add, a prompt and its reply at 99,000."""
    tokens = {"output": 4, "cached": 0, "thoughts": 0, "tool": 0}
    first = [
        {"sessionId": "g", "projectHash": "ab", "kind": "main"},
        {"id": "u1", "type": "user", "content": [{"text": "Map the cellar."}]},
        {"id": "m1", "type": "gemini", "content": "Mapped.", "model": "gemini-3-pro",
         "tokens": {**tokens, "input": 734_000}},
        {"id": "u2", "type": "user", "content": [{"text": "Map the attic."}]},
    ]  # fmt: skip
    last = {
        "id": "m2",
        "type": "gemini",
        "content": "Mapped.",
        "model": "gemini-3-pro",
        "tokens": {**tokens, "input": 99_000},
    }
    body = "".join(dumps(line) + "\n" for line in [*first, *lines, last])
    return read_transcripts(io.BytesIO(body.encode()), "g.jsonl").transcripts[0]


def test_a_note_gives_the_figures_of_the_compression_that_a_new_list_shows() -> None:
    note, patch = {"id": "i", "type": "info", "content": NOTE}, {"$set": {"messages": SNAPSHOT}}
    for lines in ((note, patch), (patch, note)):
        (compaction,) = told(*lines).compactions
        figures = (compaction.trigger, compaction.tokens_before, compaction.tokens_after, compaction.request)
        assert figures == ("auto", 734_210, 99_000, 1)


def test_a_note_alone_is_a_compression_before_the_waiting_prompt() -> None:
    (compaction,) = told({"id": "i", "type": "info", "content": NOTE}).compactions
    assert (compaction.boundary, compaction.request, compaction.tokens_before) == (2, 1, 734_210)


def test_a_note_without_figures_is_none() -> None:
    assert told({"id": "i", "type": "info", "content": NOTE.replace("734,210", "unknown")}).compactions == ()
