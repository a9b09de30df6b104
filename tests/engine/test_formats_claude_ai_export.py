"""Claude.ai's export, on a small file of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.reading.jsonio import dumps, loads
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Transcript

FIXTURE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "claude_ai_export" / "conversations.json"


def session() -> Transcript:
    with FIXTURE.open("rb") as file:
        (found,) = read_transcripts(file, FIXTURE.name).transcripts
    return found


def test_results_divide_an_answer_into_requests() -> None:
    found = session()
    assert [(m.id, m.role.value) for m in found.messages] == [
        *(("m1", "user"), ("m2", "assistant"), ("m2.1", "user"), ("m2.2", "assistant"), ("m3", "user"))
    ]
    assert [b.kind for b in found.messages[1].blocks] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE]
    assert [(r.message, r.usage) for r in found.requests] == [(1, None), (3, None)]
    assert [m.typed for m in found.messages] == [True, False, False, False, True]
    assert (found.id, found.title) == ("k-1", "Plums")


def test_attachments_were_sent_besides_and_text_counts_once() -> None:
    with FIXTURE.open("rb") as file:
        attached, picture, said = read_contents(file, "claude_ai_export", session().messages[0])
    assert (attached.text, said.text) == ("p1 p2", "How many plums?")
    assert (picture.kind, picture.url, picture.data) == (Kind.IMAGE, "tree.PNG", "")


def test_a_message_without_content_has_its_text() -> None:
    assert [b.n_chars for b in session().messages[4].blocks] == [6]


def test_the_branch_of_the_leaf_is_the_session() -> None:
    document = loads(FIXTURE.read_bytes())
    first, second, third = document[0]["chat_messages"]
    second["parent_message_uuid"] = third["parent_message_uuid"] = first["uuid"]
    document[0]["current_leaf_message_uuid"] = third["uuid"]
    (found,) = read_transcripts(io.BytesIO(dumps(document).encode()), "x.json").transcripts
    assert [m.id for m in found.messages] == ["m1", "m3"]
    assert found.warnings == ("Messages on branches that the conversation left: 1",)
