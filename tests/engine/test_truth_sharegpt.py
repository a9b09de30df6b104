"""Every shared chat set against ``truth.json``, and the shapes of our own fixtures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.formats._records import records
from sessions.engine.reading.jsonio import Source, dumps, loads
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Kind, Role
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.truth_facts import all_messages, fact, leaves, parsed, place, sample_names

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Message

NAMES = sample_names("hf-sharegpt")
samples = pytest.mark.samples


def turns(name: str) -> list[tuple[Message, Any]]:
    """Every message with the turn it was read from."""
    with place(name).open("rb") as file:
        source = Source(file)
        return [(message, source.read(message.origins[0])) for message in all_messages(name)]


@samples
@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_a_session_and_every_turn_a_message(name: str) -> None:
    assert parsed(name).format == "sharegpt"
    assert not parsed(name).skipped
    transcripts = parsed(name).transcripts
    assert len(transcripts) == fact(name, "conversations")
    assert sum(len(transcript.messages) for transcript in transcripts) == fact(name, "messages")
    with place(name).open("rb") as file:
        found = [record for record, _ in records(Source(file))]
    assert Counter(key for record in found for key in record) == fact(name, "keys")
    listed = [bool(loads(record["tools"].encode())) if "tools" in record else False for record in found]
    assert [bool(transcript.system) for transcript in transcripts] == listed
    assert not any(request.usage for transcript in transcripts for request in transcript.requests)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_turns_by_who_says_them(name: str) -> None:
    found = turns(name)
    assert Counter(turn.get("from") or turn["role"] for _, turn in found) == fact(name, "messages_by_role")
    by_role = {"human": "user", "observation": "user", "tool": "user", "gpt": "assistant", "function_call": "assistant"}
    expected: Counter[str] = Counter()
    for who, n_turns in fact(name, "messages_by_role").items():
        expected[by_role.get(who, who)] += n_turns
    assert Counter(str(message.role) for message, _ in found) == expected
    n_calls = fact(name, "messages_by_role").get("function_call") or fact(name, "parts_by_type", {}).get("tool_call", 0)
    n_results = sum(fact(name, "messages_by_role").get(who, 0) for who in ("observation", "tool"))
    assert len(leaves(name, Kind.TOOL_USE)) == n_calls
    assert len(leaves(name, Kind.TOOL_RESULT)) == n_results
    assert not leaves(name, Kind.OPAQUE)


@samples
@pytest.mark.parametrize("name", NAMES)
def test_parts_of_chat_sets(name: str) -> None:
    """A tool's text part is the text of its result; everything else is a block of its own type."""
    kinds = {"reasoning": Kind.THINKING, "tool_call": Kind.TOOL_USE, "image_url": Kind.IMAGE}
    for kind, n_parts in fact(name, "parts_by_type", {}).items():
        if kind == "text":
            n_results = len(leaves(name, Kind.TOOL_RESULT))
            assert len(leaves(name, Kind.TEXT)) + n_results == n_parts
        else:
            assert len(leaves(name, kinds[kind])) == n_parts


@samples
@pytest.mark.parametrize("name", NAMES)
def test_images_of_chat_sets_are_links_without_bytes(name: str) -> None:
    images = leaves(name, Kind.IMAGE)
    assert len(images) == sum(t.n_images for t in parsed(name).transcripts) == fact(name, "image_references")
    assert sum(image.media.n_base64 > 0 for image in images) == fact(name, "images")
    with place(name).open("rb") as file:
        source = Source(file)
        texts = [c.text for m in all_messages(name) for c in read_contents(source, "sharegpt", m)]
    assert sum(text.count("<image>") for text in texts) == 0
    held = sum(turn["content"].count("<image>") for _, turn in turns(name) if isinstance(turn.get("content"), str))
    assert held == fact(name, "image_placeholders")


def test_conversations_of_ours() -> None:
    parsed_file = read(FIXTURES / "sharegpt/conversations.json")
    bern, other, ciao = parsed_file.transcripts
    assert (bern.id, other.id, ciao.id) == ("bern", "bern.1", "c-3")
    assert [str(block.kind) for message in bern.messages for block in message.blocks] == [
        "text",
        "text",
        "tool_use",
        "tool_result",
        "text",
    ]
    assert (bern.messages[2].blocks[0].name, bern.messages[2].blocks[0].target) == ("weather", "Bern")
    assert [r.message for r in bern.requests] == [2, 4]
    assert [r.message for r in other.requests] == [1], "two assistant turns in a row are one request"
    assert (ciao.model, len(parsed_file.skipped)) == ("vicuna-13b", 2)
    assert bern.messages[0].role is Role.SYSTEM


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"id": 0}, "0"), ({"id": 7}, "7"), ({"id": "", "uuid": "u-1"}, "u-1"), ({"id": 0, "uuid": "u-1"}, "0"),
        ({"id": False}, "chats.0"), ({"id": None}, "chats.0"), ({}, "chats.0"),
    ],
)  # fmt: skip
def test_the_id_of_a_record_may_be_the_number_0(tmp_path: Path, ids: dict[str, Any], expected: str) -> None:
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    file = tmp_path / "chats.json"
    file.write_bytes(dumps([{**ids, "conversations": turns}]).encode())
    assert [transcript.id for transcript in read(file).transcripts] == [expected]


def test_placeholders_stand_for_images_in_order() -> None:
    (session,) = read(FIXTURES / "sharegpt/images.json").transcripts
    assert [str(block.kind) for block in session.messages[0].blocks] == ["image", "text", "image"]
    first, second = (block.media for block in session.messages[0].blocks if block.media)
    assert (first.n_url, second.width, second.height) == (7, 64, 48)
    with (FIXTURES / "sharegpt/images.json").open("rb") as file:
        (text,) = read_contents(file, "sharegpt", session.messages[2])
    assert text.text == "And this <image>?"


def test_value_parts_of_ours() -> None:
    first, second = read(FIXTURES / "sharegpt/parts.jsonl").transcripts
    kinds = [[str(block.kind) for block in message.blocks] for message in first.messages]
    assert kinds == [["text"], ["image", "text"], ["thinking", "tool_use"], ["tool_result"], ["text", "opaque"]]
    assert [block.name for block in first.system] == ["count"]
    assert [request.message for request in second.requests] == [1]
