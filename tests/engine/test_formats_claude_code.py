"""Chains, responses, compactions and sub-agents of Claude Code files, on small sessions of our own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role
from tests.engine.claude_lines import Lines

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "claude_code"


def fixture(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def from_lines(*lines: dict[str, Any]) -> Parsed:
    body = "".join(dumps({"sessionId": "s", "isSidechain": False, **line}) + "\n" for line in lines)
    return read_transcripts(io.BytesIO(body.encode()), "s.jsonl")


def user(uuid: str, parent: str | None, text: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": text}, **more}


def reply(uuid: str, parent: str | None, id: str, context: int, output: int) -> dict[str, Any]:
    usage = {"input_tokens": context, "output_tokens": output}
    content = [{"type": "text", "text": "ok"}]
    message = {"id": id, "role": "assistant", "content": content, "stop_reason": "end_turn", "usage": usage}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message}


def ids(transcript: Transcript) -> list[str]:
    return [message.id for message in transcript.messages]


def test_a_rewind_selects_the_latest_branch_and_still_counts_the_other() -> None:
    (session,) = fixture("rewind.jsonl").transcripts
    assert ids(session) == ["u1", "msg_1", "u4", "msg_4"]
    assert [(r.response_id, r.on_branch, r.message) for r in session.requests] == [
        ("msg_1", True, 1), ("msg_2", False, None), ("msg_3", False, None), ("msg_4", True, 3),
    ]  # fmt: skip
    assert [r.usage.context for r in session.requests if r.usage] == [5000, 5030, 5060, 5031]
    assert session.warnings == ("Requests on a branch that a rewind left: 2, counted but not among the messages",)


def test_a_rewind_of_the_first_prompt_leaves_the_first_root_behind() -> None:
    (session,) = from_lines(
        user("u1", None, "First try"), reply("a1", "u1", "m1", 500, 10),
        user("u2", None, "Second try"), reply("a2", "u2", "m2", 505, 10),
    ).transcripts  # fmt: skip
    assert ids(session) == ["u2", "m2"]


def test_hook_lines_fork_the_chain_without_a_rewind() -> None:
    (session,) = fixture("ui_fork.jsonl").transcripts
    assert all(request.on_branch for request in session.requests)
    assert ids(session) == ["u1", "msg_1", "r1", "msg_2", "u2", "msg_3", "r2", "msg_4"]
    assert session.title == "Look at the readme"


def test_two_replies_under_one_prompt_are_a_rewind_only_if_the_second_did_not_see_the_first() -> None:
    prompt = user("u1", None, "Go")
    retried = from_lines(prompt, reply("a1", "u1", "m1", 900, 400), reply("a2", "u1", "m2", 910, 5)).transcripts[0]
    assert [r.on_branch for r in retried.requests] == [False, True]
    run_on = from_lines(prompt, reply("a1", "u1", "m1", 900, 400), reply("a2", "u1", "m2", 1320, 5)).transcripts[0]
    assert [r.on_branch for r in run_on.requests] == [True, True]
    same = from_lines(prompt, reply("a1", "u1", "m1", 900, 400), reply("a2", "u1", "m2", 900, 5)).transcripts[0]
    assert [r.on_branch for r in same.requests] == [True, True], "the same context twice is a retry, not a rewind"


def test_lines_of_one_response_are_one_message_at_its_first_line() -> None:
    (session,) = fixture("parallel_tools.jsonl").transcripts
    assert ids(session) == ["u1", "msg_1", "r1", "r2", "r3", "t1", "msg_2"]
    first = session.messages[1]
    assert [block.kind for block in first.blocks] == [Kind.THINKING, *[Kind.TOOL_USE] * 3]
    assert [block.call_id for block in first.blocks[1:]] == ["toolu_1", "toolu_2", "toolu_3"]
    assert [block.target for block in first.blocks[1:]] == ["/a.py", "/b.py", ""]
    assert [origin.line for origin in first.origins] == [2, 3, 5, 7]
    assert first.blocks[0].n_payload == 96
    request = session.requests[0]
    assert request.usage
    assert (request.usage.context, request.usage.output, request.usage.placeholder) == (12_000, 180, False)


def test_images_count_once_and_tool_use_result_is_not_context() -> None:
    parsed = fixture("parallel_tools.jsonl")
    (session,) = parsed.transcripts
    assert (session.n_images, session.n_tool_calls) == (1, 3)
    (media,) = [leaf.media for message in session.messages for leaf in message.leaves() if leaf.kind is Kind.IMAGE]
    assert media
    assert (media.width, media.height, media.media_type) == (64, 48, "image/png")
    assert parsed.warnings[0].startswith("Lines with toolUseResult: 3 (")


def test_an_output_that_never_became_final_is_a_placeholder() -> None:
    (session,) = fixture("placeholder.jsonl").transcripts
    assert [r.usage.placeholder for r in session.requests if r.usage] == [True, False]


def test_a_compaction_with_preserved_messages_and_attachments() -> None:
    (session,) = fixture("compaction_preserved.jsonl").transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.request) == (6, 6, 3)
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("auto", 167_160, 21_000)
    assert compaction.preserved == (4, 5)
    assert not compaction.outside
    assert [m.compaction for m in session.messages] == [None] * 6 + [0, 0, 0] + [None] * 2
    assert [m.summary for m in session.messages] == [False] * 6 + [True] + [False] * 4
    assert [m.attachment for m in session.messages[7:9]] == ["file", "compact_file_reference"]
    with (FIXTURES / "compaction_preserved.jsonl").open("rb") as file:
        (attached,) = read_contents(file, "claude_code", session.messages[7])
    assert (attached.text, attached.target) == ("def parse(): ...", "/src/parser.py")


def test_messages_written_again_after_a_boundary_are_preserved_and_count_once() -> None:
    kept = user("u2", "a1", "Keep me")
    (session,) = from_lines(
        user("u1", None, "Go"), reply("a1", "u1", "m1", 1000, 5), kept, reply("a2", "u2", "m2", 1020, 5),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "logicalParentUuid": "a2"},
        user("s", "b", "Summary.", isCompactSummary=True), {**kept, "parentUuid": "s"},
        {**reply("a2", "u2", "m2", 1020, 5)}, user("u3", "a2", "Next"), reply("a3", "u3", "m3", 300, 5),
    ).transcripts  # fmt: skip
    assert ids(session) == ["u1", "m1", "u2", "m2", "s", "u3", "m3"]
    (compaction,) = session.compactions
    assert compaction.preserved == (2, 3)
    assert (compaction.tokens_before, compaction.tokens_after, compaction.trigger) == (1025, 300, None)
    assert [request.response_id for request in session.requests] == ["m1", "m2", "m3"]
    assert "Copies of earlier lines with the same uuid: 2, counted once" in session.warnings


def test_a_boundary_on_the_first_line_removed_something_outside() -> None:
    (session,) = fixture("boundary_on_line_1.jsonl").transcripts
    (compaction,) = session.compactions
    assert compaction.outside
    assert (compaction.boundary, compaction.trigger, compaction.tokens_before) == (0, "manual", 90_000)
    assert session.title == "Release notes", "the summary of another file's leaf is not this session's title"


def test_a_summary_without_a_boundary_is_a_compaction_too() -> None:
    (session,) = from_lines(
        user("u1", None, "Go"), reply("a1", "u1", "m1", 1000, 5), user("s", "a1", "Summary.", isCompactSummary=True)
    ).transcripts
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.message, compaction.request) == (2, 2, 1)
    assert (compaction.tokens_before, compaction.tokens_after) == (1005, None)


def test_inline_sub_agents_are_child_sessions_of_the_call_that_started_them() -> None:
    parent, two, one = fixture("inline_sidechains.jsonl").transcripts
    assert (parent.id, parent.parent_id, len(parent.requests)) == ("sess-tasks", None, 2)
    assert [(t.parent_id, t.parent_call_id, t.title) for t in (two, one)] == [
        ("sess-tasks", "toolu_2", "Research topic two"),
        ("sess-tasks", "toolu_1", "Research topic one"),
    ]
    assert [[r.response_id for r in t.requests] for t in (two, one)] == [["msg_x1", "msg_x2"], ["msg_y1"]]


def test_a_sub_agents_own_file_is_a_root_session() -> None:
    (session,) = fixture("agent-0a1b2c3.jsonl").transcripts
    assert (session.id, session.parent_id, len(session.messages)) == ("agent-0a1b2c3", None, 4)


def test_a_file_with_two_unlinked_sessions_holds_two() -> None:
    first, second = from_lines(
        user("u1", None, "One"), reply("a1", "u1", "m1", 900, 5),
        user("v1", None, "Two", sessionId="t"), {**reply("b1", "v1", "n1", 800, 5), "sessionId": "t"},
    ).transcripts  # fmt: skip
    assert (first.id, ids(first), second.id, ids(second)) == ("s", ["u1", "m1"], "t", ["v1", "n1"])


def test_a_resumed_session_keeps_its_copied_lines() -> None:
    (session,) = from_lines(
        user("u1", None, "One", sessionId="old"), {**reply("a1", "u1", "m1", 900, 5), "sessionId": "old"},
        user("u2", "a1", "Two"), reply("a2", "u2", "m2", 920, 5),
    ).transcripts  # fmt: skip
    assert (session.id, len(session.messages)) == ("s", 4)


def test_odd_lines_are_kept_where_they_can_be_and_named_where_not() -> None:
    parsed = fixture("odd_lines.jsonl")
    (session,) = parsed.transcripts
    assert [(skipped.line, skipped.reason.split(":")[0]) for skipped in parsed.skipped] == [
        (13, "not an object but a string"), (14, "an object without a type or a message"), (16, "not JSON"),
    ]  # fmt: skip
    by_id = {message.id: message for message in session.messages}
    assert session.title == "a plain string", "the first that was typed, never a command"
    assert [b.kind for b in by_id["n2"].blocks] == [Kind.OPAQUE]
    assert by_id["n2"].blocks[0].n_payload == 4
    assert [b.kind for b in by_id["n4"].blocks] == [Kind.OPAQUE], "a message without content keeps its bytes"
    assert by_id["n3"].preview == "a plain string"
    assert [b.kind for b in by_id["q1"].blocks] == [Kind.TEXT, Kind.IMAGE]
    assert (by_id["m1"].meta, by_id["m1"].typed, by_id["u1"].typed) == (True, False, True)
    assert not {"e1", "err-1", "n1"} & set(by_id), "errors of the client and its own records are not messages"
    assert parsed.warnings == ("1 record of type 'hologram' was not read",)


def test_replies_without_an_id_are_one_request_a_run_and_zero_usage_is_none() -> None:
    (session,) = fixture("odd_lines.jsonl").transcripts
    assert [(r.response_id, r.message, bool(r.usage)) for r in session.requests] == [
        ("", 2, False), ("msg_zero", 4, False), ("msg_last", 8, True),
    ]  # fmt: skip
    run = session.messages[2]
    assert (run.role, len(run.origins), run.preview) == (
        Role.ASSISTANT, 2, "Reviewing, part one. · Reviewing, part two.",
    )  # fmt: skip


def test_an_encrypted_block_weighs_bytes_and_no_text() -> None:
    (session,) = fixture("odd_lines.jsonl").transcripts
    redacted = session.messages[-1].blocks[0]
    assert (redacted.kind, redacted.n_payload, redacted.n_chars, redacted.n_tokens) == (Kind.OPAQUE, 20, 0, 0)


@pytest.mark.parametrize("how", ["hook", "reply"])
def test_a_prompt_knows_the_plan_mode_and_the_client_that_was_started_again(how: str) -> None:
    """Formats 3.1: the hook of a resumed session, or the reply that the client makes up for it."""
    lines = Lines()
    lines.emit("user", message={"role": "user", "content": "plan it"}, permissionMode="plan")
    lines.reply(0, {"type": "text", "text": "How?"})
    if how == "hook":
        lines.emit("progress", data={"type": "hook_progress", "hookName": "SessionStart:resume", "command": "x"})
    else:
        content = [{"type": "text", "text": "No response requested."}]
        lines.emit("assistant", message={"role": "assistant", "model": "<synthetic>", "content": content})
    lines.emit("user", message={"role": "user", "content": "go on"}, permissionMode="default")
    lines.reply(1, {"type": "text", "text": "Done."})
    lines.emit("progress", data={"type": "hook_progress", "hookName": "SessionStart:startup", "command": "x"})
    lines.emit("user", message={"role": "user", "content": "thanks"}, permissionMode="acceptEdits")
    (session,) = read_transcripts(io.BytesIO(lines.text().encode()), "s.jsonl").transcripts
    assert [(m.planned, m.resumed) for m in session.messages] == [
        (True, False), (False, False), (False, True), (False, False), (False, False),
    ]  # fmt: skip
