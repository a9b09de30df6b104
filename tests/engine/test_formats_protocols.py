"""AG-UI, AutoGen, the OpenAI Agents SDK, what acpx tells, and Cursor's older chats, on files of our own."""

from __future__ import annotations

import io
import json

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript
from tests.engine.truth_facts import FIXTURES, fixture


def only(name: str) -> Transcript:
    (session,) = fixture(name).transcripts
    return session


def kinds(session: Transcript) -> list[list[str]]:
    return [[str(block.kind) for block in message.blocks] for message in session.messages]


def test_runs_of_ag_ui_are_one_session_whose_prompts_count_once() -> None:
    session = only("ag_ui/lines.jsonl")
    assert session.id == "t-1"
    assert [message.preview for message in session.messages] == [
        "Weigh the melons.", "A scale. · I weigh them. · scale: {\"what\":\"melons\"}",
        "9 kg", "Nine kilograms.", "And the pears?", "Two.", "And the figs?",
    ]  # fmt: skip
    assert kinds(session)[1] == ["thinking", "text", "tool_use"]
    call = session.messages[1].blocks[2]
    assert (call.name, session.messages[2].result_ids()) == ("scale", {call.call_id})
    assert [request.usage and request.usage.context for request in session.requests] == [None, None, 50]
    (failed,) = session.events
    assert (failed.kind, failed.code, failed.words, failed.request) == ("error", "SCALE", "The scale broke", 3)
    assert "1 record of type 'MELON_SEEN' was not read" in fixture("ag_ui/lines.jsonl").warnings


def test_a_list_of_events_of_ag_ui_is_read_as_lines_are() -> None:
    session = only("ag_ui/list.json")
    assert [m.preview for m in session.messages] == ["Weigh the melons.", "I weigh them."]
    assert [request.usage and request.usage.context for request in session.requests] == [13]


def test_a_stream_of_ag_ui_is_read_as_the_server_sent_it() -> None:
    session = only("ag_ui/stream.sse")
    assert [(m.role.value, [b.kind.value for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]), ("assistant", ["tool_use"]), ("user", ["tool_result"]), ("assistant", ["text"]),
    ]  # fmt: skip
    assert session.messages[-1].preview == "Ferns and hostas."


def test_every_agent_of_a_team_of_autogen_is_a_session() -> None:
    session = only("autogen/team.json")
    assert (session.id, kinds(session)) == (
        "painter", [["text", "image"], ["thinking", "tool_use"], ["tool_result"], ["text"]],
    )  # fmt: skip
    assert [request.usage and request.usage.context for request in session.requests] == [81, 99]
    assert only("autogen/agent.json").messages[0].role is Role.USER


@pytest.mark.parametrize("name", ["task_result.json", "messages.jsonl"])
def test_the_messages_of_a_run_of_autogen_are_one_session(name: str) -> None:
    session = only(f"autogen/{name}")
    assert [(m.role.value, [b.kind.value for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]), ("assistant", ["thinking", "tool_use"]), ("user", ["tool_result"]), ("assistant", ["text"]),
    ]  # fmt: skip
    assert session.messages[1].call_ids() == session.messages[2].result_ids() == {"c1"}
    assert [request.usage and request.usage.context for request in session.requests] == [61, 90]


def test_a_state_of_autogen_without_a_context_is_refused_in_words() -> None:
    state = {"type": "TeamState", "version": "1.0.0", "agent_states": {"manager": {"type": "RoundRobinManagerState"}}}
    with pytest.raises(UnreadableInput, match="no known transcript format") as refused:
        read_transcripts(io.BytesIO(json.dumps(state).encode()))
    assert "no agent's context of messages" in refused.value.next_step


def test_items_of_an_agents_sdk_session_stand_in_its_rows() -> None:
    second, first = fixture("agents_sdk/sessions.db").transcripts
    assert (first.id, kinds(first)) == ("s1", [["text"], ["tool_use"], ["tool_result"], ["text"]])
    assert first.messages[0].timestamp is not None
    assert (second.id, kinds(second)[0]) == ("s2", ["text", "image"])
    assert second.compactions[0].message == 1


def test_what_acpx_tells_is_a_log_of_the_protocol() -> None:
    parsed = fixture("acp/acpx.jsonl")
    (session,) = parsed.transcripts
    assert (session.window, kinds(session)) == (258_400, [["thinking", "tool_use"], ["tool_result"], ["text"]])
    assert session.messages[2].preview == "All is well."
    assert session.messages[1].blocks[0].kind is Kind.TOOL_RESULT
    assert any("its title" in warning for warning in parsed.warnings)


def test_a_recorder_may_keep_the_protocols_messages_as_text_under_a_key() -> None:
    session = only("acp/recorder.jsonl")
    assert (session.id, kinds(session)) == ("s1", [["text"], ["tool_use"], ["tool_result"], ["text"]])
    with (FIXTURES / "acp/recorder.jsonl").open("rb") as file:
        texts = [read_contents(file, "acp", message)[0].text for message in session.messages]
    assert texts == ["Read the seed list.", '{"path":"seeds.txt"}', "kale, leek", "Two seeds."]


def test_older_chats_of_cursor_are_read_and_nothing_beside_them() -> None:
    assert b"never-read-either" in (FIXTURES / "cursor_db/old.vscdb").read_bytes()
    tab, composer = fixture("cursor_db/old.vscdb").transcripts
    assert (tab.id, tab.title, tab.model) == ("tab1", "Old hedge", "claude-3.5-sonnet")
    assert [message.preview for message in composer.messages] == ["Plant box.", "Planted."]
