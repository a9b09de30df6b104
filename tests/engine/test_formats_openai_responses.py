"""The Responses API: items, replies of several items, compactions on the server and by call, streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Role, Usage

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "openai_responses"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def session(name: str) -> Transcript:
    (found,) = parsed(name).transcripts
    return found


def test_items_of_a_request() -> None:
    request = session("request.json")
    kinds = [[str(leaf.kind) for leaf in message.leaves()] for message in request.messages]
    assert kinds == [
        ["text", "image", "document"], ["thinking"], ["tool_use"], ["tool_result", "text", "image"], ["tool_use"],
        ["opaque"],
    ]  # fmt: skip
    assert [block.name for block in request.system] == ["", "look", "web_search"]
    assert (request.messages[1].blocks[0].n_payload, request.messages[1].blocks[0].n_chars) == (10, 12)
    assert [(r.message, r.n_messages) for r in request.requests] == [(1, 2), (4, 2), (None, 1)]
    assert (request.n_images, request.n_tool_calls) == (2, 2)
    assert request.messages[4].blocks[0].call_id == ""


def test_a_reply_of_several_items_is_one_request() -> None:
    reply = session("response.json")
    assert [message.id for message in reply.messages] == ["rs_2", "fc_2", "msg_1"]
    (request,) = reply.requests
    assert (request.message, request.n_messages, request.response_id) == (0, 3, "resp_1")
    assert request.usage == Usage(188, 512, 0, 80, reasoning=64)


def test_input_that_is_text() -> None:
    pair = session("exchange.json")
    assert [(message.role, message.preview) for message in pair.messages] == [
        (Role.USER, "Say hello"), (Role.ASSISTANT, "Hello"),
    ]  # fmt: skip
    assert pair.messages[0].typed


def test_exchanges_that_repeat_or_continue_each_other() -> None:
    talk = session("exchanges.json")
    assert [message.id for message in talk.messages] == [
        "L1.0", "rs_a", "fc_a", "L1.3", "m_a", "cmp_1", "L1.6", "m_b", "L1.8", "m_c",
    ]  # fmt: skip
    assert [(r.message, r.n_messages, r.usage and r.usage.context) for r in talk.requests] == [
        (1, 2, 100), (4, 1, 160), (7, 1, 90), (9, 1, 110),
    ]  # fmt: skip
    (compaction,) = talk.compactions
    assert (compaction.boundary, compaction.message, compaction.request, compaction.trigger) == (5, 5, 2, "auto")
    assert (compaction.tokens_before, compaction.tokens_after) == (200, 90)
    assert talk.warnings == ("The request asks the server to compact above 1,500 tokens",)


def test_a_compaction_call_replaces_the_list() -> None:
    talk = session("compact_call.json")
    (compaction,) = talk.compactions
    assert (compaction.boundary, compaction.preserved, compaction.message) == (4, (0, 2), 4)
    assert (compaction.tokens_before, compaction.request, compaction.tokens_after) == (60, 3, 40)
    assert [(r.message, r.on_branch, r.usage and r.usage.context) for r in talk.requests] == [
        (1, True, None), (3, True, None), (None, False, 60), (6, True, 40),
    ]  # fmt: skip
    assert talk.messages[4].blocks[0].n_payload == len("gAAAAall==")


def test_a_compaction_item_that_is_sent_back_is_one_compaction() -> None:
    """With what stands before it or without, and with its payload encrypted anew."""
    talk = session("compaction_sent_back.json")
    assert [message.id for message in talk.messages] == ["L1.0", "m1", "cmp_9", "L1.3", "m2", "L1.5", "m3"]
    (compaction,) = talk.compactions
    assert (compaction.boundary, compaction.request, compaction.tokens_after) == (2, 1, 30)
    assert [r.usage and r.usage.context for r in talk.requests] == [50, 30, 40]


def test_streams_whole_and_cut_off() -> None:
    whole, cut = session("stream.sse.txt"), parsed("stream_cut.sse.txt")
    assert [(m.id, m.preview, m.origins[0].path) for m in whole.messages] == [
        ("m_s", "Streamed", ("response", "output", 0))
    ]
    assert [r.usage for r in whole.requests] == [Usage(20, output=3)]
    (half,) = cut.transcripts
    assert [message.id for message in half.messages] == ["rs_s", "m_h"]
    assert [(r.message, r.n_messages, r.usage) for r in half.requests] == [(0, 2, None)]
    assert [skipped.reason for skipped in cut.skipped] == ["JSON is cut off"]


def test_items_one_a_line() -> None:
    items = session("items.jsonl")
    assert [message.role for message in items.messages] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER,
    ]  # fmt: skip
    assert [(r.message, r.usage) for r in items.requests] == [(2, None), (4, None)]
