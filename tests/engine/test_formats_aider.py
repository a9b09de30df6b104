"""The aider format, on a small history of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.base import registry
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Parsed, Role

FIXTURE = Path(__file__).parent.parent / "fixtures" / "transcripts" / "aider" / "history.md"


def read() -> Parsed:
    with FIXTURE.open("rb") as file:
        return read_transcripts(file, ".aider.chat.history.md")


def test_every_start_with_messages_is_a_session() -> None:
    assert [(t.id, t.title, t.model) for t in read().transcripts] == [
        ("aider 2026-03-01 10:00:00", "Count the apples", "gpt-4o"),
        ("aider 2026-03-02 09:00:00", "Hello", ""),
    ]


def test_who_said_what() -> None:
    session = read().transcripts[0]
    with FIXTURE.open("rb") as file:
        said = [(m.role, read_contents(file, "aider", m)[0].text) for m in session.messages]
    assert said == [
        (Role.USER, "Count the apples\nand the pears"),
        (Role.ASSISTANT, "I look at `apples.py`.\n\n```python\ndef count():\n    return 3\n```"),
        (Role.ASSISTANT, "Fixed the error."),
        (Role.USER, "/ask How many?"),
        (Role.USER, "Again, please"),
        (Role.ASSISTANT, "Three."),
    ]
    assert [m.typed for m in session.messages] == [True, False, False, True, True, False]


def test_rounded_counts_are_used_and_said_so() -> None:
    session = read().transcripts[0]
    found = [(r.message, r.usage and (r.usage.context, r.usage.cache_read, r.usage.output)) for r in session.requests]
    assert found == [(1, (1200, 0, 345)), (2, (12_000, 5000, 1024)), (5, None)]
    assert any("rounded" in warning for warning in session.warnings)
    assert "Commands to aider itself: 2, not context" in session.warnings


def test_a_clear_forgets_all_and_a_full_window_is_a_refusal() -> None:
    session = read().transcripts[0]
    (clear,) = session.compactions
    assert (clear.boundary, clear.trigger, clear.preserved, clear.message) == (3, "manual", (), None)
    (error,) = session.errors
    assert (error.tokens, error.limit, error.message) == (212_000, 128_000, 4)


def test_line_ends_of_windows_change_nothing_but_places() -> None:
    data = FIXTURE.read_bytes()
    crlf = read_transcripts(io.BytesIO(data.replace(b"\n", b"\r\n")), "history.md")
    sizes = [[b.n_chars for m in t.messages for b in m.blocks] for t in crlf.transcripts]
    assert sizes == [[b.n_chars for m in t.messages for b in m.blocks] for t in read().transcripts]


def test_other_markdown_is_not_read() -> None:
    head = Source(io.BytesIO(b"# Notes\n\n#### aider chat started at noon\n")).head()
    assert registry.get("formats", "aider").sniff(head) is None
