"""Chat completions: blocks, requests repeated and counted once, trajectories, plain lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.formats.openai_chat import displayed
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "openai_chat"


def sessions(name: str) -> tuple[Transcript, ...]:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name).transcripts


def test_blocks_of_a_request() -> None:
    (session,) = sessions("request.json")
    kinds = [[str(leaf.kind) for leaf in message.leaves()] for message in session.messages]
    assert kinds == [
        ["text"], ["text", "image", "image", "document", "opaque"], ["thinking", "tool_use", "tool_use"],
        ["tool_result"], ["tool_result", "text"],
    ]  # fmt: skip
    assert [message.role for message in session.messages[:3]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT]
    inline, link = (block.media for block in session.messages[1].blocks[1:3])
    assert inline
    assert link
    assert (inline.media_type, inline.width, inline.height) == ("image/png", 4, 2)
    assert link.n_url == len("https://example.org/a.webp")
    assert [block.name for block in session.system] == ["look"]
    assert [(r.message, r.usage) for r in session.requests] == [(2, None), (None, None)]
    with (FIXTURES / "request.json").open("rb") as file:
        _, good, broken = read_contents(file, "openai_chat", session.messages[2])
    assert (good.text, good.target) == ('{"path":"/tmp/a"}', "/tmp/a")
    assert (broken.text, broken.call_id) == ("{broken", "call_2")


def test_cached_input_is_not_counted_twice() -> None:
    (session,) = sessions("response.json")
    assert [r.usage for r in session.requests] == [Usage(1019, 100, 0, 10, reasoning=4)]
    assert session.requests[0].usage
    assert session.requests[0].usage.context == 1119
    assert session.messages[0].preview == "I will not."
    assert session.messages[0].timestamp == 1772359200.0


def test_a_pair_is_the_request_and_its_reply() -> None:
    (session,) = sessions("exchange.json")
    assert [(r.message, r.usage and r.usage.context) for r in session.requests] == [(2, None), (5, 800)]
    assert session.messages[5].origins[0].path == ("response", "choices", 0, "message")


def test_what_requests_repeat_is_counted_once() -> None:
    first, second = sessions("exchanges.json")
    assert [message.preview[:20] for message in first.messages] == [
        "You are a tester.", "Start the app", "look: {}", "a long screen a long", "It runs.", "Stop it now",
        "Stopped.", "[Summary: the app wa", "Thanks", "Welcome.",
    ]  # fmt: skip
    assert [(r.message, r.on_branch, r.usage and r.usage.context) for r in first.requests] == [
        (2, True, 100), (4, True, 190), (None, False, 200), (6, True, 201), (9, True, 80),
    ]  # fmt: skip
    assert first.warnings == ("Requests on a branch that was left: 1, counted, not among the messages",)
    assert [(r.message, r.usage) for r in second.requests] == [(None, None)]
    assert second.messages[1].preview == "A different talk"


def test_a_list_that_lost_its_middle_was_compacted() -> None:
    first, _ = sessions("exchanges.json")
    (compaction,) = first.compactions
    assert (compaction.boundary, compaction.preserved, compaction.request) == (7, (0, 5, 6), 4)
    assert (compaction.tokens_before, compaction.tokens_after, compaction.message) == (208, 80, 7)
    assert [message.compaction for message in first.messages] == [None] * 7 + [0, None, None]


def test_trajectories_are_sessions() -> None:
    first, second = sessions("trajectories.json")
    assert (first.id, len(first.messages), second.id, len(second.messages)) == (
        "trajectories", 6, "trajectories.1", 3,
    )  # fmt: skip
    assert [(r.message, r.usage) for r in first.requests] == [(2, None), (4, None)]


def test_messages_one_a_line_and_the_old_function_calls() -> None:
    (session,) = sessions("lines.jsonl")
    calls = [block.call_id for message in session.messages for block in message.blocks if block.kind is Kind.TOOL_USE]
    assert calls == ["z1", "rm"]
    assert [sorted(message.result_ids()) for message in session.messages if message.result_ids()] == [["z1"], ["rm"]]
    assert [message.id for message in session.messages] == [f"L{n}" for n in range(1, 8)]


def test_flattened_conversations() -> None:
    first, second = sessions("flattened.jsonl")
    assert [message.preview for message in first.messages] == ["Hi there", "None", "Error: no user", "Sorry"]
    assert [message.id for message in second.messages] == ["L2.0", "L2.1"]


def test_text_without_speakers_is_not_lost() -> None:
    assert displayed("no one speaks") == [{"role": "user", "content": "no one speaks"}]
    assert displayed("A note\nuser: Hi") == [
        {"role": "user", "content": "A note"},
        {"role": "user", "content": "Hi"},
    ]
