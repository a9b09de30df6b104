"""The Gemini API: parts, pairs without ids, streams, checkpoints with a compressed start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "gemini_api"


def session(name: str) -> Transcript:
    with (FIXTURES / name).open("rb") as file:
        (found,) = read_transcripts(file, name).transcripts
    return found


def test_parts_of_a_request() -> None:
    request = session("request.json")
    kinds = [[str(leaf.kind) for leaf in message.leaves()] for message in request.messages]
    assert kinds == [
        ["text", "image", "document"], ["thinking", "tool_use", "tool_use"],
        ["tool_result", "tool_result", "text", "image"], ["text", "opaque"],
    ]  # fmt: skip
    image = request.messages[0].blocks[1].media
    assert image
    assert (image.media_type, image.width, image.height, image.problem) == ("image/png", 4, 2, "")
    assert request.messages[1].blocks[1].n_payload == 4
    assert [block.name for block in request.system] == ["", "look", "read"]
    assert (request.model, [r.message for r in request.requests]) == ("gemini-2.5-pro", [1, 3, None])


def test_calls_without_ids_are_paired_by_name_and_order() -> None:
    request = session("request.json")
    calls = [block.call_id for block in request.messages[1].blocks if block.kind is Kind.TOOL_USE]
    results = [block.call_id for block in request.messages[2].blocks]
    assert calls == results == ["look", "look#2"]
    assert [block.is_error for block in request.messages[2].blocks] == [False, True]


def test_usage_by_modality_and_thoughts() -> None:
    reply = session("response.json")
    assert [r.usage for r in reply.requests] == [Usage(3367, output=9)]
    assert reply.warnings == ("Input of resp-3367 by modality: IMAGE 3,354, TEXT 13",)
    talk = session("exchanges.json")
    assert [r.usage for r in talk.requests] == [Usage(100, output=25, reasoning=20), Usage(50, 90, output=3)]
    assert [r.message for r in talk.requests] == [1, 3]
    assert len(talk.messages) == 4
    assert talk.messages[2].blocks[0].n_chars == len('{"a":1,"b":2}')


def test_streamed_replies_are_one_text() -> None:
    stream = session("stream.json")
    assert [(m.preview, len(m.blocks)) for m in stream.messages] == [("One text", 1)]
    assert [r.usage for r in stream.requests] == [Usage(12, output=2)]
    calls = session("recorded_calls.jsonl")
    assert [r.usage for r in calls.requests] == [Usage(10, 40, output=8, reasoning=6), Usage(30, output=7)]
    with (FIXTURES / "recorded_calls.jsonl").open("rb") as file:
        thought, said = read_contents(file, "gemini_api", calls.messages[0])
    assert (thought.kind, thought.text, said.text) == (Kind.THINKING, "Think", "Said")


def test_a_state_snapshot_is_a_recorded_compression() -> None:
    checkpoint = session("checkpoint.json")
    (compaction,) = checkpoint.compactions
    assert (compaction.boundary, compaction.message, compaction.preserved, compaction.request) == (1, 1, (0,), 0)
    assert (compaction.outside, compaction.tokens_before) == (True, None)
    assert [(m.compaction, m.summary) for m in checkpoint.messages[:4]] == [
        (None, False), (0, True), (0, False), (None, False),
    ]  # fmt: skip
    assert [r.message for r in checkpoint.requests] == [4, 6], "the answer to the snapshot was never asked for"
    assert [(m.typed, m.meta) for m in checkpoint.messages[:4]] == [
        (False, True), (False, False), (False, False), (True, False),
    ]  # fmt: skip
    assert checkpoint.title == "Go on"
    assert checkpoint.messages[2].role is Role.ASSISTANT
    assert checkpoint.warnings == ("Results cleared before recording: 1; their content is not in this session",)
