"""Chats of Agent Zero, on small files of our own."""

from __future__ import annotations

from pathlib import Path

from tests.engine.test_formats_contract import FIXTURES, read

AGENT_ZERO = FIXTURES / "agent_zero"


def test_a_history_is_what_is_sent_of_it() -> None:
    first, second = read(AGENT_ZERO / "harbour.json").transcripts
    assert [(str(m.role), m.summary, m.preview[:24]) for m in first.messages] == [
        ("user", True, "The harbour was mapped. "), ("user", False, "List the crates."),
        ("user", True, "Two lists were read: red"), ("assistant", False, first.messages[3].preview[:24]),
        ("user", False, "cut: The ferry crossed t"), ("assistant", False, first.messages[5].preview[:24]),
        ("user", False, "Now weigh them."), ("assistant", False, first.messages[7].preview[:24]),
        ("user", False, "The ferry crossed the na"),
    ]  # fmt: skip
    assert [origin.path[-3:] for origin in first.messages[0].origins] == [
        ("bulks", 0, "summary"),
        ("topics", 0, "summary"),
    ]
    assert [m.typed for m in first.messages if m.typed] == [True, True]
    assert (first.title, second.parent_id, len(second.messages)) == ("Crates of the harbour", first.id, 2)


def test_an_error_stands_in_its_turn_and_the_one_before_a_stall_is_told_with_it() -> None:
    first, _ = read(AGENT_ZERO / "harbour.json").transcripts
    (failed,) = first.errors
    assert (failed.kind, failed.tokens, failed.message) == ("compaction", 14_026, 9)
    assert "User has no quota left; History compression" in failed.words
    assert [(event.kind, event.message) for event in first.events] == [("error", 6), ("session end", 9)]
    assert "Agent Zero's own estimate of its last prompt: 14,026 tokens" in first.warnings


def test_a_stall_of_very_many_digits_or_words_is_read_at_once(tmp_path: Path) -> None:
    text = (AGENT_ZERO / "harbour.json").read_text(encoding="utf-8")
    for words in ("Tokens before: " + "9" * 5_000, "history compression " * 8_000):
        path = tmp_path / "chat.json"
        path.write_text(text.replace("Tokens before: 14026; after: 14026.", words), encoding="utf-8")
        assert len(read(path).transcripts) == 2
