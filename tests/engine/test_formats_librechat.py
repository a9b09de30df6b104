"""Conversations exported by LibreChat, on small files of our own."""

from __future__ import annotations

from tests.engine.test_formats_contract import FIXTURES, read

LIBRECHAT = FIXTURES / "librechat"


def test_an_answer_of_librechat_is_divided_behind_its_tools() -> None:
    (session,) = read(LIBRECHAT / "branches.json").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages[1:5]] == [
        ("assistant", ["thinking", "text", "tool_use", "tool_use"]),
        ("user", ["tool_result"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert session.messages[1].call_ids() == {"call_a", "call_b"}
    assert [m.result_ids() for m in session.messages[2:4]] == [{"call_a"}, {"call_b"}]
    assert (session.window, len(session.system)) == (8_000, 1)
    assert session.warnings == (
        "Messages on branches that the conversation left: 2",
        "tokenCount in the file (3 to 9,100 tokens) are LibreChat's own estimate, not usage",
    )
    assert [(str(event.kind), event.request) for event in session.events] == [
        ("limit set", 0), ("interruption", 4), ("error", 4)
    ]  # fmt: skip


def test_a_tree_of_librechat_is_walked_to_its_last_answer() -> None:
    (session,) = read(LIBRECHAT / "tree.json").transcripts
    assert [m.id for m in session.messages if not m.summary] == ["t1", "t2", "t3", "t5", "t6", "t7"]
    assert all(request.usage is None for request in session.requests)
    assert "promptTokens in the file (60 to 840 tokens) are LibreChat's own estimate, not usage" in session.warnings
    assert [str(b.kind) for b in session.messages[0].blocks] == ["text", "image", "document"]
