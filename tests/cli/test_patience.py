"""What takes longer than a second says so on a terminal, and leaves nothing behind."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

from ctxweb.commands import _patience
from ctxweb.commands._patience import CLEARED, patience

if TYPE_CHECKING:
    import pytest


class Screen(io.StringIO):
    """A terminal that remembers, and says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def test_it_is_told_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(_patience, "FIRST_SECONDS", 0)
    monkeypatch.setattr(_patience, "EACH_SECONDS", 0.001)
    with patience("Reading a\x1b.jsonl", lambda: 0.43), patience("inside"):
        assert screen.written.wait(10)
    said = screen.getvalue()
    assert said.startswith(f"{CLEARED}Reading a\N{REPLACEMENT CHARACTER}.jsonl 43%, 0 s")
    assert said.endswith(CLEARED)
    assert "inside" not in said


def test_a_share_that_cannot_be_told_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(_patience, "FIRST_SECONDS", 0)
    with patience("Reading", lambda: 1 / 0):
        assert screen.written.wait(10)
    assert "Reading, 0 s" in screen.getvalue()


def test_what_is_quick_or_read_by_a_program_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with patience("quick"):
        pass
    monkeypatch.setattr(Screen, "isatty", lambda _self: False)
    monkeypatch.setattr(_patience, "FIRST_SECONDS", 0)
    with patience("piped"):
        pass
    assert not screen.getvalue()
