"""Codex rollouts: what is context, what a call is, what a compaction kept."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.base import registry
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage
from sessions.engine.weigh.calibration.calibrate import weigh

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "codex"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def session(name: str) -> Transcript:
    (found,) = parsed(name).transcripts
    return found


def test_only_response_items_are_context_and_each_is_a_message() -> None:
    rollout = session("rollout.jsonl")
    kinds = [[str(block.kind) for block in message.blocks] for message in rollout.messages[:10]]
    assert kinds == [
        ["text"], ["text"], ["text", "image"], ["thinking"], ["tool_use"], ["text"], ["tool_use"], ["tool_use"],
        ["tool_result"], ["tool_result"],
    ]  # fmt: skip
    assert [message.role for message in rollout.messages[:3]] == [Role.SYSTEM, Role.USER, Role.USER]
    assert [(message.typed, message.meta) for message in rollout.messages[:3]] == [
        (False, False), (False, True), (True, False),
    ]  # fmt: skip
    assert rollout.title == "Make the button blue"
    assert (rollout.n_images, rollout.n_tool_calls) == (2, 4)
    assert [block.n_chars for block in rollout.system] == [31]
    assert (rollout.client, rollout.model) == ("0.144.1", "gpt-5.3-codex")


def test_a_call_is_the_run_of_items_before_its_token_count_and_counts_once() -> None:
    rollout = session("rollout.jsonl")
    assert [(r.message, r.n_messages, r.on_branch, r.model) for r in rollout.requests] == [
        (3, 5, True, "gpt-5.2-codex"),
        (10, 2, True, "gpt-5.2-codex"),
        (17, 1, True, "gpt-5.3-codex"),
        (None, 1, False, "gpt-5.3-codex"),
        (18, 1, True, "gpt-5.3-codex"),
    ]
    assert [r.usage for r in rollout.requests] == [
        Usage(800, 200, 0, 50, reasoning=20), Usage(400, 900, 0, 40, reasoning=10), Usage(600, 0, 0, 10),
        Usage(200, 500, 0, 5), None,
    ]  # fmt: skip
    assert rollout.window == 100_000
    assert rollout.warnings == (
        "Replies aborted or failed without usage: 1; not counted as requests",
        "Requests whose reply is not among the messages (rolled back or not recorded): 1, counted",
    )
    assert parsed("rollout.jsonl").warnings == (
        "1 record of type 'a_type_of_tomorrow' was not read",
        "Token counts that repeat the call before: 1, counted once",
        "Token counts without a call (the client's estimate): 1, not counted",
    )


def test_a_usage_record_beside_a_token_count_is_known_and_counts_no_call_twice() -> None:
    lines = (FIXTURES / "rollout.jsonl").read_bytes().splitlines(keepends=True)
    usage = {"input_tokens": 1000, "cached_input_tokens": 200, "output_tokens": 50, "total_tokens": 1050}
    payload = {"response_id": "resp_1", "usage": usage, "turn_token_usage": usage, "thread_token_usage": usage}
    record = json.dumps({"type": "token_usage_record", "payload": payload}).encode() + b"\n"
    at = next(i for i, line in enumerate(lines) if b"total_token_usage" in line)
    read = read_transcripts(io.BytesIO(b"".join([*lines[:at], record, *lines[at:]])), "rollout.jsonl")
    assert read.transcripts[0].requests == session("rollout.jsonl").requests
    assert read.warnings == parsed("rollout.jsonl").warnings


def test_a_replacement_history_keeps_what_equals_an_original() -> None:
    rollout = session("rollout.jsonl")
    (compaction,) = rollout.compactions
    assert (compaction.boundary, compaction.request, compaction.message) == (15, 2, 16)
    assert compaction.preserved == (2, 12, 14)
    assert (compaction.tokens_before, compaction.tokens_after) == (1340, 600)
    made = [(m.index, m.compaction, m.summary, m.role) for m in rollout.messages if m.compaction is not None]
    assert made == [(15, 0, False, Role.SYSTEM), (16, 0, True, Role.USER)]
    summary = rollout.messages[16].blocks[0]
    assert (summary.kind, summary.name, summary.n_payload) == (Kind.OPAQUE, "compaction", 14)


def test_an_unknown_item_is_opaque_with_its_bytes() -> None:
    last = session("rollout.jsonl").messages[-1]
    assert [(block.kind, block.name, block.n_payload) for block in last.blocks] == [
        (Kind.OPAQUE, "an_item_of_tomorrow", 10)
    ]
    assert last.blocks[0].n_bytes == len('{"type":"an_item_of_tomorrow","secret":"?"}')


def test_a_compaction_without_a_history_keeps_the_prompts() -> None:
    agent = session("subagent_old_compaction.jsonl")
    (compaction,) = agent.compactions
    assert agent.parent_id == "0199aaaa-0000-7000-8000-000000000001"
    assert (compaction.boundary, compaction.preserved, compaction.message) == (5, (0, 1), 5)
    assert (compaction.tokens_before, compaction.request, compaction.tokens_after) == (555, 2, 300)
    assert agent.messages[5].preview == "Another model began this. It counted two files."
    assert (agent.messages[2].blocks[0].name, agent.messages[2].blocks[0].target) == ("local_shell", "ls -1")


def test_rollouts_before_the_envelope_are_read_too() -> None:
    found = parsed("bare_items.jsonl")
    (old,) = found.transcripts
    assert [message.id for message in old.messages] == ["L3", "rs_9", "fc_9", "L7", "msg_9"]
    assert [(r.message, r.n_messages, r.usage) for r in old.requests] == [(1, 2, None), (4, 1, None)]
    assert [skipped.reason for skipped in found.skipped] == ["truncated last line: JSON is cut off"]
    with (FIXTURES / "bare_items.jsonl").open("rb") as file:
        (call,) = read_contents(file, "codex", old.messages[2])
    assert (call.name, call.text, call.call_id) == ("shell", "{not json", "c9")


def test_a_reply_of_several_messages_shares_its_output_out() -> None:
    rollout = session("rollout.jsonl")
    weighed = weigh(rollout)
    assert sum(weighed.tokens[3:8]) == 50
    assert sum(weighed.tokens[10:12]) == 40
    assert weighed.tokens[10] > weighed.tokens[11], "what no text explains is the hidden reasoning"
    assert weighed.block_tokens(rollout.messages[10]) == {"thinking": weighed.tokens[10]}
    assert unpack(pack(rollout)) == rollout


def test_two_records_on_one_line_are_sniffed_without_counting_lines() -> None:
    """More values than lines: a record is not looked for at its position among the lines."""
    line = b'{"x": 1}{"timestamp": "t", "type": "session_meta", "payload": {"id": "a"}}\n'
    guess = registry.get("formats", "codex").sniff(Source(io.BytesIO(line)).head())
    assert guess
    assert (guess.score, guess.reason) == (95, "1 of the first 2 records have a type, as session_meta, and a payload")
