"""The Grok CLI format, on a small file of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Transcript

FIXTURE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "grok_cli" / "chat_history.jsonl"


def session(name: str = "chat_history.jsonl") -> Transcript:
    return read_transcripts(io.BytesIO(FIXTURE.read_bytes()), name).transcripts[0]


def test_reasoning_and_server_calls_belong_to_the_reply_after_them() -> None:
    reply = session().messages[2]
    assert [b.kind for b in reply.blocks] == [Kind.THINKING, Kind.TOOL_USE, Kind.TEXT, Kind.TOOL_USE]
    assert [origin.line for origin in reply.origins] == [4, 5, 6]
    assert [(b.name, b.call_id) for b in reply.blocks if b.kind is Kind.TOOL_USE] == [
        ("web_search", ""),
        ("read_file", "c1"),
    ]


def test_a_reply_broken_off_is_no_request() -> None:
    found = session()
    assert [(r.message, r.model, r.usage) for r in found.requests] == [(2, "grok-4.5", None), (4, "grok-4.5", None)]
    assert found.warnings == ("Replies broken off: 1; not counted as requests",)
    assert [b.kind for b in found.messages[5].blocks] == [Kind.THINKING]


def test_what_the_client_injected_is_not_typed_and_the_system_prompt_is_no_message() -> None:
    found = session()
    assert [m.typed for m in found.messages] == [False, True, False, False, False, False, True]
    assert found.messages[0].meta
    assert found.title == "What is this?"
    assert [block.n_chars for block in found.system] == [13]


def test_a_picture_whose_bytes_were_taken_out_has_no_size() -> None:
    first, second = (leaf.media for m in session().messages for leaf in m.leaves() if leaf.kind is Kind.IMAGE)
    assert first
    assert (first.width, first.n_url) == (1, 0)
    assert second
    assert (second.width, second.n_base64, second.n_url > 0) == (0, 0, True)


def test_a_session_is_named_by_its_folder() -> None:
    assert session("grok/s-1/chat_history.jsonl").id == "s-1"
    assert session("mine.jsonl").id == "mine"
