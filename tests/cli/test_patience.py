"""What takes longer than a second says so on a terminal, and leaves nothing behind."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from ctxweb import terminal as _patience
from ctxweb.cli import cli
from ctxweb.terminal import CLEARED, MOST_CHARS, patience
from tests.engine.claude_lines import claude_session


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("why {}", "Finding causes"),
        ("inspect {}", "Weighing messages"),
        ("aftermath {}", "Following what came after"),
        ("recorded {}", "Comparing with the policy"),
        ("probe {} --policy claude_code", "Looking for losses"),
        ("check {} --policy claude_code --max-cost 9", "Replaying {}"),
        ("export {} --to jsonl --policy claude_code --request 1 -o out", "Replaying"),
        ("export {} --to jsonl -o out", "Writing messages"),
        ("diff {} --policy claude_code --window 2000", "Replaying"),
        ("sweep {} --policy claude_code --over window=1000:200000:2", "Replaying 2 settings"),
        ("report {}", "Replaying"),
        ("share {} --out out.html", "Replaying at every position of the slider"),
    ],
    ids=lambda text: text.replace("{}", "FILE").replace(" ", "_"),
)
def test_a_command_says_what_it_is_at(line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a large file; on a small one nobody sees it, as all of it is there within a second."""
    file = tmp_path / "session.jsonl"
    file.write_text(claude_session(4))
    told: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_patience, "sys", SimpleNamespace(stderr=Screen()))
    monkeypatch.setattr(_patience, "_tell", lambda words, _share, _ended: told.append(words))
    done = CliRunner().invoke(cli, [part.format(file) for part in line.split()])
    assert done.exit_code in (0, 1), done.output
    assert "Reading session.jsonl" in told
    assert said.format(file)[:MOST_CHARS] in told
