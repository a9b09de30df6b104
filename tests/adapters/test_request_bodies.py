"""Ranges of messages become requests that the API's rules allow, and what that took is counted."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.adapters.request_bodies import open_calls, prepare, ranges, tool_stubs
from sessions.engine.transcript.types import Block, Content, Kind, Message, Role, Transcript

CALL = Content(Kind.TOOL_USE, name="read", call_id="t1", text='{"path":"a.py"}')
RESULT = Content(Kind.TOOL_RESULT, call_id="t1", text="1 line")
USER, ASSISTANT = Role.USER, Role.ASSISTANT
TURN = (
    (USER, Content(Kind.TEXT, text="Fix a.py")),
    (ASSISTANT, CALL),
    (USER, RESULT),
    (ASSISTANT, Content(Kind.TEXT, text="Done.")),
)


def body(*said: tuple[Role, Content], start: int = 0, format_name: str = "claude_code") -> tuple[Any, tuple[str, ...]]:
    messages = tuple(
        Message(n, f"m{n}", role, (Block(content.kind, call_id=content.call_id),))
        for n, (role, content) in enumerate(said)
    )
    transcript = Transcript(id="s", format=format_name, messages=messages)
    made = prepare(transcript, start, len(messages), lambda m: (said[m.index][1],), "claude-x")
    return made.body, made.notes


def roles(made: dict[str, Any]) -> list[str]:
    return [message["role"] for message in made["messages"]]


def test_a_whole_turn_goes_as_it_is() -> None:
    made, notes = body(*TURN[:3])
    assert made == {
        "model": "claude-x",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Fix a.py"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1 line"}]},
        ],
    }  # fmt: skip
    assert notes == ()


def test_a_range_begins_and_ends_with_the_users_turn() -> None:
    made, notes = body(TURN[3])
    assert roles(made) == ["user", "assistant", "user"]
    assert notes == ("user turns of one character added: 2",)


def test_a_call_without_its_result_is_text() -> None:
    made, notes = body(*TURN[:2])
    assert made["messages"][1]["content"] == [{"type": "text", "text": '[tool call: read {"path":"a.py"}]'}]
    assert notes == ("tool calls without a result sent as text: 1", "user turns of one character added: 1")


def test_a_result_without_its_call_is_text() -> None:
    made, notes = body(*TURN, start=2)
    assert made["messages"][0]["content"] == [{"type": "text", "text": "[tool result: 1 line]"}]
    assert notes[0] == "tool results without their call sent as text: 1"


def test_an_answer_two_turns_later_is_no_answer() -> None:
    made, notes = body(TURN[0], TURN[1], TURN[0], TURN[3], TURN[2])
    kinds = [[block["type"] for block in message["content"]] for message in made["messages"]]
    assert kinds == [["text"]] * 5
    assert len(notes) == 2


def test_neighbours_of_one_role_are_one_turn_with_results_first() -> None:
    reminder = (USER, Content(Kind.TEXT, text="Be brief."))
    made, notes = body(TURN[0], TURN[1], reminder, TURN[2])
    assert roles(made) == ["user", "assistant", "user"]
    assert [block["type"] for block in made["messages"][2]["content"]] == ["tool_result", "text"]
    assert notes == ()


@pytest.mark.parametrize(
    ("format_name", "signature", "kept"),
    [("claude_code", "sig", True), ("claude_code", "", False), ("codex", "sig", False)],
)
def test_thinking_needs_anthropics_signature(format_name: str, signature: str, kept: bool) -> None:
    thinking = (ASSISTANT, Content(Kind.THINKING, text="hm", payload=signature))
    made, notes = body(TURN[0], thinking, TURN[0], format_name=format_name)
    assert ("thinking" in str(made)) is kept
    assert bool(notes) is not kept


def test_names_and_ids_take_the_characters_of_the_api() -> None:
    call = Content(Kind.TOOL_USE, name="mcp.read file", call_id="call|1", text="{}")
    made, _ = body(TURN[0], (ASSISTANT, call), (USER, Content(Kind.TOOL_RESULT, call_id="call|1", text="x")))
    assert made["messages"][1]["content"][0] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "mcp_read_file",
        "input": {},
    }
    assert made["messages"][2]["content"][0]["tool_use_id"] == "call_1"


def test_what_is_only_linked_is_not_fetched() -> None:
    linked = Content(Kind.IMAGE, url="https://example.org/a.png", media_type="image/png")
    made, notes = body((USER, linked))
    assert made["messages"][0]["content"] == [{"type": "text", "text": "[image: https://example.org/a.png]"}]
    assert notes == ("linked images and documents sent as text: 1",)


def test_an_image_goes_with_its_bytes() -> None:
    made, _ = body((USER, Content(Kind.IMAGE, media_type="image/png", data="iVBOR")))
    source = {"type": "base64", "media_type": "image/png", "data": "iVBOR"}
    assert made["messages"][0]["content"] == [{"type": "image", "source": source}]


def test_system_messages_in_front_are_the_system_prompt() -> None:
    made, _ = body((Role.SYSTEM, Content(Kind.TEXT, text="You help.")), TURN[0], format_name="openai_chat")
    assert made["system"] == [{"type": "text", "text": "You help."}]
    assert roles(made) == ["user"]


def test_stubs_for_the_tools_that_are_called() -> None:
    messages = tuple(Message(n, f"m{n}", role, ()) for n, (role, _) in enumerate(TURN[:3]))
    made = prepare(Transcript(id="s", format="codex", messages=messages), 0, 3, lambda m: (TURN[m.index][1],), "m")
    assert made.has_tools
    assert tool_stubs(made) == [{"name": "read", "input_schema": {"type": "object"}}]


def test_ranges_are_cut_where_no_call_is_open() -> None:
    shut, opened = False, True
    assert ranges([1] * 5, [shut] * 5, most_messages=2, most_bytes=99) == [(0, 2), (2, 4), (4, 5)]
    assert ranges([1] * 5, [shut, opened, shut, shut, shut], most_messages=2, most_bytes=99) == [(0, 3), (3, 5)]
    assert ranges([1] * 6, [opened] * 6, most_messages=2, most_bytes=99) == [(0, 4), (4, 6)]
    assert ranges([9, 1, 9], [shut] * 3, most_messages=50, most_bytes=10) == [(0, 2), (2, 3)]
    assert ranges([], [], most_messages=2, most_bytes=9) == []


def test_a_call_is_open_until_its_result() -> None:
    blocks = [CALL, RESULT, Content(Kind.TEXT, text="x")]
    messages = [Message(n, "", USER, (Block(c.kind, call_id=c.call_id),)) for n, c in enumerate(blocks)]
    assert open_calls(messages) == [True, False, False]
