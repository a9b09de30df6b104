"""ChatGPT's export, on a small file of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.reading.jsonio import dumps, loads
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript

FIXTURE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "chatgpt_export" / "conversations.json"


def session() -> Transcript:
    with FIXTURE.open("rb") as file:
        (found,) = read_transcripts(file, FIXTURE.name).transcripts
    return found


def test_the_branch_of_the_current_node_is_the_session() -> None:
    found = session()
    assert [m.id for m in found.messages] == ["ctx", "u1", "t1", "c1", "r1", "a1", "u2"]
    assert found.warnings == ("Messages on branches that the conversation left: 1",)
    assert (found.id, found.title, found.model) == ("conv-1", "Pears", "gpt-5")
    assert [(r.message, r.n_messages, r.usage) for r in found.requests] == [(2, 2, None), (5, 1, None)]


def test_calls_are_answered_by_what_stands_under_them() -> None:
    found = session()
    with FIXTURE.open("rb") as file:
        (call,), (result,) = (read_contents(file, "chatgpt_export", found.messages[n]) for n in (3, 4))
    assert (call.kind, call.name, call.text, call.call_id) == (Kind.TOOL_USE, "python", "count()", "c1")
    assert (result.kind, result.text, result.call_id) == (Kind.TOOL_RESULT, "3", "c1")


def test_hidden_messages_are_context_and_not_typed() -> None:
    found = session()
    assert [m.typed for m in found.messages] == [False, True, False, False, False, False, True]
    assert (found.messages[0].meta, found.messages[0].role) == (True, Role.USER)
    assert [b.n_chars for b in found.messages[0].blocks] == [13, 9]


def test_a_picture_is_a_pointer_without_a_size() -> None:
    (media,) = (leaf.media for m in session().messages for leaf in m.leaves() if leaf.kind is Kind.IMAGE)
    assert media
    assert (media.width, media.n_base64, media.n_url) == (0, 0, 21)


def test_parents_in_a_circle_end() -> None:
    document = loads(FIXTURE.read_bytes())
    document[0]["mapping"]["root"]["parent"] = "u2"
    (found,) = read_transcripts(io.BytesIO(dumps(document).encode()), "x.json").transcripts
    assert len(found.messages) == len(session().messages)
