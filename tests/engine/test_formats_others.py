"""The role_content and anthropic_messages formats, on small files of our own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.formats._python_repr import block_from_repr
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role
from tests.engine import truth_facts

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"


def fixture(name: str) -> Transcript:
    path = FIXTURES / name
    with path.open("rb") as file:
        (session,) = read_transcripts(file, path.name).transcripts
    return session


def test_python_reprs_are_blocks() -> None:
    session = fixture("role_content/python_reprs.jsonl")
    assert [block.kind for block in session.messages[1].blocks] == [Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_USE]
    with (FIXTURES / "role_content/python_reprs.jsonl").open("rb") as file:
        text, first, second = read_contents(file, "role_content", session.messages[1])
        (broken,) = read_contents(file, "role_content", session.messages[4])
    assert text.text == "I'll read (both) files."
    assert (first.name, first.call_id, first.target) == ("read_file", "toolu_1", "/a.py")
    assert first.text == '{"path":"/a.py","limit":-1,"flags":[true,null]}'
    assert second.target == "echo 'it\\'s'"
    assert (broken.kind, broken.text) == (Kind.TEXT, "TextBlock(text='cut off in the mid")


@pytest.mark.parametrize(
    "text",
    [
        "TextBlock(text=__import__('os').getcwd(), type='text')",
        "TextBlock(text=1 + 1, type='text')",
        "TextBlock(*[1])",
        "TextBlock(text='x'",
        "ToolUseBlock(input=" + "[" * 100_000 + ")",
        "ToolUseBlock(input=" + "-" * 100_000 + "1)",
        "Text about TextBlock(text='x')",
    ],
)
def test_what_is_not_plainly_a_block_stays_text(text: str) -> None:
    assert block_from_repr(text) is None


def test_requests_of_role_content_are_runs_of_assistant_messages() -> None:
    session = fixture("role_content/python_reprs.jsonl")
    assert [(r.message, r.usage) for r in session.requests] == [(1, None), (3, None), (6, None)]
    assert session.warnings == ("Results cleared before recording: 1; their content is not in this session",)


def test_a_compressed_conversation_starts_with_a_summary_from_outside() -> None:
    session = fixture("role_content/continued.jsonl")
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.request, compaction.outside) == (0, 0, 0, True)
    assert (session.messages[0].summary, session.messages[0].compaction, session.messages[0].typed) == (True, 0, False)
    assert session.title == "Next"


def test_dict_blocks_models_and_times_of_role_content() -> None:
    session = fixture("role_content/dict_blocks.jsonl")
    assert session.messages[0].role is Role.SYSTEM
    assert (session.n_images, session.model, session.ended_at) == (1, "claude-haiku-4-5", 1772359209.0)
    assert [message.typed for message in session.messages] == [False, True, False, False, False, False]


def test_a_lone_request_has_a_pending_request() -> None:
    session = fixture("anthropic_messages/request.json")
    assert [(r.index, r.message, r.usage) for r in session.requests] == [(0, 1, None), (1, None, None)]
    assert [block.name for block in session.system] == ["", "shot"]
    assert [leaf.kind for leaf in session.messages[2].leaves()] == [Kind.TOOL_RESULT, Kind.IMAGE, Kind.DOCUMENT]
    link = session.messages[3].blocks[0].media
    assert link
    assert (link.n_url, link.n_base64) == (25, 0)


def test_a_response_answers_the_pending_request() -> None:
    session = fixture("anthropic_messages/exchange.json")
    last = session.requests[-1]
    assert (last.message, last.response_id, last.model) == (4, "msg_1", "claude-sonnet-4-5-20250929")
    assert last.usage
    assert (last.usage.context, last.usage.output) == (1020, 8)
    assert (session.messages[4].id, session.messages[4].origins[0].path) == ("msg_1", ("response",))


def test_server_side_compaction_is_recorded_with_its_own_input() -> None:
    session = fixture("anthropic_messages/compaction.json")
    (compaction,) = session.compactions
    assert (compaction.request, compaction.message, compaction.trigger) == (0, 1, "auto")
    assert (compaction.tokens_before, compaction.tokens_after) == (55_000, 220)
    assert session.warnings == ("The server spent 55,000 input and 120 output tokens on compaction, not in the usage",)


def test_a_parent_and_its_child_in_one_file_are_two_sessions_with_their_usage() -> None:
    home, helper = truth_facts.fixture("atif/parent_and_child.json").transcripts
    assert (helper.parent_id, helper.parent_call_id) == (home.id, "c1") == ("home", "c1")
    used = [request.usage for request in home.requests]
    assert [(u.input, u.cache_read, u.output) for u in used if u] == [(60, 40, 20), (150, 0, 5)]
    assert home.warnings == ()


def test_a_list_of_messages_is_read_as_lines_are() -> None:
    session = fixture("role_content/list.json")
    assert [m.role for m in session.messages] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert [(r.message, r.usage) for r in session.requests] == [(2, None), (4, None)]
    assert session.title == "How many hives?"
