"""The AI SDK's messages, on small files of our own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Content, Kind, Role, Transcript, Usage

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "ai_sdk"


def session(name: str) -> Transcript:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts[0]


def contents(name: str, index: int) -> tuple[Content, ...]:
    with (FIXTURES / name).open("rb") as file:
        return read_contents(file, "ai_sdk", session(name).messages[index])


@pytest.mark.parametrize("name", ["model.json", "model.jsonl"])
def test_model_messages_are_what_was_sent(name: str) -> None:
    found = session(name)
    assert [m.role for m in found.messages[:4]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert [r.message for r in found.requests] == [2, 4, 6]
    assert (found.n_tool_calls, found.n_images) == (3, 2)
    assert not any(b.kind is Kind.OPAQUE for m in found.messages for b in m.leaves())
    done, failed = contents(name, 3)
    assert (done.text, done.call_id, done.is_error) == ('{"c":12}', "c1", False)
    assert (failed.text, failed.call_id, failed.is_error) == ("no data", "c2", True)


def test_pictures_as_bytes_and_in_results_have_their_size() -> None:
    media = [b.media for m in session("model.json").messages for b in m.leaves() if b.kind is Kind.IMAGE]
    assert [(m.media_type, m.width) for m in media if m] == [("image/png", 1)] * 2


def test_a_ui_message_is_divided_into_steps_with_their_results() -> None:
    found = session("ui.json")
    assert [(m.id, m.role.value) for m in found.messages] == [
        *(("u1", "user"), ("a1", "assistant"), ("a1.results", "user"), ("a1.1", "assistant")),
        *(("u2", "user"), ("a2", "assistant"), ("a2.results", "user"), ("a2.1", "assistant")),
    ]
    assert [r.message for r in found.requests] == [1, 3, 5, 7]
    assert [m.typed for m in found.messages] == [True, False, False, False, True, False, False, False]
    assert (found.id, found.title) == ("chat-1", "Weather")


def test_calls_and_results_of_ui_parts() -> None:
    _, weather, named = contents("ui.json", 1)
    assert [(c.name, c.call_id, c.text) for c in (weather, named)] == [
        ("weather", "c1", '{"city":"Bonn"}'),
        ("map", "c2", '{"q":"x"}'),
    ]
    done, failed = contents("ui.json", 2)
    assert [(c.text, c.is_error) for c in (done, failed)] == [('{"c":12}', False), ("no map", True)]
    assert [c.call_id for c in contents("ui.json", 3) if c.kind is Kind.TOOL_USE] == ["c3"]


def test_what_is_not_sent_and_sums_are_said() -> None:
    assert session("ui.json").warnings == (
        "Parts that are shown and never sent: 1",
        "Messages with usage in their metadata: 1; the sums are not used",
    )
    assert not any(request.usage for request in session("ui.json").requests)


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Ho"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
    ],
)
def test_other_messages_are_not_taken(document: Any) -> None:
    assert registry.get("formats", "ai_sdk").sniff(Source(io.BytesIO(dumps(document).encode())).head()) is None


def test_each_step_of_a_result_is_a_request_and_the_total_its_sum() -> None:
    with (FIXTURES / "results.jsonl").open("rb") as file:
        five, four = read_transcripts(file, "results.jsonl").transcripts
    assert [[str(block.kind) for block in message.blocks] for message in five.messages] == [
        ["thinking", "text", "tool_use", "tool_use"], ["tool_result", "tool_result"], ["text"],
    ]  # fmt: skip
    assert [block.is_error for block in five.messages[1].blocks] == [False, True]
    assert [request.usage for request in five.requests] == [
        Usage(700, cache_read=400, output=30, reasoning=8), Usage(9, cache_read=1_000, cache_write=291, output=20),
    ]  # fmt: skip
    assert five.warnings == ("totalUsage has 2,400 input tokens, the sum of 2 steps and no size",)
    assert [event.kind for event in five.events] == ["session end"]
    assert [message.call_ids() | message.result_ids() for message in four.messages] == [{"w1"}, {"w1"}, set()]
    assert [(r.usage.context, r.usage.output) for r in four.requests if r.usage] == [(60, 7), (90, 5)]
    with (FIXTURES / "results.jsonl").open("rb") as file:
        found = [read_contents(file, "ai_sdk", message) for message in (five.messages[1], four.messages[0])]
    assert [[content.text for content in said] for said in found] == [
        ['{"open":2}', "no weirs"], ["Look first.", '{"in":"Delft"}'],
    ]  # fmt: skip
